//! TCP-HO between simulated hosts: one that moves, one that serves it.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Action, Directions, Flow, FlowId, LinkId, NodeId, Plan, Traffic, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpProfile;
use prismux_tcp_ho::{HandoffConfig, HandoffServer};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use proptest::prelude::*;

const PROFILES: [TcpProfile; 3] = [TcpProfile::Modern, TcpProfile::Linux24, TcpProfile::Ns2_2002];

/// server -- backbone -- net -- (old | new) -- mobile.
struct Stage {
    plan: Plan,
    server: NodeId,
    mobile: NodeId,
    links: [LinkId; 2],
}

/// Rate in kbit/s and one-way delay of a radio link.
type Radio = (u64, u64);

fn radio((kbps, delay_ms): Radio) -> LinkConfig {
    let delay = Duration::from_millis(delay_ms);
    let queue =
        QueueLimit::Bytes(ByteCount::new(Rate::from_kbps(kbps).bytes_in(delay * 4).as_u64().max(15_000)));
    LinkConfig::new(Rate::from_kbps(kbps), delay).with_queue(queue)
}

fn stage(old: Radio, new: Radio) -> Stage {
    let mut plan = Plan::new("handoffs", Duration::from_secs(1200));
    let (server, net, mobile) = (plan.host("server"), plan.router("net"), plan.host("mobile"));
    let backbone = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(20));
    plan.symmetric_link("backbone", [server, net], backbone);
    let links =
        [("old", old), ("new", new)].map(|(name, of)| plan.symmetric_link(name, [net, mobile], radio(of)));
    Stage { plan, server, mobile, links }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl Stage {
    /// The link goes down at `from`; the handoff to `to` is complete at `until`.
    fn hand_over(
        &mut self,
        from: LinkId,
        at: Duration,
        to: LinkId,
        until: Duration,
        bandwidth: Option<Rate>,
    ) {
        self.plan.event(at, Action::both_ways(from, LinkChange::DOWN));
        self.plan.event(until, Action::both_ways(to, LinkChange::UP));
        self.plan.event(until, Action::Handoff { host: self.mobile, link: Some(to), bandwidth });
    }

    fn download(self, tcp: TcpFlow) -> (Simulation, FlowId) {
        let flow = Flow::new("download", self.server, self.mobile, Transport::Tcp);
        self.carrying(flow, tcp)
    }

    fn carrying(mut self, flow: Flow, tcp: TcpFlow) -> (Simulation, FlowId) {
        let mut options = SimulationOptions::checked();
        let flow = options.carry(&mut self.plan, flow, tcp);
        (Simulation::from_plan(&self.plan, Seed(1), options).expect("a network"), flow)
    }
}

fn tcp_ho(profile: TcpProfile) -> TcpFlow {
    TcpFlow::new(profile.config()).with_handoff(HandoffConfig::default())
}

/// When the host has the first new byte after a disconnection of `gap_ms` that begins at 10 s, from the link's return
/// on.
fn first_new_data_ms(tcp: TcpFlow, gap_ms: u64) -> u64 {
    let mut stage = stage((384, 100), (5000, 10));
    let [old, new] = stage.links;
    let back = 10_000 + gap_ms;
    stage.hand_over(old, ms(10_000), new, ms(back), Some(Rate::from_mbps(5)));
    let (mut simulation, flow) = stage.download(tcp);
    simulation.run_until(Instant::ZERO + ms(back));
    let before = simulation.delivered_bytes(flow);
    let later = (1..200_000).find(|later| {
        simulation.run_until(Instant::ZERO + ms(back + later));
        simulation.delivered_bytes(flow) > before
    });
    assert_eq!(simulation.faults(), Vec::<String>::new());
    later.expect("the flow goes on")
}

#[test]
fn the_flow_goes_on_one_round_trip_after_the_link_is_back() {
    for profile in PROFILES {
        // One-way delay 30 ms, so 60 ms and the time of a segment on 5 Mbit/s.
        let resumed = first_new_data_ms(tcp_ho(profile), 7000);
        assert!((60..=80).contains(&resumed), "{profile:?}: {resumed} ms");
        let plain = first_new_data_ms(TcpFlow::new(profile.config()), 7000);
        assert!(plain > 10 * resumed, "{profile:?}: {plain} ms without notice");
    }
}

#[test]
fn the_servers_threshold_follows_the_bandwidth_told_and_the_new_round_trip() {
    let mut stage = stage((384, 100), (5000, 10));
    let [old, new] = stage.links;
    stage.hand_over(old, ms(10_000), new, ms(12_000), Some(Rate::from_mbps(5)));
    let (mut simulation, flow) = stage.download(tcp_ho(TcpProfile::Linux24));
    simulation.run_until(Instant::ZERO + ms(12_500));
    let sender = simulation.sender(flow).expect("a connection");
    let counters = *sender.extension::<HandoffServer>().expect("a TCP-HO sender").counters();
    assert_eq!((counters.handoffs, counters.twins, counters.samples), (1, 1, 4));
    // 5 Mbit/s over a round trip of 60 ms and a little.
    let threshold = sender.metrics().engine.ssthresh_bytes;
    assert!((37_500..=42_000).contains(&threshold), "{threshold}");
}

#[test]
fn a_spare_notice_does_the_work_of_a_lost_one() {
    let mut stage = stage((384, 100), (5000, 10));
    let [old, new] = stage.links;
    stage.hand_over(old, ms(10_000), new, ms(17_000), Some(Rate::from_mbps(5)));
    // The first notice meets a link that loses everything for five milliseconds.
    let lossy = |p| {
        let change = LinkChange::loss(LossModel::Bernoulli(Probability::new(p).expect("a probability")));
        Action::ChangeLink { link: new, directions: Directions::Reverse, change }
    };
    stage.plan.event(ms(16_999), lossy(1.0));
    stage.plan.event(ms(17_005), lossy(0.0));
    let (mut simulation, flow) = stage.download(tcp_ho(TcpProfile::Modern));
    simulation.run_until(Instant::ZERO + ms(17_000));
    let before = simulation.delivered_bytes(flow);
    simulation.run_until(Instant::ZERO + ms(17_100));
    assert!(simulation.delivered_bytes(flow) > before);
}

#[test]
fn a_host_that_sends_goes_on_at_once_and_tells_nobody() {
    let mut stage = stage((384, 100), (5000, 10));
    let [old, new] = stage.links;
    stage.hand_over(old, ms(10_000), new, ms(17_000), Some(Rate::from_mbps(5)));
    let tcp = tcp_ho(TcpProfile::Modern);
    let upload = Flow::new("upload", stage.mobile, stage.server, Transport::Tcp);
    let (mut simulation, flow) = stage.carrying(upload, tcp);
    simulation.run_until(Instant::ZERO + ms(17_000));
    let before = simulation.delivered_bytes(flow);
    simulation.run_until(Instant::ZERO + ms(17_050));
    assert!(simulation.delivered_bytes(flow) > before);
    let sender = simulation.sender(flow).expect("a connection");
    let counters = *sender.extension::<HandoffServer>().expect("a TCP-HO sender").counters();
    assert_eq!((counters.handoffs, counters.twins), (1, 0));
}

#[test]
fn a_host_cannot_move_to_a_link_that_does_not_end_there() {
    let mut stage = stage((384, 100), (5000, 10));
    let handoff = Action::Handoff { host: stage.server, link: Some(stage.links[0]), bandwidth: None };
    stage.plan.event(ms(1), handoff);
    let built = Simulation::from_plan(&stage.plan, Seed(1), SimulationOptions::default());
    let error = built.expect_err("the server is not on that link");
    assert!(error.to_string().contains("\"old\" does not end at \"server\""), "{error}");
}

/// One handoff of a random history: for how long there was a link before, for how long there is none, whether the other
/// link is next, its rate and delay, and what the host believes.
#[derive(Debug, Clone)]
struct Move {
    stay_ms: u64,
    gap_ms: u64,
    elsewhere: bool,
    radio: Radio,
    estimate_kbps: Option<u64>,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let radio = (20..8000u64, 1..400u64);
    let estimate = prop::option::of(prop_oneof![1..20_000u64, Just(u64::from(u32::MAX))]);
    let one = (1..4000u64, 0..15_000u64, any::<bool>(), radio, estimate).prop_map(
        |(stay_ms, gap_ms, elsewhere, radio, estimate_kbps)| Move {
            stay_ms,
            gap_ms,
            elsewhere,
            radio,
            estimate_kbps,
        },
    );
    prop::collection::vec(one, 1..8)
}

/// Plays `moves` under a transfer, and the last link stays.
fn play(moves: &[Move], profile: TcpProfile, upload: bool, loss: f64, bytes: u64) -> (Simulation, FlowId) {
    let mut stage = stage((500, 50), (500, 50));
    // The connection opens first: a SYN may be retried in vain for as long as a history of gaps lasts.
    let (mut now, mut at) = (1000, 0);
    for step in moves {
        now += step.stay_ms;
        let back = now + step.gap_ms;
        let next = if step.elsewhere { 1 - at } else { at };
        let (from, to) = (stage.links[at], stage.links[next]);
        let change = LinkChange {
            rate: Some(Rate::from_kbps(step.radio.0)),
            delay: Some(Duration::from_millis(step.radio.1)),
            loss: Some(LossModel::Bernoulli(Probability::new(loss).expect("a probability"))),
            up: None,
        };
        stage.hand_over(from, ms(now), to, ms(back), step.estimate_kbps.map(Rate::from_kbps));
        stage.plan.event(ms(back), Action::both_ways(to, change));
        (now, at) = (back, next);
    }
    let (from, to) = if upload { (stage.mobile, stage.server) } else { (stage.server, stage.mobile) };
    let traffic = Traffic::bulk(Some(ByteCount::new(bytes)));
    stage.carrying(Flow::new("transfer", from, to, Transport::Tcp).traffic(traffic), tcp_ho(profile))
}

proptest! {
    #![proptest_config(prismux_properties::cases(96))]

    #[test]
    fn every_byte_arrives_once_and_in_order_whatever_the_history_of_handoffs(
        moves in moves(),
        profile in 0..3usize,
        upload in any::<bool>(),
        loss in prop_oneof![Just(0.0), 0.0..0.03f64],
        bytes in 1..400_000u64,
    ) {
        let (mut simulation, flow) = play(&moves, PROFILES[profile], upload, loss, bytes);
        // The slowest link carries the largest file in three minutes; the longest timeout is two.
        let done = simulation.run_to_completion(Instant::ZERO + Duration::from_secs(1200));
        prop_assert!(done, "{} of {bytes} bytes: it hangs", simulation.delivered_bytes(flow));
        prop_assert_eq!(simulation.delivered_bytes(flow), bytes);
        prop_assert_eq!(simulation.faults(), Vec::<String>::new());
        let sender = simulation.sender(flow).expect("a connection");
        prop_assert_eq!(sender.engine().audit(), Ok(()));
    }
}
