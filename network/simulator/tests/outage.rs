//! A link that was away carries its share again soon after it is back, for the download under way and for the next one.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, QueueLimit};
use prismux_prism::ProxyConfig;
use prismux_simulator::{
    FlowConfig, FlowId, LinkIndex, NetworkBuilder, NetworkEvent, NodeId, Simulation, TcpFlow,
};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant, Rate};

/// When the link goes, in the middle of steady traffic.
const AWAY: Duration = Duration::from_secs(12);
/// A proxy gives a member up after this time without an answer, as the daemon does.
const DEAD_AFTER: Duration = Duration::from_secs(3);
/// A member that was given up registers this soon after its link is back.
const HELLO: Duration = Duration::from_millis(500);

struct Network {
    simulation: Simulation,
    proxy: NodeId,
    first: FlowId,
    second: FlowId,
}

/// server - proxy = two members = receiver, as two home uplinks: 20 Mbit/s 15 ms and 8 Mbit/s 30 ms with 1 BDP of queue. The link with
/// this number is away for so long; the second download starts `settled` after its return.
fn network(link: usize, away: Duration, settled: Duration) -> Network {
    let mut network = NetworkBuilder::new(Seed(5));
    network.checks(true);
    let server = network.host("server");
    let proxy = network.prism_proxy("proxy", ProxyConfig::default());
    let members = [network.member("m1"), network.member("m2")];
    let receiver = network.host("receiver");
    let fast = |mbps, ms| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(QueueLimit::Unlimited)
    };
    network.symmetric_link("backbone", server, proxy, fast(1000, 10));
    let slow = |mbps, ms| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(QueueLimit::Bdp(2.0))
    };
    let wwan: [LinkIndex; 2] = [
        network.symmetric_link("wwan1", proxy, members[0], slow(20, 15)),
        network.symmetric_link("wwan2", proxy, members[1], slow(8, 30)),
    ];
    for (index, member) in members.into_iter().enumerate() {
        network.symmetric_link(&format!("wlan{}", index + 1), member, receiver, fast(300, 1));
    }
    let transport = || TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() });
    let first = network.flow("first", FlowConfig::new(server, receiver, transport()));
    let back = Instant::ZERO + AWAY + away;
    let second = FlowConfig { start: back + settled, ..FlowConfig::new(server, receiver, transport()) };
    let second = network.flow("second", second);
    network.event(back + settled, NetworkEvent::FlowStop(first));
    network.event(Instant::ZERO + AWAY, NetworkEvent::LinkChange(wwan[link], LinkChange::DOWN));
    network.event(back, NetworkEvent::LinkChange(wwan[link], LinkChange::UP));
    if away > DEAD_AFTER {
        network.event(Instant::ZERO + AWAY + DEAD_AFTER, NetworkEvent::Leave(members[link]));
        network.event(back + HELLO, NetworkEvent::Join(members[link]));
    }
    Network { simulation: network.build().unwrap(), proxy, first, second }
}

impl Network {
    /// Bit/s of `flow` in the next `span`.
    fn goodput(&mut self, flow: FlowId, span: Duration) -> f64 {
        let before = self.simulation.delivered_bytes(flow);
        let end = self.simulation.now() + span;
        self.simulation.run_until(end);
        (self.simulation.delivered_bytes(flow) - before) as f64 * 8.0 / span.as_secs_f64()
    }
}

/// The link with this number is away for so many milliseconds.
fn comes_back(link: usize, millis: u64) {
    let away = Duration::from_millis(millis);
    let mut net = network(link, away, Duration::from_secs(10));
    net.simulation.run_until(Instant::from_secs(6));
    let steady = net.goodput(net.first, Duration::from_secs(6));
    assert!(steady > 26e6, "both links: {steady}");
    net.simulation.run_until(Instant::ZERO + AWAY + away + Duration::from_secs(2));
    let after = net.goodput(net.first, Duration::from_secs(8));
    let context =
        |net: &Network| format!("link {link} away {millis} ms: {:?}", net.simulation.proxy_links(net.proxy));
    assert!(after > 0.95 * steady, "{after} of {steady}, {}", context(&net));
    net.goodput(net.second, Duration::from_secs(2));
    let next = net.goodput(net.second, Duration::from_secs(5));
    assert!(next > 0.95 * steady, "next download {next} of {steady}, {}", context(&net));
    assert_eq!(net.simulation.faults(), Vec::<String>::new());
}

/// The receiver's ACKs return over this link: while it is away, nothing is heard over the other one either.
#[test]
fn the_link_that_acks_return_over_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(0, millis);
    }
}

#[test]
fn the_other_link_comes_back() {
    for millis in [500, 2000, 10_000, 60_000] {
        comes_back(1, millis);
    }
}
