//! The networks of these tests.
use prismux_lab::{self as lab, LabOptions, LabOutcome};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, NodeId, Plan, ProxySettings, Transport};
use prismux_trace::SharedBytes;
use prismux_trace::event::{Record, SharedLog, read_json_lines};
use prismux_units::{Duration, Probability, Rate};

pub const SEED: u64 = 7;

pub fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A link with a queue of one bandwidth-delay product.
pub fn link(mbps: u64, delay_ms: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(delay_ms)).with_queue(QueueLimit::Bdp(1.0))
}

pub fn lossy(config: LinkConfig, loss: f64) -> LinkConfig {
    config.with_loss(LossModel::Bernoulli(Probability::new(loss).expect("a probability")))
}

/// The hosts of [`two_hosts`].
pub const A: NodeId = NodeId::new(0);
pub const B: NodeId = NodeId::new(1);

/// Hosts `a` and `b`.
pub fn two_hosts(duration_s: f64, forward: LinkConfig, flow: Flow) -> Plan {
    let back = LinkConfig { loss: LossModel::None, ..forward.clone() };
    let mut plan = Plan::new("two hosts", seconds(duration_s));
    let ends = [plan.host("a"), plan.host("b")];
    plan.link("wire", ends, forward, back);
    plan.flow(flow);
    plan
}

/// The nodes of [`community`].
pub const SERVER: NodeId = NodeId::new(0);
pub const PROXY: NodeId = NodeId::new(1);
pub const RECEIVER: NodeId = NodeId::new(2);
pub const M1: NodeId = NodeId::new(3);
pub const M2: NodeId = NodeId::new(4);

/// A download through a [`community`].
pub fn download(transport: Transport) -> Flow {
    Flow::new("download", SERVER, RECEIVER, transport)
}

/// A server, a proxy, members `m1`, `m2`, ... behind the links `wwan`, and a receiver.
pub fn community(duration_s: f64, wwan: &[LinkConfig], flow: Flow) -> Plan {
    let fast = || link(1000, 1).with_queue(QueueLimit::Packets(2000));
    let mut plan = Plan::new("community", seconds(duration_s));
    let (server, proxy) = (plan.host("server"), plan.prism_proxy("proxy", ProxySettings::default()));
    let receiver = plan.host("receiver");
    plan.symmetric_link("backbone", [server, proxy], fast());
    for (config, n) in wwan.iter().zip(1..) {
        let back = LinkConfig { loss: LossModel::None, ..config.clone() };
        let member = plan.member(&format!("m{n}"));
        plan.link(&format!("wwan{n}"), [proxy, member], config.clone(), back);
        plan.symmetric_link(&format!("wlan{n}"), [member, receiver], fast());
    }
    plan.flow(flow);
    plan
}

/// Leaves the first seconds out of steady-state figures.
pub fn warmed_up(mut plan: Plan, after_s: f64) -> Plan {
    plan.measure.warm_up = Some(seconds(after_s));
    plan
}

pub fn options() -> LabOptions {
    LabOptions { seed: SEED, ..LabOptions::default() }
}

fn attempt(plan: &Plan, options: &LabOptions) -> LabOutcome {
    lab::run(plan, options).unwrap_or_else(|error| panic!("{}: {error}", plan.name))
}

fn check(plan: &Plan, outcome: &LabOutcome) {
    // What nobody takes out of a device's queue while the machine stands still finds no room there.
    let drops = &outcome.device_drops;
    assert!(drops.is_empty() || stood_still(outcome), "{}: {drops:?}", plan.name);
    for (name, flow) in &outcome.flows {
        assert_eq!(flow.sha256, flow.expected_sha256, "content of flow {name}");
    }
}

pub fn run(plan: &Plan) -> LabOutcome {
    let outcome = attempt(plan, &options());
    check(plan, &outcome);
    outcome
}

/// A machine that is later than this has stood still, and was not only busy.
const STANDSTILL_US: f64 = 50_000.0;
/// Links that are later than this, one time in a hundred, had no processor when they needed one: they have no priority
/// where the lab runs without root.
const UNSERVED_US: f64 = 5_000.0;
/// More runs than this are not begun because of the machine.
const RUNS: usize = 6;

fn stood_still(outcome: &LabOutcome) -> bool {
    let (wakeups, links) = (outcome.wakeups, outcome.emulator.lateness);
    wakeups.max_us.max(links.max_us) > STANDSTILL_US || links.p99_us > UNSERVED_US
}

/// A run that measures: what one shows during which the machine stood still is the machine, and another is begun.
fn steadily<T>(begin: impl Fn() -> T, outcome: impl Fn(&T) -> &LabOutcome) -> T {
    for _ in 1..RUNS {
        let run = begin();
        if !stood_still(outcome(&run)) {
            return run;
        }
    }
    begin()
}

/// As [`run`], on a machine that did not stand still.
pub fn run_steadily(plan: &Plan) -> LabOutcome {
    let outcome = steadily(|| attempt(plan, &options()), |outcome| outcome);
    check(plan, &outcome);
    outcome
}

/// As [`recorded`], on a machine that did not stand still.
pub fn recorded_steadily(plan: &Plan) -> (LabOutcome, Vec<Record<'static>>) {
    steadily(|| recorded(plan), |(outcome, _)| outcome)
}

/// Fails unless `measured` lies within the given fraction of `expected`.
#[track_caller]
pub fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let off = (measured / expected - 1.0).abs();
    assert!(off <= tolerance, "{what}: measured {measured}, expected {expected} within {tolerance}");
}

/// A run, and all that it wrote down meanwhile.
pub fn recorded(plan: &Plan) -> (LabOutcome, Vec<Record<'static>>) {
    let text = SharedBytes::default();
    let log = SharedLog::new(Box::new(text.clone()));
    let options = LabOptions { events: Some(log.clone()), ..options() };
    let outcome = attempt(plan, &options);
    log.finish().expect("a whole log");
    (outcome, read_json_lines(&text.take()[..]).expect("events"))
}
