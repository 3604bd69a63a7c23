//! TCP-HO between simulated hosts: one that moves, one that serves it.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LossModel, QueueLimit};
use prismux_simulator::{
    BuildError, FlowConfig, FlowId, Handoff, LinkIndex, NetworkBuilder, NetworkEvent, NodeId, Simulation,
    TcpFlow,
};
use prismux_tcp::TcpProfile;
use prismux_tcp_ho::{HandoffConfig, HandoffServer};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use proptest::prelude::*;

const PROFILES: [TcpProfile; 3] = [TcpProfile::Modern, TcpProfile::Linux24, TcpProfile::Ns2_2002];

/// server -- backbone -- net -- (old | new) -- mobile.
struct Stage {
    builder: NetworkBuilder,
    server: NodeId,
    mobile: NodeId,
    links: [LinkIndex; 2],
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
    let mut builder = NetworkBuilder::new(Seed(1));
    builder.checks(true);
    let (server, net, mobile) = (builder.host("server"), builder.router("net"), builder.host("mobile"));
    let backbone = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(20));
    builder.symmetric_link("backbone", server, net, backbone);
    let links =
        [("old", old), ("new", new)].map(|(name, of)| builder.symmetric_link(name, net, mobile, radio(of)));
    Stage { builder, server, mobile, links }
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

impl Stage {
    /// The link goes down at `from`; the handoff to `to` is complete at `until`.
    fn hand_over(
        &mut self,
        from: LinkIndex,
        at: Instant,
        to: LinkIndex,
        until: Instant,
        bandwidth: Option<Rate>,
    ) {
        self.builder.event(at, NetworkEvent::LinkChange(from, LinkChange::DOWN));
        self.builder.event(until, NetworkEvent::LinkChange(to, LinkChange::UP));
        let handoff = Handoff { host: self.mobile, link: Some(to), bandwidth };
        self.builder.event(until, NetworkEvent::Handoff(handoff));
    }

    fn download(mut self, tcp: TcpFlow, bytes: Option<u64>) -> (Simulation, FlowId) {
        let mut flow = FlowConfig::new(self.server, self.mobile, tcp);
        flow.bytes = bytes;
        let flow = self.builder.flow("download", flow);
        (self.builder.build().expect("a network"), flow)
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
    let (mut simulation, flow) = stage.download(tcp, None);
    simulation.run_until(ms(back));
    let before = simulation.delivered_bytes(flow);
    let later = (1..200_000).find(|later| {
        simulation.run_until(ms(back + later));
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
    let (mut simulation, flow) = stage.download(tcp_ho(TcpProfile::Linux24), None);
    simulation.run_until(ms(12_500));
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
    let loss = |p| LinkChange::loss(LossModel::Bernoulli(Probability::new(p).expect("a probability")));
    stage.builder.event(ms(16_999), NetworkEvent::ReverseChange(new, loss(1.0)));
    stage.builder.event(ms(17_005), NetworkEvent::ReverseChange(new, loss(0.0)));
    let (mut simulation, flow) = stage.download(tcp_ho(TcpProfile::Modern), None);
    simulation.run_until(ms(17_000));
    let before = simulation.delivered_bytes(flow);
    simulation.run_until(ms(17_100));
    assert!(simulation.delivered_bytes(flow) > before);
}

#[test]
fn a_host_that_sends_goes_on_at_once_and_tells_nobody() {
    let mut stage = stage((384, 100), (5000, 10));
    let [old, new] = stage.links;
    stage.hand_over(old, ms(10_000), new, ms(17_000), Some(Rate::from_mbps(5)));
    let tcp = tcp_ho(TcpProfile::Modern);
    let upload = FlowConfig::new(stage.mobile, stage.server, tcp);
    let flow = stage.builder.flow("upload", upload);
    let mut simulation = stage.builder.build().expect("a network");
    simulation.run_until(ms(17_000));
    let before = simulation.delivered_bytes(flow);
    simulation.run_until(ms(17_050));
    assert!(simulation.delivered_bytes(flow) > before);
    let sender = simulation.sender(flow).expect("a connection");
    let counters = *sender.extension::<HandoffServer>().expect("a TCP-HO sender").counters();
    assert_eq!((counters.handoffs, counters.twins), (1, 0));
}

#[test]
fn a_host_cannot_move_to_a_link_that_does_not_end_there() {
    let mut stage = stage((384, 100), (5000, 10));
    let server = stage.server;
    let handoff = Handoff { host: server, link: Some(stage.links[0]), bandwidth: None };
    stage.builder.event(ms(1), NetworkEvent::Handoff(handoff));
    let error = stage.builder.build().expect_err("the server is not on that link");
    assert!(matches!(error, BuildError::NotAttached { .. }), "{error}");
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
        stage.builder.event(ms(back), NetworkEvent::LinkChange(to, change));
        (now, at) = (back, next);
    }
    let (from, to) = if upload { (stage.mobile, stage.server) } else { (stage.server, stage.mobile) };
    let transport = tcp_ho(profile);
    let flow = stage.builder.flow("transfer", FlowConfig::new(from, to, transport).carrying(bytes));
    (stage.builder.build().expect("a network"), flow)
}

/// `PROPTEST_CASES` if set, else `usual`.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig { cases: if asked { default.cases } else { usual }, ..default }
}

proptest! {
    #![proptest_config(cases(96))]

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
