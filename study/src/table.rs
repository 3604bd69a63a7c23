//! Results as Arrow tables.
//!
//! Each column says its unit and meaning in the metadata of its field (`unit`, `about`), each table where it comes
//! from in the metadata of its schema (`scenario`, `scenario_hash`, `backend`, `seed`, `version`). A value that a
//! backend cannot know is null.

mod columns;
mod quantities;
mod series;

pub use columns::Columns;
pub use quantities::{
    FLOW_QUANTITIES, GROUP_QUANTITIES, LINK_QUANTITIES, Quantity, Reader, TOTAL_QUANTITIES,
};
pub use series::{flow_series, link_series};

use arrow_array::RecordBatch;
use prismux_trace::results::{FlowResult, Named, RunResult};
use std::collections::HashMap;

/// Where a table comes from, for the metadata of its schema.
pub fn birth(result: &RunResult) -> HashMap<String, String> {
    let mut metadata = HashMap::from([
        ("scenario".to_string(), result.scenario.clone()),
        ("scenario_hash".to_string(), result.scenario_hash.clone()),
        ("backend".to_string(), result.backend.to_string()),
        ("seed".to_string(), result.seed.to_string()),
        ("version".to_string(), result.version.clone()),
        ("duration_s".to_string(), result.duration_s.to_string()),
    ]);
    if let Some(series) = &result.series {
        metadata.insert("interval_s".to_string(), series.interval_s.to_string());
    }
    metadata
}

/// The flows, one row each.
pub fn flows(result: &RunResult) -> RecordBatch {
    let mut columns = Columns::default();
    let all = || result.flows.values();
    columns.text("flow", "name of the flow", result.flows.keys().map(|name| Some(name.as_str())));
    columns.text("transport", "how the ends talk", all().map(|flow| Some(flow.transport.as_str())));
    for quantity in FLOW_QUANTITIES {
        columns.quantity(quantity, quantity.name, all());
    }
    columns.finish(birth(result))
}

/// The links, one row each, measured from the first node to the second; columns called `reverse.` the other way.
pub fn links(result: &RunResult) -> RecordBatch {
    let mut columns = Columns::default();
    let all = || result.links.values();
    columns.text("link", "name of the link", result.links.keys().map(|name| Some(name.as_str())));
    columns.flag("shared", "its rate counts as capacity", all().map(|link| Some(link.shared)));
    for quantity in LINK_QUANTITIES {
        columns.quantity(quantity, quantity.name, all());
    }
    columns.finish(birth(result))
}

/// Groups of several flows of one kind, one row each.
pub fn groups(result: &RunResult) -> RecordBatch {
    let mut columns = Columns::default();
    columns.text("group", "name that the flows share", result.groups.keys().map(|name| Some(name.as_str())));
    for quantity in GROUP_QUANTITIES {
        columns.quantity(quantity, quantity.name, result.groups.values());
    }
    columns.finish(birth(result))
}

/// The time at which the last of the flows with a size was complete; `None` when one was not, or none has a size.
pub fn completion_s(flows: &Named<FlowResult>) -> Option<f64> {
    let times: Option<Vec<f64>> =
        flows.values().filter(|flow| flow.transport.contains("tcp")).map(|flow| flow.completion_s).collect();
    times?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests;
