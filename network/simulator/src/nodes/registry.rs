//! The registry: what those of a plan's nodes are made of that have rules of their own. One line for each kind.
use super::ground::Ground;
use super::prism;
use super::prism::policy::SchedulerFactory;
use crate::core::ids::NodeId;
use prismux_plan::Unsupported;

/// The nodes of a plan that have rules of their own, and its communities. Proxies that are `bypassed` are routers;
/// `scheduler` takes the place of the proxies' own.
///
/// # Errors
/// When the plan asks for more than the simulator can take.
pub(crate) fn planned(
    ground: &Ground<'_>,
    bypassed: &[NodeId],
    scheduler: Option<&SchedulerFactory>,
) -> Result<prism::plan::Found, Unsupported> {
    let mut found = prism::plan::found(ground, bypassed, scheduler)?;
    found.nodes.extend(crate::radio::hosts(ground.plan, ground.seed));
    found.nodes.extend(crate::cell::nodes(ground.plan));
    Ok(found)
}
