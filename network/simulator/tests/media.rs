//! A medium that several nodes share: what one sends, all hear.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_simulator::{
    Bus, Cbr, FlowConfig, Frame, MediumIndex, NetworkBuilder, Node, NodeContext, TcpFlow, Transit,
};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant, Rate};

/// Counts what passes by.
#[derive(Debug, Default)]
struct Listener {
    overheard: u64,
    taken: u64,
}

impl Node for Listener {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        self.taken += 1;
        match context.ends_here(&packet) {
            true => context.deliver(packet),
            false => context.discard(packet),
        }
    }

    fn overhear(&mut self, _: &mut NodeContext<'_>, _: MediumIndex, _: &Frame) {
        self.overheard += 1;
    }
}

/// Sends everything to everybody.
#[derive(Debug)]
struct Flooder(MediumIndex);

impl Node for Flooder {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        context.broadcast(self.0, packet);
    }
}

fn shared_link() -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(1)).with_queue(QueueLimit::Packets(100))
}

#[test]
fn two_hosts_share_the_rate_of_a_bus_and_a_third_hears_every_frame() {
    let mut network = NetworkBuilder::new(Seed(1));
    network.checks(true);
    let [a, b, listener] = ["a", "b", "listener"].map(|name| network.router(name));
    let bus = network.bus("bus", &[a, b, listener], &shared_link());
    network.forward_by(listener, Listener::default());
    let file = |from, to| FlowConfig::new(from, to, TcpFlow::new(TcpConfig::modern()));
    let flows = [network.flow("there", file(a, b)), network.flow("back", file(b, a))];
    let mut simulation = network.build().unwrap();
    simulation.run_until(Instant::from_secs(20));
    let goodput = flows.map(|flow| simulation.delivered_bytes(flow) as f64 * 8.0 / 20.0);
    // Headers and the ACKs of the other direction take their share of the one 10 Mbit/s.
    let sum = goodput[0] + goodput[1];
    assert!((8.5e6..9.6e6).contains(&sum), "{goodput:?}");
    let (frames, heard) = (
        simulation.medium_as::<Bus>(bus).unwrap().stats().delivered_packets,
        simulation.node_as::<Listener>(listener).unwrap(),
    );
    assert_eq!(
        (heard.overheard, heard.taken),
        (frames, 0),
        "every frame passes the listener, none is for it"
    );
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

#[test]
fn a_frame_for_all_reaches_every_node_once() {
    let mut network = NetworkBuilder::new(Seed(1));
    network.checks(true);
    let nodes = ["flooder", "wanted", "listener", "host"];
    let [flooder, wanted, listener, host] = nodes.map(|name| network.router(name));
    let bus = network.bus("bus", &[flooder, wanted, listener, host], &shared_link());
    network.forward_by(flooder, Flooder(bus));
    network.forward_by(listener, Listener::default());
    let cbr = Cbr { rate: Rate::from_mbps(1), packet_bytes: 1028 };
    let flow = network.flow("cbr", FlowConfig::new(flooder, wanted, cbr).carrying(100_000));
    let mut simulation = network.build().unwrap();
    simulation.run_until(Instant::from_secs(5));
    assert_eq!(simulation.delivered_bytes(flow), 100_000, "the host that they are for takes them");
    assert_eq!(simulation.medium_as::<Bus>(bus).unwrap().stats().delivered_packets, 100);
    let heard = simulation.node_as::<Listener>(listener).unwrap();
    assert_eq!((heard.taken, heard.overheard), (100, 0));
    assert_eq!(simulation.counters().copied, 100, "one more for the listener; the other host ignores them");
    assert_eq!(simulation.faults(), Vec::<String>::new());
}
