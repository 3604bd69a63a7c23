//! Links as the air has them: a download over two of them is never slower than over the better one alone.
use crate::uplinks::goodput;
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkConfig, QueueLimit};
use prismux_plan::{Flow, Plan, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// 30 Mbit/s 25 ms and 12 Mbit/s 60 ms, each with a queue of one bandwidth-delay product.
fn two_links(jitter: Jitter) -> [LinkConfig; 2] {
    let link = |mbps, ms| LinkConfig {
        jitter,
        ..LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(QueueLimit::Bdp(1.0))
    };
    [link(30, 25), link(12, 60)]
}

/// Mbit/s of an unmodified sender in the seconds 3 to 13, over both links.
fn bonded(seed: u64, links: &[LinkConfig]) -> f64 {
    let (mut plan, mut options) = (Plan::new("rough", Duration::from_secs(60)), SimulationOptions::checked());
    let fast = |ms| {
        LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(ms)).with_queue(QueueLimit::Unlimited)
    };
    let (server, receiver) = (plan.host("server"), plan.host("receiver"));
    let proxy = plan.prism_proxy("proxy", ProxyConfig::default().into());
    plan.symmetric_link("backbone", [server, proxy], fast(5));
    for (index, link) in links.iter().enumerate() {
        let member = plan.member(&format!("m{index}"));
        plan.symmetric_link(&format!("wwan{index}"), [proxy, member], link.clone());
        plan.symmetric_link(&format!("wlan{index}"), [member, receiver], fast(1));
    }
    let receive_buffer = ByteCount::new(16_000_000);
    let config =
        TcpConfig { mss: 1436, receive_buffer, max_out_of_order_ranges: 1 << 16, ..TcpConfig::modern() };
    let flow = Flow::new("download", server, receiver, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, TcpFlow::new(config));
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    simulation.run_until(Instant::from_secs(3));
    let rate = goodput(&mut simulation, flow, Duration::from_secs(10));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    rate / 1e6
}

/// Of 39.9 Mbit/s that both links carry; a sender over the first alone gets 26 at best.
#[test]
fn links_that_reorder_are_filled() {
    for ms in [1, 5, 20] {
        let max = Duration::from_millis(ms);
        let rate = bonded(1, &two_links(Jitter { max, in_order: false }));
        assert!(rate > 37.0, "reordering by up to {ms} ms: {rate} Mbit/s");
    }
}
