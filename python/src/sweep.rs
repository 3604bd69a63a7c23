//! Sweeps: the pieces that `prismux.sweep` puts together, on this machine or on a cluster.

use crate::arguments;
use crate::dictionary;
use crate::error::{RunError, SweepFileError, run_error, scenario_error, unsupported};
use crate::policies::Policies;
use crate::policy::{Asked, Decisions};
use crate::run::interruptible;
use crate::scenario::file_of;
use crate::table::Table;
use prismux_study::jobs;
use prismux_study::sweep::{self, Axis, PlanError, SweepRequest, local, merge, parquet};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The tasks of a sweep, every one checked.
#[pyclass(frozen, module = "prismux")]
pub(crate) struct SweepPlan {
    request: SweepRequest,
    tasks: Vec<sweep::Task>,
    policies: Policies,
}

#[pymethods]
impl SweepPlan {
    /// Plans `seeds` runs at every point of `over`, which maps a path to a list of values or a range such as
    /// "500ms..1000ms/50ms". Policies are named by their import paths.
    #[new]
    #[pyo3(signature = (scenario, over, *, set=None, variants=None, seed=1, seeds=1, scheduler=None, congestion=None,
        subflow_scheduler=None, pipe_scheduler=None, request_scheduler=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, PyAny>,
        over: &Bound<'_, PyDict>,
        set: Option<&Bound<'_, PyAny>>,
        variants: Option<Vec<String>>,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
        seeds: u64,
        scheduler: Option<&Bound<'_, PyAny>>,
        congestion: Option<&Bound<'_, PyAny>>,
        subflow_scheduler: Option<&Bound<'_, PyAny>>,
        pipe_scheduler: Option<&Bound<'_, PyAny>>,
        request_scheduler: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let policies =
            Policies::new(scheduler, congestion, subflow_scheduler, pipe_scheduler, request_scheduler)?;
        let request = SweepRequest {
            file: file_of(scenario)?,
            set: dictionary::overrides(set)?,
            variants: variants.unwrap_or_default(),
            axes: axes(over)?,
            first_seed: seed,
            seeds,
            policies: policies.names_with_sources(py)?,
        };
        let tasks = sweep::plan(&request).map_err(|error| plan_error(py, error))?;
        Ok(Self { request, tasks, policies })
    }

    /// Name of the scenario.
    #[getter]
    fn scenario(&self) -> &str {
        &self.tasks[0].point.scenario.plan.name
    }

    /// Ids of the tasks, in order.
    #[getter]
    fn tasks(&self) -> Vec<&str> {
        self.tasks.iter().map(|task| task.id.as_str()).collect()
    }

    /// The task at an index in words for another process: what `run_task` takes.
    fn message(&self, index: usize) -> PyResult<String> {
        let task = self.tasks.get(index).ok_or_else(|| PyValueError::new_err("there is no such task"))?;
        serde_json::to_string(&task.message(&self.request))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Paths of `over` whose every value gives the same results in `table`.
    fn without_effect(&self, table: &Table) -> Vec<&str> {
        let axes = &self.request.axes;
        sweep::Effects::of(&table.0, axes).axes_without_effect(&self.tasks, axes)
    }

    fn __len__(&self) -> usize {
        self.tasks.len()
    }
}

/// Paths and values of the axes: lists as they are, texts in the notation of the command line.
fn axes(over: &Bound<'_, PyDict>) -> PyResult<Vec<Axis>> {
    let axis = |(path, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let path: String = path.extract()?;
        if let Ok(text) = values.cast::<PyString>() {
            let text = text.to_string();
            return Axis::of(&path, &text).map_err(|error| PyValueError::new_err(error.to_string()));
        }
        let values: PyResult<Vec<String>> =
            values.try_iter()?.map(|value| dictionary::setting(&value?, &path)).collect();
        match values? {
            values if values.is_empty() => {
                Err(PyValueError::new_err(format!("over: \"{path}\" has no values")))
            }
            values => Ok(Axis { path, values }),
        }
    };
    over.into_iter().map(axis).collect()
}

fn plan_error(py: Python<'_>, error: PlanError) -> PyErr {
    match error {
        PlanError::Scenario(error) => scenario_error(py, &error),
        PlanError::Unsupported(what) => unsupported(py, &what),
        PlanError::Sweep(what) => PyValueError::new_err(what),
    }
}

fn store_error(error: impl std::fmt::Display) -> PyErr {
    SweepFileError::new_err(error.to_string())
}

/// Results of a sweep on disk: what is there, and what comes.
#[pyclass(frozen, module = "prismux")]
pub(crate) struct SweepStore {
    /// None once it is finished.
    store: Mutex<Option<sweep::Store>>,
}

#[pymethods]
impl SweepStore {
    /// Opens the Parquet file at `path` for the results of `plan`, with what an interrupted sweep left there. Rows of
    /// other experiments there are removed with `prune`, kept with `keep`.
    ///
    /// Raises SweepFileError for a file that is damaged or foreign, that has rows of other experiments, or that another
    /// sweep writes to.
    #[new]
    #[pyo3(signature = (path, plan, *, prune=false, keep=false))]
    fn new(path: PathBuf, plan: &SweepPlan, prune: bool, keep: bool) -> PyResult<Self> {
        let others = match (prune, keep) {
            (true, true) => return Err(PyValueError::new_err("prune and keep contradict each other")),
            (true, false) => sweep::Others::Prune,
            (false, true) => sweep::Others::Keep,
            (false, false) => sweep::Others::Refuse,
        };
        let (axes, scenario) = (&plan.request.axes, plan.scenario());
        let store = sweep::Store::open(&path, axes, scenario, &plan.tasks, others).map_err(store_error)?;
        Ok(Self { store: Mutex::new(Some(store)) })
    }

    /// Indexes of the tasks of `plan` that are not there.
    fn missing(&self, plan: &SweepPlan) -> PyResult<Vec<usize>> {
        self.with(|store| {
            let missing = plan.tasks.iter().enumerate().filter(|(_, task)| !store.has(&task.id));
            Ok(missing.map(|(index, _)| index).collect())
        })
    }

    /// Adds a row that `run_task` returned; False if it was there.
    fn add(&self, row: &str) -> PyResult<bool> {
        let row = sweep::Row::from_json(row).map_err(PyValueError::new_err)?;
        self.with(|store| store.add(row).map_err(store_error))
    }

    /// Runs what is missing of `plan` on this machine, `jobs` at a time, and calls `progress` with the number of
    /// finished runs. Returns the seconds that all threads together spent in the runs. Ctrl-C stops it; what is
    /// stored stays.
    #[pyo3(signature = (plan, jobs=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        plan: &SweepPlan,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<f64> {
        let taken = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        let store = Mutex::new(taken.ok_or_else(finished)?);
        let parallel = jobs.unwrap_or_else(jobs::processors);
        let count = AtomicU64::new(0);
        let report = || tell(progress.as_ref(), count.load(Ordering::Relaxed));
        let decisions = Arc::new(Mutex::new(Decisions::default()));
        let outcome = interruptible(py, &report, |flag| {
            let asked = Asked { decisions: decisions.clone(), stop: flag.clone() };
            let policies = Python::attach(|py| plan.policies.make(py, &asked));
            local::run(&plan.tasks, &policies, &store, parallel, &flag, || {
                count.fetch_add(1, Ordering::Relaxed);
            })
        });
        // The rest of the sweep may still be done, also after an error.
        let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(store);
        let busy: Result<Duration, local::SweepError> = outcome?;
        raise(&decisions)?;
        report()?;
        busy.map(|busy| busy.as_secs_f64()).map_err(|error| match error {
            local::SweepError::Store(error) => store_error(error),
            local::SweepError::Run { what, error } => match run_error(py, &error) {
                interrupted if interrupted.is_instance_of::<PyKeyboardInterrupt>(py) => interrupted,
                _ => RunError::new_err(format!("{what}: {error}")),
            },
        })
    }

    /// Makes one file of the rows and returns those of the plan, in its order. The store is closed afterwards.
    fn finish(&self) -> PyResult<Table> {
        let taken = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(finished)?.finish().map(Table).map_err(store_error)
    }

    /// Closes the file and lets go of its lock; what is stored stays.
    fn close(&self) {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl SweepStore {
    fn with<R>(&self, work: impl FnOnce(&mut sweep::Store) -> PyResult<R>) -> PyResult<R> {
        work(self.store.lock().unwrap_or_else(PoisonError::into_inner).as_mut().ok_or_else(finished)?)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the store is closed")
}

/// What a policy raised in the course of runs.
fn raise(decisions: &Mutex<Decisions>) -> PyResult<()> {
    decisions.lock().unwrap_or_else(PoisonError::into_inner).raised.take().map_or(Ok(()), Err)
}

fn tell(progress: Option<&Py<PyAny>>, count: u64) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    Python::attach(|py| progress.call1(py, (count,)).map(|_| ()))
}

/// Runs the task of a message and returns its row: what a worker of a cluster does.
///
/// Raises ValueError where this process would make another run of it (another version of prismux, another source of a
/// policy).
#[pyfunction]
pub(crate) fn run_task(py: Python<'_>, message: &str) -> PyResult<String> {
    let message: sweep::TaskMessage = serde_json::from_str(message)
        .map_err(|error| PyValueError::new_err(format!("this is no task: {error}")))?;
    let task = message.task().map_err(|error| plan_error(py, error))?;
    let decisions = Arc::new(Mutex::new(Decisions::default()));
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Asked { decisions: decisions.clone(), stop: stop.clone() };
    let policies = Policies::named(py, &task.point.policies)?.make(py, &asked);
    // Workers of a cluster run tasks on threads of their own, where no signal arrives.
    let row = py.detach(|| local::run_task(&task, &policies, Some(stop)));
    raise(&decisions)?;
    row.map(|row| row.to_json()).map_err(|error| run_error(py, &error))
}

/// Reads the results of a sweep.
///
/// Raises SweepFileError, with the reason, for a file that is damaged or not the result of a sweep.
#[pyfunction]
pub(crate) fn read_sweep(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| parquet::read(&path)).map(Table).map_err(store_error)
}

/// Makes one file of the results of several sweeps and returns its rows; a task that is there twice counts once.
///
/// Raises SweepFileError for a file that is damaged or foreign, or whose columns do not fit the others'.
#[pyfunction]
pub(crate) fn merge_sweeps(py: Python<'_>, paths: Vec<PathBuf>, out: PathBuf) -> PyResult<Table> {
    py.detach(|| {
        let tables: Result<Vec<_>, _> = paths.iter().map(|path| parquet::read(path)).collect();
        let merged = merge::merge(&tables.map_err(store_error)?, &[]).map_err(store_error)?;
        parquet::write(&out, &merged).map_err(store_error)?;
        Ok(Table(merged))
    })
}
