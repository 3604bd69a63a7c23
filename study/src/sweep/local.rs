//! The tasks of a sweep on the processors of this machine.

use super::plan::Task;
use super::rows::Row;
use super::store::{Store, StoreError};
use crate::jobs;
use crate::policies::{self, Policies};
use crate::run::{self, RunError, RunOptions};
use prismux_scenario::registry::Backend;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a sweep ended early. What was stored until then stays.
#[derive(Debug)]
pub enum SweepError {
    /// A run failed.
    Run {
        /// Its point and seed.
        what: String,
        /// Why.
        error: RunError,
    },
    /// Results could not be stored.
    Store(StoreError),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { what, error } => write!(f, "{what}: {error}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SweepError {}

/// Runs one task. Of `policies` those decide that the task names.
///
/// # Errors
/// As [`run::run`].
pub fn run_task(
    task: &Task,
    policies: &Policies,
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<Row, RunError> {
    let policies = policies::named(policies, &task.point.policies);
    let options = RunOptions { seed: task.seed, interrupt, policies, ..RunOptions::default() };
    run::run(&task.point.scenario, Backend::Sim, &options).map(|result| Row::new(task, result))
}

/// Runs those of `tasks` that `store` does not have, `parallel` at a time, with those of `policies` that they name.
/// `done` is called after each. Returns the time that all threads together spent in the runs themselves.
///
/// # Errors
/// [`SweepError`] for the first run that fails and for a full disk.
pub fn run(
    tasks: &[Task],
    policies: &Policies,
    store: &Mutex<Store>,
    parallel: usize,
    interrupt: &Arc<AtomicBool>,
    done: impl Fn() + Sync,
) -> Result<Duration, SweepError> {
    let missing: Vec<&Task> = {
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().filter(|task| !store.has(&task.id)).collect()
    };
    let busy_ns = AtomicU64::new(0);
    let work = |task: &&Task| {
        let start = Instant::now();
        let row = run_task(task, policies, Some(interrupt.clone()))
            .map_err(|error| SweepError::Run { what: describe(task), error })?;
        busy_ns.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
        store.add(row).map(|_| ()).map_err(SweepError::Store)
    };
    jobs::run(&missing, parallel, work, done)?;
    Ok(Duration::from_nanos(busy_ns.load(Ordering::Relaxed)))
}

/// The point and seed of a task in words.
fn describe(task: &Task) -> String {
    let values: Vec<String> =
        task.point.values.iter().map(|(path, value)| format!("{path}={value}")).collect();
    format!("the run at {} with seed {}", values.join(", "), task.seed)
}
