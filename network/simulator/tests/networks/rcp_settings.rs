//! RCP whose sender opens, has little to send or lets little be asked for; whose receiver sleeps.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{
    Action, Congestion, Flow, FlowId, Plan, RcpOpener, RcpSettings, TcpSettings, Traffic, Transport,
};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::results::RunResult;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

const DOWNLOAD: FlowId = FlowId::new(0);
const END: Duration = Duration::from_secs(60);
/// Of the way there and back, without what waits in queues.
const ROUND_TRIP_S: f64 = 0.1;

/// A server and a client, 4 Mbit/s and 100 ms there and back, and a flow with these settings.
fn plan(settings: RcpSettings, loss: f64, shape: impl Fn(Flow) -> Flow) -> Plan {
    let mut plan = Plan::new("path", END);
    let (server, client) = (plan.host("server"), plan.host("client"));
    let loss = Probability::new(loss).map_or(LossModel::None, LossModel::Bernoulli);
    let link = LinkConfig::new(Rate::from_mbps(4), Duration::from_millis(50)).with_loss(loss);
    plan.symmetric_link("path", [server, client], link);
    plan.flow(shape(Flow::new("download", server, client, Transport::Rcp(settings))));
    plan
}

fn start(plan: &Plan) -> Simulation {
    let options = SimulationOptions { checks: Some(true), ..SimulationOptions::default() };
    Simulation::from_plan(plan, Seed(1), options).unwrap()
}

fn run(plan: &Plan) -> RunResult {
    let mut simulation = start(plan);
    simulation.run_until(Instant::ZERO + END);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result()
}

fn file(flow: Flow) -> Flow {
    flow.bytes(ByteCount::new(2_000_000))
}

#[test]
fn either_end_may_open() {
    for loss in [0.0, 0.05] {
        let opened_by = |opened_by| RcpSettings { opened_by, ..RcpSettings::DEFAULT };
        let [receiver, sender] = [RcpOpener::Receiver, RcpOpener::Sender].map(|end| {
            let result = run(&plan(opened_by(end), loss, file));
            result.flows["download"].completion_s.expect("complete")
        });
        // SYN, SYN-ACK, first request: one more way than SYN, SYN-ACK with which the receiver may ask.
        if loss == 0.0 {
            let later = sender - receiver;
            assert!((later - ROUND_TRIP_S / 2.0).abs() < 0.01, "{sender} s against {receiver} s");
        }
    }
}

#[test]
fn a_sender_that_writes_now_and_then_is_asked_in_time() {
    let every = Duration::from_millis(700);
    let writes = Traffic::Writes { size: ByteCount::new(3000), every };
    for opened_by in [RcpOpener::Receiver, RcpOpener::Sender] {
        let settings = RcpSettings { opened_by, ..RcpSettings::DEFAULT };
        let plan = plan(settings, 0.0, |flow| flow.traffic(writes.clone()));
        let mut simulation = start(&plan);
        for write in 1..=60_u64 {
            // Before the next arrives. It takes some round trips: the standing request covers a segment, and the
            // answer tells that there is more.
            let by = every * write;
            simulation.run_until(Instant::ZERO + by);
            assert_eq!(simulation.delivered_bytes(DOWNLOAD), 3000 * write, "by {by}");
        }
        assert_eq!(simulation.faults(), Vec::<String>::new());
    }
}

#[test]
fn writes_that_links_lose_arrive_all_the_same() {
    let writes = Traffic::Writes { size: ByteCount::new(3000), every: Duration::from_millis(700) };
    let mut plan = plan(RcpSettings::DEFAULT, 0.1, |flow| flow.traffic(writes.clone()));
    // A clean end, in which what was lost before is repaired.
    let clean = prismux_link::LinkChange { loss: Some(LossModel::None), ..Default::default() };
    plan.event(Duration::from_secs(30), Action::both_ways(prismux_plan::LinkId::new(0), clean));
    let result = run(&plan);
    let bytes = result.flows["download"].bytes;
    // 60 s hold 85 writes; the connection may have opened late and the last one may be on its way.
    assert!((80 * 3000..=86 * 3000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn the_sender_limits_what_is_asked_for() {
    let limit = 20_000;
    let settings = RcpSettings { request_limit: ByteCount::new(limit), ..RcpSettings::DEFAULT };
    let endless = |flow: Flow| flow;
    let free = run(&plan(RcpSettings::DEFAULT, 0.0, endless)).flows["download"].goodput_bps;
    let bound = run(&plan(settings, 0.0, endless)).flows["download"].goodput_bps;
    // What is here is told with a request, and raises the limit that the data tells which that request brings.
    let possible = limit as f64 * 8.0 / (2.0 * ROUND_TRIP_S);
    assert!(free > 3e6, "{free} bit/s");
    assert!(bound < possible && bound > 0.7 * possible, "{bound} of {possible} bit/s");
}

/// Asleep from 10 s until the beacon after 20.03 s.
fn sleeping(beacon: Option<Duration>, shape: impl Fn(Flow) -> Flow) -> Plan {
    let mut plan = plan(RcpSettings { beacon, ..RcpSettings::DEFAULT }, 0.0, shape);
    plan.event(Duration::from_secs(10), Action::Sleep(DOWNLOAD));
    plan.event(Duration::from_millis(20_030), Action::Wake(DOWNLOAD));
    plan
}

#[test]
fn a_sleeping_receiver_gets_nothing_and_goes_on_where_it_was() {
    let mut simulation = start(&sleeping(Some(Duration::from_millis(100)), |flow| flow));
    let mut delivered_at = |ms: u64| {
        simulation.run_until(Instant::ZERO + Duration::from_millis(ms));
        simulation.delivered_bytes(DOWNLOAD)
    };
    let (asleep, woken) = (delivered_at(10_000), delivered_at(20_100));
    assert!(asleep > 3_000_000, "{asleep} bytes");
    assert_eq!(asleep, woken);
    // Half a second is too little for slow start: the window is what it was.
    let later = delivered_at(21_000);
    assert!(later - woken > 250_000, "{} bytes", later - woken);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let counters = &simulation.result().nodes["client"];
    // The beacon after 20.03 s.
    assert_eq!(counters["asleep_ms"], 10_100);
    assert!(counters["lost_asleep_packets"] > 10, "{counters:?}");
}

#[test]
fn without_beacons_a_receiver_wakes_at_once() {
    let result = run(&sleeping(None, |flow| file(flow).start_at(Duration::from_secs(12))));
    assert_eq!(result.nodes["client"]["asleep_ms"], 10_030);
    // It could not open before it woke.
    let completion = result.flows["download"].completion_s.expect("complete");
    assert!(completion > 8.03 + 4.0 && completion < 8.03 + 8.0, "{completion} s");
}

#[test]
fn a_grant_that_is_spread_overflows_a_short_queue_less_and_fills_the_link() {
    let sent = |spread_grants| {
        let tcp = TcpSettings { congestion: Some(Congestion::Stp), ..TcpSettings::default() };
        let settings = RcpSettings { spread_grants, ..RcpSettings::DEFAULT };
        let mut plan = plan(settings, 0.0, |flow| flow.tcp(tcp.clone()));
        plan.links[0].forward.link.queue = QueueLimit::Packets(10);
        let result = run(&plan);
        (result.links["path"].dropped_packets, result.flows["download"].goodput_bps)
    };
    let ((at_once, fast), (spread, faster)) = (sent(false), sent(true));
    assert!(2 * spread < at_once, "{spread} drops against {at_once}");
    assert!(faster > 1.2 * fast, "{faster} against {fast} bit/s");
}
