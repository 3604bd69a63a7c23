//! The rules themselves, on one handoff watched closely.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig};
use prismux_plan::{Action, Flow, FlowId, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp_ho::{HandoffConfig, HandoffCounters, HandoffServer};
use prismux_units::{Duration, Instant, Rate};

pub(super) const RULES: Experiment = Experiment {
    id: "R",
    title: "one handoff, watched",
    claims: &["HO-007", "HO-008", "HO-009"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge,
};

/// A download over 5 Mbit/s whose link is away from 10 s to 17 s.
fn stage() -> Option<(Simulation, FlowId)> {
    let (mut plan, mut options) =
        (Plan::new("handoff", Duration::from_secs(60)), SimulationOptions::default());
    let (server, mobile) = (plan.host("server"), plan.host("mobile"));
    let radio = LinkConfig::new(Rate::from_mbps(5), Duration::from_millis(30));
    let link = plan.symmetric_link("radio", [server, mobile], radio);
    let tcp = TcpFlow::new(TcpConfig::modern()).with_handoff(HandoffConfig::default());
    let flow = options.carry(&mut plan, Flow::new("download", server, mobile, Transport::Tcp), tcp);
    let handoff = Action::Handoff { host: mobile, link: None, bandwidth: Some(Rate::from_mbps(5)) };
    let (down, back) = (Duration::from_secs(10), Duration::from_secs(17));
    plan.event(down, Action::both_ways(link, LinkChange::DOWN));
    plan.event(back, Action::both_ways(link, LinkChange::UP));
    plan.event(back, handoff);
    Some((Simulation::from_plan(&plan, Seed(1), options).ok()?, flow))
}

fn counters(simulation: &Simulation, flow: FlowId) -> HandoffCounters {
    let server = simulation.sender(flow).and_then(|sender| sender.extension::<HandoffServer>());
    server.map(|server| *server.counters()).unwrap_or_default()
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let Some((mut simulation, flow)) = stage() else { return (Vec::new(), Vec::new()) };
    let step = Duration::from_micros(100);
    let mut now = Instant::from_millis(17_000);
    simulation.run_until(now);
    let pending =
        simulation.sender(flow).and_then(|sender| sender.poll_timeout()).map(|deadline| deadline.at);
    let mut before = sent(&simulation, flow);
    // Until the server has heard of it.
    while counters(&simulation, flow).handoffs == 0 && now < Instant::from_millis(18_000) {
        before = sent(&simulation, flow);
        now += step;
        simulation.run_until(now);
    }
    let at_once = sent(&simulation, flow) > before;
    let timeout_s = pending.map_or(f64::NAN, |at| at.saturating_since(now).as_secs_f64());
    simulation.run_until(Instant::from_millis(30_000));
    let end = counters(&simulation, flow);
    let figures = format!(
        "transmitted within {} ms of the notice; its timeout was {} s away",
        if at_once { "0.1" } else { "more than 0.1" },
        digits(timeout_s)
    );
    let findings = vec![
        Finding::values("HO-007", vec![(end.handoffs + end.twins) as f64]),
        Finding::values("HO-008", vec![end.samples as f64]),
        Finding::shape("HO-009", at_once && timeout_s > 0.1, figures),
    ];
    (findings, Vec::new())
}

fn sent(simulation: &Simulation, flow: FlowId) -> u64 {
    simulation.sender(flow).map_or(0, |sender| sender.metrics().engine.counters.segments_sent)
}
