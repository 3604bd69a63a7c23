//! The networks of these tests.
use prismux_lab::plan::{FlowPlan, MemberPlan, Role};
use prismux_lab::{self as lab, LabOptions, LabOutcome, LabPlan};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
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

/// Hosts `a` and `b`.
pub fn two_hosts(duration_s: f64, forward: LinkConfig, flow: FlowPlan) -> LabPlan {
    let back = LinkConfig { loss: LossModel::None, ..forward.clone() };
    LabPlan::new("two hosts", SEED, seconds(duration_s))
        .node("a", Role::Host)
        .node("b", Role::Host)
        .link("wire", "a", "b", forward, back)
        .flow(flow)
}

/// A server, a proxy, members `m1`, `m2`, ... behind the links `wwan`, and a receiver.
pub fn community(duration_s: f64, wwan: &[LinkConfig], flow: FlowPlan) -> LabPlan {
    let fast = || link(1000, 1).with_queue(QueueLimit::Packets(2000));
    let mut plan = LabPlan::new("community", SEED, seconds(duration_s))
        .node("server", Role::Host)
        .node("proxy", Role::Proxy(Box::default()))
        .node("receiver", Role::Host)
        .link("backbone", "server", "proxy", fast(), fast());
    for (config, n) in wwan.iter().zip(1..) {
        let back = LinkConfig { loss: LossModel::None, ..config.clone() };
        let member = format!("m{n}");
        plan = plan
            .node(&member, Role::Member(MemberPlan::default()))
            .link(&format!("wwan{n}"), "proxy", &member, config.clone(), back)
            .link(&format!("wlan{n}"), &member, "receiver", fast(), fast());
    }
    plan.flow(flow)
}

pub fn run(plan: &LabPlan) -> LabOutcome {
    let outcome =
        lab::run(plan, &LabOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", plan.name));
    assert_eq!(outcome.device_drops, 0, "{}", plan.name);
    for (name, flow) in &outcome.flows {
        assert_eq!(flow.sha256, flow.expected_sha256, "content of flow {name}");
    }
    outcome
}

/// Fails unless `measured` lies within the given fraction of `expected`.
#[track_caller]
pub fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let off = (measured / expected - 1.0).abs();
    assert!(off <= tolerance, "{what}: measured {measured}, expected {expected} within {tolerance}");
}
