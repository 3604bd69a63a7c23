//! The tasks of a sweep: every point of the axes, with every seed, checked before the first one runs.

use super::axis::Axis;
use crate::digest;
use crate::policies::{self, PolicyName};
use prismux_plan::Unsupported;
use prismux_scenario::{Scenario, ScenarioError, ScenarioFile, canonical};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What a sweep is to do.
#[derive(Debug, Clone)]
pub struct SweepRequest {
    /// The scenario.
    pub file: ScenarioFile,
    /// Overrides of every run, `path=value`.
    pub set: Vec<String>,
    /// Variants of the file, each at every point; empty for the file as it is.
    pub variants: Vec<String>,
    /// What varies; the last axis varies fastest.
    pub axes: Vec<Axis>,
    /// First seed.
    pub first_seed: u64,
    /// Number of seeds at each point.
    pub seeds: u64,
    /// Policies from outside, which decide wherever they have something to do.
    pub policies: Vec<PolicyName>,
}

/// One run of a sweep.
#[derive(Debug, Clone)]
pub struct Task {
    /// SHA-256 (hex) of everything that decides the row: version, backend, canonical scenario, seed, point, policies.
    pub id: String,
    /// Where on the axes, and how it is run.
    pub point: Arc<Point>,
    /// Seed of every random stream.
    pub seed: u64,
}

/// A point of the axes.
#[derive(Debug, Clone)]
pub struct Point {
    /// Variant of the file.
    pub variant: Option<String>,
    /// Path and value on each axis.
    pub values: Vec<(String, String)>,
    /// What runs here.
    pub scenario: Scenario,
    /// The policies from outside that have something to do here.
    pub policies: Vec<PolicyName>,
}

/// A task in words that another process understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskMessage {
    /// The task's id, which the other side must find as well.
    pub id: String,
    /// Name of the scenario file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where relative file names in it start.
    pub folder: Option<String>,
    /// Overrides of every run.
    pub set: Vec<String>,
    /// Variant of the file.
    pub variant: Option<String>,
    /// Path and value on each axis.
    pub values: Vec<(String, String)>,
    /// Seed.
    pub seed: u64,
    /// Policies from outside, those without anything to do at the point too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyName>,
}

/// Why a sweep cannot begin.
#[derive(Debug)]
pub enum PlanError {
    /// A point's scenario is wrong.
    Scenario(ScenarioError),
    /// A point asks for what the simulator does not have.
    Unsupported(Unsupported),
    /// The sweep as a whole makes no sense.
    Sweep(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Unsupported(what) => what.fmt(f),
            Self::Sweep(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for PlanError {}

/// Every task of a sweep, in order: by variant, then by axes, then by seed.
///
/// # Errors
/// [`PlanError`] for the first point whose scenario is wrong or cannot be simulated, and for a policy that has
/// nothing to do at any point.
pub fn plan(request: &SweepRequest) -> Result<Vec<Task>, PlanError> {
    if request.seeds == 0 {
        return Err(PlanError::Sweep("a sweep needs at least one seed".to_string()));
    }
    let mut paths: Vec<&str> = request.axes.iter().map(|axis| axis.path.as_str()).collect();
    paths.sort_unstable();
    if let Some(pair) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PlanError::Sweep(format!("\"{}\" varies twice: give all its values at once", pair[0])));
    }
    let mut variants: Vec<Option<&str>> = request.variants.iter().map(|name| Some(name.as_str())).collect();
    if variants.is_empty() {
        variants.push(None);
    }
    let mut tasks = Vec::new();
    for variant in variants {
        for values in grid(&request.axes) {
            let point = Arc::new(point(request, variant, values)?);
            let canonical = canonical(&point.scenario.plan);
            tasks.extend((0..request.seeds).map(|k| {
                let seed = request.first_seed.wrapping_add(k);
                Task { id: task_id(&canonical, &point, seed), point: point.clone(), seed }
            }));
        }
    }
    let roles: Vec<_> = request.policies.iter().filter_map(|policy| policy.role.parse().ok()).collect();
    let plans = tasks.iter().map(|task| &task.point.scenario.plan);
    policies::refuse_idle(&roles, plans).map_err(PlanError::Unsupported)?;
    Ok(tasks)
}

fn point(
    request: &SweepRequest,
    variant: Option<&str>,
    values: Vec<(String, String)>,
) -> Result<Point, PlanError> {
    let moved: Vec<String> = values.iter().map(|(path, value)| format!("{path}={value}")).collect();
    let all: Vec<&str> = request.set.iter().chain(&moved).map(String::as_str).collect();
    let scenario = request.file.scenario(variant, &all).map_err(PlanError::Scenario)?;
    prismux_simulator::check_supported(&scenario.plan).map_err(PlanError::Unsupported)?;
    let policies = policies::useful(&request.policies, &scenario.plan);
    Ok(Point { variant: variant.map(str::to_string), values, scenario, policies })
}

/// Every combination of the axes' values, the last axis fastest.
fn grid(axes: &[Axis]) -> Vec<Vec<(String, String)>> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let extended = points.iter().flat_map(|point: &Vec<(String, String)>| {
            axis.values.iter().map(move |value| {
                let mut point = point.clone();
                point.push((axis.path.clone(), value.clone()));
                point
            })
        });
        extended.collect()
    })
}

fn task_id(canonical: &str, point: &Point, seed: u64) -> String {
    let seed = seed.to_string();
    let variant = point.variant.as_deref().unwrap_or("");
    let mut parts =
        vec!["prismux task 1", env!("CARGO_PKG_VERSION"), "sim", canonical, seed.as_str(), variant];
    parts.extend(point.values.iter().flat_map(|(path, value)| [path.as_str(), value.as_str()]));
    let policies = policies::hash(&point.policies);
    if !policies.is_empty() {
        parts.extend(["policies", policies.as_str()]);
    }
    digest::of_parts(parts)
}

impl Task {
    /// The task in words for another process.
    pub fn message(&self, request: &SweepRequest) -> TaskMessage {
        TaskMessage {
            id: self.id.clone(),
            name: request.file.name().to_string(),
            text: request.file.text().to_string(),
            folder: request.file.folder().map(|folder| folder.to_string_lossy().into_owned()),
            set: request.set.clone(),
            variant: self.point.variant.clone(),
            values: self.point.values.clone(),
            seed: self.seed,
            policies: request.policies.clone(),
        }
    }
}

impl TaskMessage {
    /// The task that the message describes.
    ///
    /// # Errors
    /// [`PlanError::Sweep`] when this process would give the task another id: another version, or another file behind a
    /// name. [`PlanError::Scenario`] and [`PlanError::Unsupported`] as in [`plan`].
    pub fn task(&self) -> Result<Task, PlanError> {
        let request = SweepRequest {
            file: ScenarioFile::from_text(&self.name, &self.text).in_folder(self.folder.as_deref()),
            set: self.set.clone(),
            variants: Vec::new(),
            axes: Vec::new(),
            first_seed: self.seed,
            seeds: 1,
            policies: self.policies.clone(),
        };
        let point = point(&request, self.variant.as_deref(), self.values.clone())?;
        let id = task_id(&canonical(&point.scenario.plan), &point, self.seed);
        if id != self.id {
            return Err(PlanError::Sweep(format!(
                "this process (prismux {}) makes another run of the task than the one that planned it\n  \
                    remedy: the same \
                 version of prismux, and the same trace files, on every machine",
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok(Task { id, point: Arc::new(point), seed: self.seed })
    }
}
