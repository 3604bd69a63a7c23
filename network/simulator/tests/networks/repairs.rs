//! What one link has lost or holds up comes over others, as soon as that is earlier and no sooner than they carry it;
//! what was lost before the proxy comes from the sender, which must hear of it.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Action, Directions, Flow, FlowId, LinkId, NodeId, Plan, ProxySettings, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{EngineConfig, HyStartKind};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// Looked at this often whether anything new has come.
const STEP: Duration = Duration::from_millis(10);

/// A download of a sender as Linux has it, over two links whose members return receipts; ACKs come back over the first.
struct Bond {
    plan: Plan,
    proxy: NodeId,
    backbone: LinkId,
    links: Vec<LinkId>,
    options: SimulationOptions,
    download: FlowId,
}

impl Bond {
    fn new(links: [LinkConfig; 2]) -> Self {
        Self::behind(fast(5), links)
    }

    fn behind(backbone: LinkConfig, links: [LinkConfig; 2]) -> Self {
        let mut plan = Plan::new("repairs", Duration::from_secs(60));
        let mut options = SimulationOptions::checked();
        let (server, receiver) = (plan.host("server"), plan.host("receiver"));
        let settings = ProxySettings { receipts: true, ..ProxyConfig::default().into() };
        let proxy = plan.prism_proxy("proxy", settings);
        let backbone = plan.symmetric_link("backbone", [server, proxy], backbone);
        let links = links.into_iter().enumerate().map(|(index, config)| {
            let member = plan.member(&format!("m{index}"));
            let link = plan.symmetric_link(&format!("wwan{index}"), [proxy, member], config);
            plan.symmetric_link(&format!("wlan{index}"), [member, receiver], fast(1));
            link
        });
        let links = links.collect();
        let engine = EngineConfig { hystart: Some(HyStartKind::Linux), ..TcpConfig::modern().engine };
        let receive_buffer = ByteCount::new(16_000_000);
        let (mss, max_out_of_order_ranges) = (1436, 1 << 16);
        let config =
            TcpConfig { mss, receive_buffer, max_out_of_order_ranges, engine, ..TcpConfig::modern() };
        let flow = Flow::new("download", server, receiver, Transport::Tcp);
        let download = options.carry(&mut plan, flow, TcpFlow::new(config));
        Self { plan, proxy, backbone, links, options, download }
    }

    /// Links of 300 and 200 Mbit/s, behind one of 1 Gbit/s with so short a queue.
    fn behind_queue(bytes: u64) -> Self {
        let short = fast(1).with_queue(QueueLimit::Bytes(ByteCount::new(bytes)));
        Self::behind(short, [link(300_000, 10), link(200_000, 15)])
    }

    fn change(&mut self, at: Duration, link: usize, change: LinkChange) {
        let change = Action::ChangeLink { link: self.links[link], directions: Directions::Forward, change };
        self.plan.event(at, change);
    }
}

fn fast(ms: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(ms)).with_queue(QueueLimit::Unlimited)
}

fn link(kbps: u64, ms: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_kbps(kbps), Duration::from_millis(ms)).with_queue(QueueLimit::Bdp(1.0))
}

/// How long 100 kB took at most, when the far link has lost all for 800 ms from `at`.
fn longest_wait(at: Duration) -> Duration {
    let mut bond = Bond::new([link(45_000, 100), link(1000, 6)]);
    let lossy = LossModel::Bernoulli(Probability::new(1.0).unwrap());
    bond.change(at, 0, LinkChange::loss(lossy));
    bond.change(at + Duration::from_millis(800), 0, LinkChange::loss(LossModel::None));
    let mut simulation = Simulation::from_plan(&bond.plan, Seed(1), bond.options).unwrap();
    simulation.run_until(Instant::ZERO + at);
    let (mut bytes, mut since) = (simulation.delivered_bytes(bond.download), simulation.now());
    let mut longest = Duration::ZERO;
    while simulation.now() < Instant::ZERO + at + Duration::from_secs(6) {
        let now = simulation.now() + STEP;
        simulation.run_until(now);
        let delivered = simulation.delivered_bytes(bond.download);
        // A packet now and then is not what the links carry.
        if delivered > bytes + 100_000 {
            (bytes, since) = (delivered, now);
        }
        longest = longest.max(now.saturating_since(since));
    }
    assert_eq!(simulation.faults(), Vec::<String>::new());
    longest
}

/// The near link would carry a single repair sooner than the far one, and all of them in half a minute.
#[test]
fn many_repairs_do_not_wait_for_a_thin_near_link() {
    let waits = [15_000, 15_070, 15_140].map(|ms| longest_wait(Duration::from_millis(ms)).as_millis());
    assert!(waits.iter().sum::<u64>() < 3 * 1200, "100 kB took so many ms: {waits:?}");
}

/// The near link has room for many copies by its round trip, which is long because ACKs come back another way, and a
/// short queue.
#[test]
fn copies_of_what_is_late_overflow_no_queue() {
    let mut bond = Bond::new([link(56_000, 100), link(48_000, 9)]);
    let at = Duration::from_secs(10);
    bond.change(at, 0, LinkChange::rate(Rate::from_kbps(56_000 / 64)));
    let mut simulation = Simulation::from_plan(&bond.plan, Seed(1), bond.options).unwrap();
    simulation.run_until(Instant::ZERO + at);
    let drops = |simulation: &Simulation| simulation.forward_stats(bond.links[1]).queue_drops;
    let before = drops(&simulation);
    simulation.run_until(Instant::ZERO + at + Duration::from_secs(3));
    let copies = simulation.result().nodes.get("proxy").map(|counters| counters["reinjected_packets"]);
    assert!(copies > Some(100), "{copies:?} copies");
    let dropped = drops(&simulation) - before;
    assert!(dropped < 60, "{dropped} packets dropped beside {copies:?} copies");
}

/// A sender in slow start overruns a short queue before the proxy and those of both links at once. Two thousand ACKs
/// with SACK blocks wait for it then; before it has them it resends nothing that is missing.
#[test]
fn a_sender_hears_at_once_of_losses_before_the_proxy() {
    let bond = Bond::behind_queue(500_000);
    let mut simulation = Simulation::from_plan(&bond.plan, Seed(1), bond.options).unwrap();
    let (mut bytes, mut pauses) = (0, Vec::new());
    for quarter in 1..=20 {
        simulation.run_until(Instant::from_millis(250 * quarter));
        let delivered = simulation.delivered_bytes(bond.download);
        // A twentieth of what the slower link carries.
        if delivered < bytes + 300_000 {
            pauses.push(250 * quarter);
        }
        bytes = delivered;
    }
    let lost = simulation.forward_stats(bond.backbone).queue_drops;
    assert!(lost > 100, "{lost} packets lost before the proxy");
    assert!(pauses.len() <= 2, "less than 300 kB in the quarters of a second that end at {pauses:?} ms");
    assert_eq!(simulation.faults(), Vec::<String>::new());
    // What was lost there was sent all the same: links are chosen by what the sender has under way.
    let known =
        simulation.proxy_flow(bond.proxy, bond.download).map_or(0, |flow| u64::from(flow.flight_bytes));
    let outstanding = simulation.sender(bond.download).unwrap().engine().metrics().outstanding_bytes;
    // A millisecond each way between them.
    let between = 2 * 1_000_000 / 8;
    assert!(
        known.abs_diff(outstanding) < between,
        "{known} bytes under way, and {outstanding} by the sender"
    );
}

/// A sender answers the last ACK of many with all that these would have brought, at once.
#[test]
fn acks_in_groups_make_no_bursts_that_overrun_a_queue_of_a_megabyte() {
    let bond = Bond::behind_queue(1_000_000);
    let mut simulation = Simulation::from_plan(&bond.plan, Seed(1), bond.options).unwrap();
    simulation.run_until(Instant::from_secs(3));
    assert_eq!(simulation.forward_stats(bond.backbone).queue_drops, 0);
    let mean_mbps = simulation.delivered_bytes(bond.download) as f64 * 8.0 / 3.0 / 1e6;
    assert!(mean_mbps > 300.0, "{mean_mbps} Mbit/s, slow start included, where one link would carry 285");
}
