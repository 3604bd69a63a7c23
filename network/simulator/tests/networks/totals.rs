//! What all flows of a run deliver together is over one stretch of time, so that it never exceeds what links can carry.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkChange, LinkConfig, QueueLimit};
use prismux_plan::{Action, Directions, Flow, LinkId, NodeId, Plan, Traffic, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::results::{RunResult, goodput_bps};
use prismux_units::{ByteCount, Duration, Instant, Rate};

const SECONDS: u64 = 12;

fn run(plan: &Plan) -> RunResult {
    let mut simulation = Simulation::from_plan(plan, Seed(1), SimulationOptions::checked()).expect("a plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result()
}

/// 10 Mbit/s with a queue that never drops.
fn line() -> (Plan, [NodeId; 2], LinkId) {
    let mut plan = Plan::new("line", Duration::from_secs(SECONDS));
    let hosts = [plan.host("server"), plan.host("client")];
    let config = LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(10));
    let link = plan.symmetric_link("line", hosts, config.with_queue(QueueLimit::Packets(100_000)));
    plan.links[link.index()].shared = true;
    (plan, hosts, link)
}

/// A file, or data without end.
fn download(name: &str, [server, client]: [NodeId; 2], bytes: Option<u64>) -> Flow {
    let bytes = bytes.map(ByteCount::new);
    Flow::new(name, server, client, Transport::Tcp).traffic(Traffic::bulk(bytes))
}

fn tenths(tenths: u64) -> Duration {
    Duration::from_millis(100 * tenths)
}

/// One to six flows, each begun at a time of its own; some are files, some are stopped. The line's rate may change.
fn mixed(random: &mut RandomStream) -> Plan {
    let (mut plan, hosts, link) = line();
    plan.measure.warm_up = random.chance(0.5).then_some(Duration::from_secs(1));
    for number in 0..1 + random.below(6) {
        let bytes = random.chance(0.5).then(|| 20_000 + random.below(3_000_000));
        let start = tenths(random.below(60));
        let flow = download(&format!("flow-{number}"), hosts, bytes).start_at(start);
        let stops = random.chance(0.4);
        plan.flow(if stops { flow.stop_at(start + tenths(1 + random.below(40))) } else { flow });
    }
    if random.chance(0.3) {
        let change =
            LinkChange { rate: Some(Rate::from_mbps(1 + random.below(30))), ..LinkChange::default() };
        let action = Action::ChangeLink { link, directions: Directions::Both, change };
        plan.event(tenths(random.below(100)), action);
    }
    plan
}

#[test]
fn a_total_never_exceeds_what_the_links_can_carry() {
    let mut random = Seed(11).stream("mixes of flows");
    let mut sums_beyond = 0;
    for _ in 0..150 {
        let plan = mixed(&mut random);
        let result = run(&plan);
        let total = &result.total;
        assert!(total.goodput_bps <= total.capacity_bps, "{plan:#?}\n{total:?}");
        let sum: f64 = result.flows.values().map(|flow| flow.goodput_bps).sum();
        sums_beyond += usize::from(sum > total.capacity_bps);
    }
    assert!(sums_beyond > 20, "only in {sums_beyond} mixes is it a matter of the denominator");
}

#[test]
fn steady_states_share_their_time() {
    let (mut plan, hosts, _) = line();
    plan.measure.warm_up = Some(Duration::from_secs(1));
    for (number, start) in [0, 13, 90].into_iter().enumerate() {
        plan.flow(download(&format!("flow-{number}"), hosts, None).start_at(tenths(start)));
    }
    let result = run(&plan);
    let steady = result.total.steady_goodput_bps.expect("two seconds from 10 s");
    let share = steady / result.total.capacity_bps;
    // A stretch may begin just before a packet arrives and end just after one: that is one packet more.
    let packet = 12_000.0 / (2.0 * 10e6);
    assert!((0.98..=1.0 + packet).contains(&share), "{share}");
    let sum: f64 = result.flows.values().filter_map(|flow| flow.steady_goodput_bps).sum();
    assert!(sum > 1.02 * result.total.capacity_bps, "{sum}: the first had the line alone for a while");
}

#[test]
fn one_flow_alone_is_the_total() {
    let (mut plan, hosts, _) = line();
    plan.flow(download("file", hosts, Some(4_000_000)).start_at(tenths(7)));
    let result = run(&plan);
    let (flow, total) = (&result.flows["file"], &result.total);
    assert!(flow.completion_s.is_some());
    assert_eq!((total.goodput_bps, total.steady_goodput_bps), (flow.goodput_bps, flow.steady_goodput_bps));
}

#[test]
fn files_one_after_another_are_measured_over_all_their_time() {
    let (mut plan, hosts, _) = line();
    plan.flow(download("first", hosts, Some(1_000_000)));
    plan.flow(download("second", hosts, Some(1_000_000)).start_at(Duration::from_secs(5)));
    let result = run(&plan);
    let seconds = 5.0 + result.flows["second"].completion_s.expect("it ends");
    assert!((result.total.goodput_bps - goodput_bps(2_000_000, seconds)).abs() < 1.0, "{:?}", result.total);
    assert_eq!(result.total.steady_goodput_bps, None, "never were both under way");
}

#[test]
fn what_is_on_its_way_to_a_stopped_flow_counts_no_more() {
    let (mut plan, hosts, _) = line();
    plan.flow(download("short", hosts, None).stop_at(Duration::from_secs(2)));
    let result = run(&plan);
    let (flow, total) = (&result.flows["short"], &result.total);
    assert!(flow.goodput_bps <= total.capacity_bps, "{flow:?}");
    assert!((total.goodput_bps - flow.goodput_bps).abs() < 1.0, "{total:?}");
}
