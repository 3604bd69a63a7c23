//! debug
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_simulator::*;
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_trace::event::*;
use prismux_units::*;
struct Sink;
impl EventSink for Sink {
    fn event(&mut self, at: Instant, e: &Event<'_>) {
        let (k, link, p) = match e {
            Event::PacketSent { link, packet, .. } => ("sent", link, packet),
            Event::PacketDelivered { link, packet, .. } => ("dlvr", link, packet),
            Event::PacketDropped { at: link, packet, .. } => ("DROP", link, packet),
            _ => return,
        };
        if p.flow.as_deref() != Some("flow4") {
            return;
        }
        if k == "sent" && !link.starts_with("up") && !link.starts_with("down") {
            return;
        }
        if k == "dlvr" && !link.starts_with("up") {
            return;
        }
        let s = p.segment.as_ref().unwrap();
        println!(
            "{:.4} {k} {link} seq {} ack {} len {} {} sack {:?}",
            at.as_secs_f64(),
            s.seq,
            s.ack,
            s.payload_bytes,
            s.flags,
            s.sack
        );
    }
}
fn main() {
    let n = 200u32;
    let mut network = NetworkBuilder::new(Seed(1));
    let (left, right) = (network.router("left"), network.router("right"));
    let b =
        LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(30)).with_queue(QueueLimit::Packets(999));
    let a = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(2))
        .with_queue(QueueLimit::Packets(100000));
    network.symmetric_link("bottleneck", left, right, b);
    let tcp =
        TcpConfig { mss: 1000, receive_buffer: ByteCount::new(100_000_000), ..TcpProfile::Ns2_2002.config() };
    let mut flows = vec![];
    for i in 0..n {
        let s = network.host(&format!("source{i}"));
        let d = network.host(&format!("sink{i}"));
        network.symmetric_link(&format!("up{i}"), s, left, a.clone());
        network.symmetric_link(&format!("down{i}"), right, d, a.clone());
        let start = Instant::ZERO + Duration::from_secs_f64(f64::from(i) / f64::from(n));
        flows.push(network.flow(
            &format!("flow{i}"),
            FlowConfig::new(s, d, Transport::Tcp(TcpFlow::new(tcp.clone()))).starting(start),
        ));
    }
    network.log_events(Box::new(Sink));
    let mut sim = network.build().unwrap();
    for k in 0..30 {
        sim.run_until(Instant::from_millis(k * 500));
        println!("--- {:?}", sim.sender(flows[4]).map(|c| c.engine().metrics()));
    }
}
