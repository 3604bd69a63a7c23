//! What plans may ask for and the simulator does not have.
use super::options::SimulationOptions;
use prismux_plan::{Feature, Lack, NodeId, Plan, PlanError, Unsupported};
use std::collections::BTreeMap;
use std::fmt;
use std::io;

const LACKS: &[Lack] = &[
    Lack {
        feature: Feature::Processes,
        what: "the simulator has no process of {} to kill",
        remedy: "use leave and join, or --on lab",
    },
    Lack { feature: Feature::Programs, what: "{} runs in the lab only", remedy: "use --on lab" },
];

/// Why a plan cannot be simulated.
#[derive(Debug)]
pub enum SimulationError {
    /// The plan makes no sense.
    Plan(PlanError),
    /// The simulator lacks something that the plan or its options ask for.
    Unsupported(Unsupported),
    /// The capture cannot be written.
    Capture(io::Error),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Unsupported(error) => error.fmt(f),
            Self::Capture(error) => write!(f, "cannot write the capture: {error}"),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<PlanError> for SimulationError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<Unsupported> for SimulationError {
    fn from(error: Unsupported) -> Self {
        Self::Unsupported(error)
    }
}

/// Refuses a plan that the simulator cannot run.
///
/// # Errors
/// For what the simulator lacks, with a way out.
pub fn check_supported(plan: &Plan) -> Result<(), Unsupported> {
    plan.refuse(LACKS)?;
    bypassed_proxies(plan).map(|_| ())
}

/// Proxies that every TCP flow on the way goes past: they become routers.
///
/// # Errors
/// For a proxy that some flows use and others go past, which cannot be simulated.
pub(super) fn bypassed_proxies(plan: &Plan) -> Result<Vec<NodeId>, Unsupported> {
    let bypassed: Vec<_> = plan.flows.iter().filter_map(|flow| plan.proxy_past(flow)).collect();
    for flow in plan.flows.iter().filter(|_| !bypassed.is_empty()) {
        if let Some(proxy) = plan.proxy_of(flow).filter(|proxy| bypassed.contains(proxy)) {
            let name = &plan[proxy].name;
            return Err(Unsupported {
                what: format!(
                    "flow \"{}\" passes the proxy \"{name}\" while others go past it by \"via\" or MPTCP",
                    flow.name
                ),
                remedy:
                    "give all flows of this proxy a \"via\" or transport \"mptcp\", or none; or use --on lab"
                        .to_string(),
            });
        }
    }
    Ok(bypassed)
}

/// Refuses options for parts that the plan, whose names differ, does not have.
///
/// # Errors
/// For the first of them.
pub(super) fn check_names(plan: &Plan, options: &SimulationOptions) -> Result<(), Unsupported> {
    let flows = plan.flows.iter().map(|flow| &flow.name);
    let nodes = plan.nodes.iter().map(|node| &node.name);
    let media = plan.media.iter().map(|medium| &medium.name);
    check_part(["transport", "flow"], &options.transports, flows)?;
    check_part(["rule", "node"], &options.nodes, nodes)?;
    check_part(["model", "medium"], &options.media, media)
}

/// Refuses an option for a part that is not among `names`, which differ.
fn check_part<'a, T>(
    [what, part]: [&str; 2],
    given: &BTreeMap<String, T>,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Result<(), Unsupported> {
    // Most runs have no options, and some have one for each of thousands of flows.
    if given.is_empty() || names.clone().filter(|name| given.contains_key(*name)).count() == given.len() {
        return Ok(());
    }
    let unknown = given.keys().find(|given| !names.clone().any(|name| name == *given));
    Err(Unsupported {
        what: format!(
            "the options have a {what} for \"{}\", and the plan has no such {part}",
            unknown.map_or("", String::as_str)
        ),
        remedy: format!("name a {part} of the plan"),
    })
}
