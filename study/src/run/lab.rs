//! A run in the lab: network namespaces on this machine, in real time.
use super::doubt::{self, LAB};
use super::error::{RunError, RunFailure};
use super::{RunOptions, cannot_write, make_folder};
use prismux_lab::{FlowOutcome, LabError, LabOptions};
use prismux_plan::{Plan, Unsupported};
use prismux_trace::event::SharedLog;
use prismux_trace::results::RunResult;

pub(super) fn run(
    plan: &Plan,
    options: &RunOptions,
    events: Option<SharedLog>,
) -> Result<RunResult, RunError> {
    if !options.policies.is_empty() {
        return Err(RunError::Unsupported(Unsupported {
            what: "the lab takes no scheduler or congestion control from outside".to_string(),
            remedy: "use --on sim".to_string(),
        }));
    }
    let interrupt = options.interrupt.clone();
    let (seed, scenario_hash) = (options.seed, prismux_scenario::hash(plan));
    let mut lab_options = LabOptions { seed, scenario_hash, interrupt, events, ..LabOptions::default() };
    if let Some(program) = &options.program {
        lab_options.daemons.program = program.clone();
    }
    if let Some(folder) = &options.pcap {
        make_folder(folder)?;
        let name = plan.name.replace(['/', ' '], "-");
        lab_options.capture = Some(folder.join(format!("{name}-seed{}-lab.pcapng", options.seed)));
    }
    if let Some(folder) = &options.record {
        // The daemons open it from elsewhere.
        lab_options.record = Some(folder.canonicalize().map_err(|error| cannot_write(folder, error))?);
    }
    match prismux_lab::run(plan, &lab_options) {
        Ok(mut outcome) => {
            outcome.result.nodes.insert(LAB.to_string(), doubt::counters(&outcome));
            let damaged = |flow: &FlowOutcome| match (&flow.sha256, &flow.expected_sha256) {
                (Some(received), Some(sent)) => received != sent,
                _ => false,
            };
            if let Some((flow, _)) = outcome.flows.iter().find(|(_, flow)| damaged(flow)) {
                return Err(RunFailure::Damaged { flow: flow.clone() }.into());
            }
            let failed = outcome.flows.iter().find_map(|(name, flow)| Some((name, flow.failure.as_ref()?)));
            match failed {
                Some((flow, why)) => Err(RunFailure::Program { flow: flow.clone(), why: why.clone() }.into()),
                None => Ok(outcome.result),
            }
        }
        Err(LabError::Interrupted) => Err(RunError::Interrupted),
        Err(LabError::Unsupported(what)) => Err(RunError::Unsupported(what)),
        Err(error) => Err(RunFailure::Lab(Box::new(error)).into()),
    }
}
