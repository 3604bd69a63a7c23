//! Links as the air has them: a download over two of them is never slower than over the better one alone.
use crate::uplinks::goodput;
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, ProxySettings, Transport};
use prismux_prism::{ProxyConfig, ProxyCounters};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{EngineConfig, HyStartKind};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// 30 Mbit/s 25 ms and 12 Mbit/s 60 ms, each with a queue of one bandwidth-delay product.
fn two_links(jitter: Jitter) -> [LinkConfig; 2] {
    let link = |mbps, ms| LinkConfig {
        jitter,
        ..LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(QueueLimit::Bdp(1.0))
    };
    [link(30, 25), link(12, 60)]
}

/// The same for both directions.
fn both_ways(links: [LinkConfig; 2]) -> [[LinkConfig; 2]; 2] {
    links.map(|link| [link.clone(), link])
}

/// Mbit/s of an unmodified sender in the seconds 3 to 13, over all links (there and back), with receipts or without.
fn bonded(seed: u64, links: &[[LinkConfig; 2]], receipts: bool) -> f64 {
    bonded_sender(TcpConfig::modern(), seed, links, receipts)
}

/// The same for a sender like this.
fn bonded_sender(sender: TcpConfig, seed: u64, links: &[[LinkConfig; 2]], receipts: bool) -> f64 {
    bonded_run(sender, seed, links, receipts).0
}

/// The same, and what the proxy counted.
fn bonded_run(
    sender: TcpConfig,
    seed: u64,
    links: &[[LinkConfig; 2]],
    receipts: bool,
) -> (f64, ProxyCounters) {
    bonded_after(Duration::from_secs(3), sender, seed, links, receipts)
}

/// The same for the ten seconds after `warm`.
fn bonded_after(
    warm: Duration,
    sender: TcpConfig,
    seed: u64,
    links: &[[LinkConfig; 2]],
    receipts: bool,
) -> (f64, ProxyCounters) {
    let (mut plan, mut options) = (Plan::new("rough", Duration::from_secs(60)), SimulationOptions::checked());
    let fast = |ms| {
        LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(ms)).with_queue(QueueLimit::Unlimited)
    };
    let (server, receiver) = (plan.host("server"), plan.host("receiver"));
    let settings = ProxySettings { receipts, ..ProxyConfig::default().into() };
    let proxy = plan.prism_proxy("proxy", settings);
    plan.symmetric_link("backbone", [server, proxy], fast(5));
    for (index, [there, back]) in links.iter().enumerate() {
        let member = plan.member(&format!("m{index}"));
        plan.link(&format!("wwan{index}"), [proxy, member], there.clone(), back.clone());
        plan.symmetric_link(&format!("wlan{index}"), [member, receiver], fast(1));
    }
    let receive_buffer = ByteCount::new(16_000_000);
    let config = TcpConfig { mss: 1436, receive_buffer, max_out_of_order_ranges: 1 << 16, ..sender };
    let flow = Flow::new("download", server, receiver, Transport::Tcp);
    let flow = options.carry(&mut plan, flow, TcpFlow::new(config));
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    simulation.run_until(Instant::ZERO + warm);
    let rate = goodput(&mut simulation, flow, Duration::from_secs(10));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    (rate / 1e6, *simulation.proxy_counters(proxy).unwrap())
}

/// Of 39.9 Mbit/s that both links carry; a sender over the first alone gets 26 at best. Five runs each: where packets
/// come 5 or 20 ms late, two in five have their slow start ended early.
#[test]
fn links_that_reorder_are_filled() {
    for (ms, at_least) in [(1, 39.0), (5, 37.0), (20, 34.0)] {
        let links = both_ways(two_links(Jitter { max: Duration::from_millis(ms), in_order: false }));
        let rates: Vec<f64> = (1..=5).map(|seed| bonded(seed, &links, false)).collect();
        let mean = rates.iter().sum::<f64>() / 5.0;
        assert!(mean > at_least, "reordering by up to {ms} ms: {rates:?} Mbit/s");
    }
}

/// A late packet is no full queue: where members return receipts, the queue is known.
#[test]
fn links_with_jitter_are_filled_where_members_return_receipts() {
    for ms in [20, 40] {
        let max = Duration::from_millis(ms);
        let rate = bonded(1, &both_ways(two_links(Jitter { max, in_order: true })), true);
        assert!(rate > 33.0, "jitter of up to {ms} ms: {rate} Mbit/s");
    }
}

/// Jitter hides whether a link would carry more, so that is tried now and then: what a startup has found too low does
/// not stay so.
#[test]
fn a_link_with_jitter_whose_startup_ended_early_is_filled_in_the_end() {
    let max = Duration::from_millis(40);
    let links = both_ways(two_links(Jitter { max, in_order: true }));
    let after = Duration::from_secs(15);
    let rates: Vec<f64> = (1..=6).map(|seed| bonded_after(after, of_linux(), seed, &links, true).0).collect();
    assert!(rates.iter().sum::<f64>() / 6.0 > 36.5, "{rates:?} Mbit/s");
}

/// Nor is a late or lost ACK.
#[test]
fn links_with_rough_ways_back_are_filled_where_members_return_receipts() {
    let steady = Jitter { max: Duration::ZERO, in_order: true };
    let rough = |there: LinkConfig| {
        let mut back = there.clone().with_queue(QueueLimit::Packets(20));
        back.rate = Some(Rate::from_bps(500_000));
        back.jitter = Jitter { max: Duration::from_millis(40), in_order: true };
        back.loss = LossModel::Bernoulli(Probability::new(0.01).unwrap());
        [there, back]
    };
    let rate = bonded(1, &two_links(steady).map(rough), true);
    assert!(rate > 33.0, "{rate} Mbit/s");
}

/// What only the ACKs told of that a thin way back lost is not taken for lost. Which ACKs are lost is decided by a
/// millisecond, so that one run says little: they are twelve, with links a little further each time.
#[test]
fn hardly_anything_that_arrived_is_resent_where_most_acks_are_lost() {
    let link = |mbps, ms| {
        let there = LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms));
        let back = there.clone().with_queue(QueueLimit::Packets(20));
        [there.with_queue(QueueLimit::Bdp(1.0)), LinkConfig { rate: Some(Rate::from_bps(500_000)), ..back }]
    };
    let (mut lost, mut sent) = (0, 0);
    for further in 0..12 {
        let links = [link(50, 20), link(20, 40 + further), link(8, 145 + further)];
        let (_, counters) = bonded_run(TcpConfig::modern(), 1, &links, true);
        assert!(counters.data_packets > 40_000, "{counters:?}");
        (lost, sent) = (lost + counters.losses_detected, sent + counters.data_packets);
    }
    assert!(lost * 200 < sent, "{lost} of {sent}");
}

/// A sender that ends slow start as Linux does.
fn of_linux() -> TcpConfig {
    let modern = TcpConfig::modern();
    let engine = EngineConfig { hystart: Some(HyStartKind::Linux), ..modern.engine };
    TcpConfig { engine, ..modern }
}

/// Links with these rates in kbit/s, delays and losses, each with a queue of one bandwidth-delay product.
fn lossy_links<const N: usize>(links: [(u64, u64, f64); N]) -> [[LinkConfig; 2]; N] {
    links.map(|(kbps, ms, loss)| {
        let link = LinkConfig::new(Rate::from_kbps(kbps), Duration::from_millis(ms));
        let loss = LossModel::Bernoulli(Probability::new(loss).unwrap());
        let link = LinkConfig { loss, ..link.with_queue(QueueLimit::Bdp(1.0)) };
        [link.clone(), link]
    })
}

/// Mbit/s of runs with receipts from 12 to 22 s.
fn settled_rates<const RUNS: usize>(links: &[[LinkConfig; 2]]) -> [f64; RUNS] {
    core::array::from_fn(|run| run as u64 + 1)
        .map(|seed| bonded_after(Duration::from_secs(12), of_linux(), seed, links, true).0)
}

/// Repairs on a far lossy link hold ACKs up, and round trips grow long; a sender's slow start goes on nevertheless.
#[test]
fn slow_start_goes_on_until_far_lossy_links_are_full() {
    // In two of these the sender's slow start ends early all the same.
    let rates: [f64; 8] =
        settled_rates(&lossy_links([(550, 60, 0.004), (9_000, 43, 0.007), (30_000, 270, 0.004)]));
    assert!(rates.iter().sum::<f64>() > 8.0 * 28.0, "{rates:?} of 37.3 Mbit/s");
}

/// What is advertised to the sender while a distant link is worth its delay is not taken back at once when it is not:
/// the other links would run dry.
#[test]
fn a_link_that_is_worth_its_delay_now_and_then_makes_no_other_run_dry() {
    let three = lossy_links([(67_000, 10, 0.007), (470, 33, 0.0), (51_000, 32, 0.002)]);
    let two = lossy_links([(3_300, 10, 0.0), (85_000, 106, 0.0007)]);
    for (links, at_least) in [(&three[..], 109.0), (&two[..], 80.0)] {
        let rates: [f64; 3] = settled_rates(links);
        assert!(rates.iter().all(|rate| *rate > at_least), "{rates:?} Mbit/s");
    }
}

/// A way back that jitters looks to HyStart like a full queue, and so does a distant link that joins.
#[test]
fn linux_hystart_does_not_end_slow_start_before_both_links_are_full() {
    let links = two_links(Jitter::default()).map(|there| {
        let jitter = Jitter { max: Duration::from_millis(20), in_order: true };
        let back = LinkConfig { jitter, ..there.clone() };
        [there, back]
    });
    let rate = bonded_sender(of_linux(), 1, &links, true);
    assert!(rate > 36.0, "{rate} Mbit/s");
}
