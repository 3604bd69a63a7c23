//! The tasks of a sweep: every point of the axes, with every seed, checked before the first one runs.

use super::axis::Axis;
use prismux_plan::Unsupported;
use prismux_scenario::{Scenario, ScenarioError, ScenarioFile, canonical};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
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
}

/// One run of a sweep.
#[derive(Debug, Clone)]
pub struct Task {
    /// SHA-256 (hex) of everything that decides the row: version, backend, canonical scenario, seed, point.
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
/// [`PlanError`] for the first point whose scenario is wrong or cannot be simulated.
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
            let point = Arc::new(point(&request.file, &request.set, variant, values)?);
            let canonical = canonical(&point.scenario.plan);
            tasks.extend((0..request.seeds).map(|k| {
                let seed = request.first_seed.wrapping_add(k);
                Task { id: task_id(&canonical, &point, seed), point: point.clone(), seed }
            }));
        }
    }
    Ok(tasks)
}

fn point(
    file: &ScenarioFile,
    set: &[String],
    variant: Option<&str>,
    values: Vec<(String, String)>,
) -> Result<Point, PlanError> {
    let moved: Vec<String> = values.iter().map(|(path, value)| format!("{path}={value}")).collect();
    let all: Vec<&str> = set.iter().chain(&moved).map(String::as_str).collect();
    let scenario = file.scenario(variant, &all).map_err(PlanError::Scenario)?;
    prismux_simulator::check_supported(&scenario.plan).map_err(PlanError::Unsupported)?;
    Ok(Point { variant: variant.map(str::to_string), values, scenario })
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
    let mut hash = Sha256::new();
    // Every part is preceded by its length, so that no two lists of parts are the same bytes.
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    };
    add("prismux task 1");
    add(env!("CARGO_PKG_VERSION"));
    add("sim");
    add(canonical);
    add(&seed.to_string());
    add(point.variant.as_deref().unwrap_or(""));
    for (path, value) in &point.values {
        add(path);
        add(value);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
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
        let file = ScenarioFile::from_text(&self.name, &self.text).in_folder(self.folder.as_deref());
        let point = point(&file, &self.set, self.variant.as_deref(), self.values.clone())?;
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
