//! The same seed gives the same bytes, in one process, in the next, and on another machine.
use prismux_endpoint::random::Seed;
use prismux_link::{GilbertElliott, Jitter, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, Traffic, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::SharedBytes;
use prismux_trace::event::JsonLines;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// A bit of everything: a proxy with lossy, jittery members, all kinds of flows. Returns result, capture and events.
fn everything(seed: u64) -> (String, Vec<u8>, Vec<u8>) {
    let p = |value| Probability::new(value).unwrap();
    let mut plan = Plan::new("everything", Duration::from_secs(60));
    plan.measure.interval = Some(Duration::from_millis(500));
    let server = plan.host("server");
    let proxy = plan.prism_proxy("proxy", ProxyConfig::default().into());
    let (m1, m2, receiver) = (plan.member("m1"), plan.member("m2"), plan.host("receiver"));
    let link = |mbps, ms| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
    plan.symmetric_link("backbone", [server, proxy], link(50, 5));
    let bursts =
        GilbertElliott { good_to_bad: p(0.002), bad_to_good: p(0.3), loss_good: p(0.0), loss_bad: p(0.5) };
    let lossy = LinkConfig {
        jitter: Jitter { max: Duration::from_millis(20), in_order: true },
        duplicate: p(0.01),
        corrupt: p(0.001),
        ..link(6, 40).with_loss(LossModel::GilbertElliott(bursts)).with_queue(QueueLimit::Bdp(1.0))
    };
    let free =
        LinkConfig { jitter: Jitter { max: Duration::from_millis(3), in_order: false }, ..link(10, 15) };
    plan.link("wwan1", [proxy, m1], lossy, link(6, 40));
    plan.symmetric_link("wwan2", [proxy, m2], free);
    plan.symmetric_link("wlan1", [m1, receiver], link(54, 1));
    plan.symmetric_link("wlan2", [m2, receiver], link(54, 1));
    plan.flow(Flow::new("download", server, receiver, Transport::Tcp).bytes(ByteCount::new(6_000_000)));
    let exchange = Traffic::RequestResponse {
        request: ByteCount::new(300),
        response: ByteCount::new(20_000),
        think: Duration::from_millis(200),
        exchanges: Some(10),
    };
    plan.flow(Flow::new("web", receiver, server, Transport::Tcp).traffic(exchange));
    let burst = Traffic::ParetoOnOff {
        rate: Rate::from_kbps(800),
        packet: ByteCount::new(1000),
        on: Duration::from_millis(500),
        off: Duration::from_millis(500),
        shape: 1.5,
    };
    plan.flow(Flow::new("bursts", server, receiver, Transport::Udp).traffic(burst));
    let cbr = Traffic::Cbr { rate: Rate::from_kbps(64), packet: ByteCount::new(210) };
    let voice = Flow::new("voice", server, receiver, Transport::Udp).traffic(cbr);
    plan.flow(voice.stop_at(Duration::from_secs(5)));
    let (capture, events) = (SharedBytes::default(), SharedBytes::default());
    let options = SimulationOptions {
        capture: Some(Box::new(capture.clone())),
        events: Some(Box::new(JsonLines::new(events.clone()))),
        ..SimulationOptions::checked()
    };
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    simulation.run_until(Instant::from_secs(12));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let result = simulation.result().to_json();
    simulation.finish().unwrap();
    (result, capture.take(), events.take())
}

#[test]
fn two_runs_are_equal_to_the_byte_and_another_seed_is_not() {
    let (first, second, other) = (everything(1), everything(1), everything(2));
    assert!(first.1.len() > 1_000_000 && first.2.len() > 1_000_000, "{} {}", first.1.len(), first.2.len());
    assert_eq!(first.0, second.0);
    assert!(first.1 == second.1, "captures differ");
    assert!(first.2 == second.2, "event logs differ");
    assert_ne!(first.0, other.0);
}

/// UDP over impaired links: depends on nothing but the simulator, the links and the random streams.
fn datagrams() -> Vec<u8> {
    let p = |value| Probability::new(value).unwrap();
    let mut plan = Plan::new("datagrams", Duration::from_secs(60));
    let (a, r, b) = (plan.host("a"), plan.router("r"), plan.host("b"));
    let rough = LinkConfig {
        jitter: Jitter { max: Duration::from_millis(9), in_order: false },
        duplicate: p(0.02),
        corrupt: p(0.01),
        ..LinkConfig::new(Rate::from_kbps(900), Duration::from_millis(7))
            .with_loss(LossModel::Bernoulli(p(0.05)))
            .with_queue(QueueLimit::Packets(5))
    };
    plan.symmetric_link("first", [a, r], rough.clone());
    plan.symmetric_link("second", [r, b], rough);
    let burst = Traffic::ParetoOnOff {
        rate: Rate::from_mbps(2),
        packet: ByteCount::new(700),
        on: Duration::from_millis(80),
        off: Duration::from_millis(120),
        shape: 1.5,
    };
    plan.flow(Flow::new("bursts", a, b, Transport::Udp).traffic(burst));
    let back = Traffic::Cbr { rate: Rate::from_kbps(333), packet: ByteCount::new(123) };
    plan.flow(Flow::new("back", b, a, Transport::Udp).traffic(back));
    let events = SharedBytes::default();
    let told = Box::new(JsonLines::new(events.clone()));
    let options = SimulationOptions { events: Some(told), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(&plan, Seed(2024), options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    events.take()
}

#[test]
fn every_machine_gives_the_same_bytes() {
    let log = datagrams();
    let hash = log.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    // FNV-1a of the event log. A change here is a change of results: say so in the changelog.
    assert_eq!((log.len(), hash), (4_136_929, 0x6384_8bc2_1c61_4b6a), "{hash:#x}");
}
