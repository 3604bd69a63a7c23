//! Repair packets over links that lose packets: what a proxy sends is made good at the members.
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkConfig, LossModel};
use prismux_plan::{Flow, NodeId, Plan, ProxySettings, Traffic, Transport};
use prismux_prism::ProxyConfig;
use prismux_receipts::MeterCounters;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// A proxy with members behind the links given.
fn network(fec: bool, links: &[LinkConfig]) -> (Plan, [NodeId; 3]) {
    let mut plan = Plan::new("fec", Duration::from_secs(60));
    let (server, receiver) = (plan.host("server"), plan.host("receiver"));
    let settings = ProxySettings { receipts: true, fec, ..ProxyConfig::default().into() };
    let proxy = plan.prism_proxy("proxy", settings);
    let fast = LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1));
    plan.symmetric_link("backbone", [server, proxy], fast.clone());
    for (index, there) in links.iter().enumerate() {
        let member = plan.member(&format!("m{index}"));
        let back = LinkConfig { loss: LossModel::None, ..there.clone() };
        plan.link(&format!("wwan{index}"), [proxy, member], there.clone(), back);
        plan.symmetric_link(&format!("wlan{index}"), [member, receiver], fast.clone());
    }
    (plan, [server, proxy, receiver])
}

fn link(ms: u64, loss: f64) -> LinkConfig {
    let mut link = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(ms));
    link.loss = LossModel::Bernoulli(Probability::new(loss).unwrap());
    link
}

/// A stream of 4 Mbit/s, 972 bytes in each packet, over one link for a minute: what the proxy's meter has counted,
/// and packets that came.
fn stream(fec: bool, link: LinkConfig) -> (MeterCounters, u64) {
    let (mut plan, [server, proxy, receiver]) = network(fec, &[link]);
    let traffic = Traffic::Cbr { rate: Rate::from_mbps(4), packet: ByteCount::new(1000) };
    let flow = plan.flow(Flow::new("stream", server, receiver, Transport::Udp).traffic(traffic));
    let mut simulation = Simulation::from_plan(&plan, Seed(1), SimulationOptions::checked()).unwrap();
    simulation.run_until(Instant::from_secs(60));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let links = simulation.measured_links(proxy);
    (links.first().expect("one link").1, simulation.delivered_bytes(flow) / 972)
}

/// 2 % of 30,000 packets are 600; of blocks of 16 packets and 3 repairs one in 1,500 loses more than three.
#[test]
fn a_stream_over_a_link_that_loses_a_fiftieth_is_left_with_less_than_a_five_hundredth() {
    let ((plain, without), (repaired, with)) =
        (stream(false, link(100, 0.02)), stream(true, link(100, 0.02)));
    assert_eq!(plain.recovered_packets, 0, "nobody asked for repairs");
    // Some are under way when the minute is over.
    assert!((29_290..29_490).contains(&without), "{without}: {plain:?}");
    assert!((29_890..=30_000).contains(&with), "{with}: {repaired:?}");
    let repairs = repaired.sent_packets - plain.sent_packets;
    assert!((5000..7000).contains(&repairs), "{repairs}: {repaired:?}");
    // Most of what counts as lost are repairs, whose loss leaves nothing out.
    assert!((80..180).contains(&repaired.lost_packets), "{repaired:?}");
}

/// What is late is given back before it comes, and then no loss.
#[test]
fn a_link_that_reorders_and_loses_nothing_is_not_taken_for_a_lossy_one() {
    let mut reordering = link(30, 0.0);
    reordering.jitter = Jitter { max: Duration::from_millis(8), in_order: false };
    let ((plain, _), (repaired, _)) = (stream(false, reordering.clone()), stream(true, reordering));
    assert_eq!(repaired.lost_packets, 0);
    assert_eq!(repaired.recovered_packets, 0);
    // Those of the time before it was known.
    assert!(repaired.sent_packets < plain.sent_packets + 300, "{repaired:?}");
}

/// A download over a thin near link and a far lossy one, which has room while the window grows: every byte comes once.
#[test]
fn a_download_is_whole_with_repairs() {
    for seed in 1..=3 {
        let near = LinkConfig { rate: Some(Rate::from_mbps(5)), ..link(20, 0.0) };
        let links = [near, link(120, 0.01)];
        let (mut plan, [server, proxy, receiver]) = network(true, &links);
        let mut options = SimulationOptions::checked();
        let receive_buffer = ByteCount::new(16_000_000);
        let config =
            TcpConfig { mss: 1420, receive_buffer, max_out_of_order_ranges: 1 << 16, ..TcpConfig::modern() };
        let traffic = Traffic::bulk(Some(ByteCount::new(20_000_000)));
        let flow = Flow::new("download", server, receiver, Transport::Tcp).traffic(traffic);
        let download = options.carry(&mut plan, flow, TcpFlow::new(config));
        let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
        simulation.run_until(Instant::from_secs(30));
        assert_eq!(simulation.faults(), Vec::<String>::new());
        assert_eq!(simulation.delivered_bytes(download), 20_000_000);
        let links = simulation.measured_links(proxy);
        assert!(links.get(1).expect("two links").1.recovered_packets > 10, "{links:?}");
    }
}
