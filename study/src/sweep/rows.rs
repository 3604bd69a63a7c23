//! Results of a sweep as rows: one for each task, with the point, the seed and everything measured.

use super::axis::{Axis, in_base_unit};
use super::plan::Task;
use crate::policies::{self, POLICY, POLICY_HASH, PolicyName};
use crate::table::{
    Columns, FLOW_QUANTITIES, GROUP_QUANTITIES, LINK_QUANTITIES, Quantity, TOTAL_QUANTITIES, completion_s,
};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use prismux_trace::results::{Named, RunResult};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Name of the column with the task's id.
pub const TASK: &str = "task";

/// Columns that every sweep has and that say what ran, not what came of it.
pub(super) const SETTINGS: &[&str] =
    &[TASK, "variant", "seed", "scenario", "scenario_hash", POLICY, POLICY_HASH, "version"];

/// A finished task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The task's id.
    pub task: String,
    /// Variant of the file.
    pub variant: Option<String>,
    /// Path and value on each axis.
    pub values: Vec<(String, String)>,
    /// What was measured.
    pub result: RunResult,
    /// The policies from outside that decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyName>,
}

impl Row {
    /// The row of `task`. Series are left out: a sweep keeps one row for each run.
    pub fn new(task: &Task, mut result: RunResult) -> Self {
        result.series = None;
        if !task.point.policies.is_empty() {
            // The row names scenario and policies apart.
            result.scenario_hash = prismux_scenario::hash(&task.point.scenario.plan);
        }
        let (variant, values) = (task.point.variant.clone(), task.point.values.clone());
        Self { task: task.id.clone(), variant, values, result, policies: task.point.policies.clone() }
    }

    /// The row as another process sends it.
    ///
    /// # Errors
    /// A sentence about a text that is no row.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("this is not the row of a task: {error}"))
    }

    /// The row as one line of JSON.
    pub fn to_json(&self) -> String {
        // Maps with string keys and plain numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The rows as a table. The column of an axis whose every value is a quantity holds numbers in the base unit, any other
/// texts. Columns of what is measured are called as in the JSON form of a result: `total.goodput_bps`,
/// `links.wwan1.share`; the bytes of a flow are `delivered_bytes`, since `bytes` is a setting.
pub fn table(axes: &[Axis], rows: &[Row], metadata: HashMap<String, String>) -> RecordBatch {
    let mut columns = Columns::default();
    columns.text(TASK, "id of the task: hash of all that decides it", texts(rows, |row| Some(&row.task)));
    for (path, unit) in axis_columns(axes, rows) {
        let value = |row: &Row| -> Option<String> {
            row.values.iter().find(|(other, _)| *other == path).map(|(_, value)| value.clone())
        };
        match unit {
            Some(unit) => {
                let numbers = rows.iter().map(|row| Some(in_base_unit(&value(row)?)?.0));
                columns.float(&path, unit, "setting of the scenario", numbers);
            }
            None => {
                let values: Vec<Option<String>> = rows.iter().map(value).collect();
                columns.text(&path, "setting of the scenario", values.iter().map(Option::as_deref));
            }
        }
    }
    columns.text("variant", "variant of the scenario", texts(rows, |row| row.variant.as_ref()));
    columns.whole("seed", "1", "seed of every random stream", rows.iter().map(|row| Some(row.result.seed)));
    columns.text("scenario", "name of the scenario", texts(rows, |row| Some(&row.result.scenario)));
    let hash = texts(rows, |row| Some(&row.result.scenario_hash));
    columns.text("scenario_hash", "SHA-256 of the scenario as it ran", hash);
    policies::add_columns(&mut columns, &rows.iter().map(|row| &row.policies[..]).collect::<Vec<_>>());
    columns.text("version", "version of prismux", texts(rows, |row| Some(&row.result.version)));
    let duration = rows.iter().map(|row| Some(row.result.duration_s));
    columns.float("duration_s", "s", "length of the run", duration);
    for quantity in TOTAL_QUANTITIES {
        let results = rows.iter().map(|row| Some(&row.result));
        columns.optional_quantity(quantity, &format!("total.{}", quantity.name), results);
    }
    let complete = rows.iter().map(|row| completion_s(&row.result.flows));
    columns.float("total.completion_s", "s", "time until the last transfer was complete", complete);
    named(&mut columns, rows, "flows", |result| &result.flows, FLOW_QUANTITIES);
    named(&mut columns, rows, "groups", |result| &result.groups, GROUP_QUANTITIES);
    named(&mut columns, rows, "links", |result| &result.links, LINK_QUANTITIES);
    counters(&mut columns, rows);
    columns.finish(metadata)
}

/// Path and unit of every axis: of those given, and of those that only rows know. No unit where a value is no quantity.
fn axis_columns(axes: &[Axis], rows: &[Row]) -> Vec<(String, Option<&'static str>)> {
    let mut all: Vec<(String, Vec<&str>)> = axes
        .iter()
        .map(|axis| (axis.path.clone(), axis.values.iter().map(String::as_str).collect()))
        .collect();
    for (path, value) in rows.iter().flat_map(|row| &row.values) {
        match all.iter_mut().find(|(other, _)| other == path) {
            Some((_, values)) => values.push(value),
            None => all.push((path.clone(), vec![value])),
        }
    }
    let unit = |values: Vec<&str>| {
        let units: HashSet<Option<&'static str>> =
            values.into_iter().map(|value| in_base_unit(value).map(|(_, unit)| unit)).collect();
        match units.into_iter().collect::<Vec<_>>()[..] {
            [unit] => unit,
            _ => None,
        }
    };
    all.into_iter().map(|(path, values)| (path, unit(values))).collect()
}

/// A column of doubles; nothing but unknown values where there is no such column.
pub fn column(table: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    match table.column_by_name(name).and_then(|column| column.as_primitive_opt::<Float64Type>()) {
        Some(values) => values.iter().collect(),
        None => vec![None; table.num_rows()],
    }
}

fn texts<'a>(
    rows: &'a [Row],
    of: impl Fn(&'a Row) -> Option<&'a String>,
) -> impl Iterator<Item = Option<&'a str>> {
    rows.iter().map(move |row| of(row).map(String::as_str))
}

/// Columns of the flows or links, for every name that some row has.
fn named<T>(
    columns: &mut Columns,
    rows: &[Row],
    section: &str,
    of: impl Fn(&RunResult) -> &Named<T>,
    quantities: &[Quantity<T>],
) {
    for name in union(rows.iter().map(|row| of(&row.result))) {
        for quantity in quantities {
            let column = match (section, quantity.name) {
                ("flows", "bytes") => "delivered_bytes",
                (_, name) => name,
            };
            let values = || rows.iter().map(|row| of(&row.result).get(name));
            let is_known = || values().flatten().any(|value| quantity.is_known(value));
            if quantity.is_rare && !is_known() {
                continue;
            }
            let values = values();
            columns.optional_quantity(quantity, &format!("{section}.{name}.{column}"), values);
        }
    }
}

/// Columns of the counters that nodes keep.
fn counters(columns: &mut Columns, rows: &[Row]) {
    for node in union(rows.iter().map(|row| &row.result.nodes)) {
        let of_node = |row| -> Option<&Named<u64>> { Row::result_of(row).nodes.get(node) };
        for counter in union(rows.iter().filter_map(of_node)) {
            let values = rows.iter().map(|row| of_node(row).and_then(|node| node.get(counter)).copied());
            columns.whole(&format!("nodes.{node}.{counter}"), "1", "counter of a node", values);
        }
    }
}

impl Row {
    fn result_of(row: &Self) -> &RunResult {
        &row.result
    }
}

/// The keys of all maps, each once, in order of first appearance.
fn union<'a, T: 'a>(maps: impl Iterator<Item = &'a Named<T>>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    maps.flat_map(|map| map.keys()).map(String::as_str).filter(|key| seen.insert(*key)).collect()
}
