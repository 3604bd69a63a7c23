//! Runs, without the interpreter's lock and stopped by Ctrl-C.

use crate::arguments;
use crate::dictionary;
use crate::error::{run_error, scenario_error, unsupported};
use crate::policies::Policies;
use crate::policy::{Asked, Decisions};
use crate::result::{Comparison, Decided, RunResult};
use crate::scenario::file_of;
use prismux_plan::Unsupported;
use prismux_scenario::Scenario;
use prismux_scenario::registry::Backend;
use prismux_study::policies::{at_work, refuse_idle};
use prismux_study::run::{RunError, RunOptions, Watch};
use prismux_study::{compare as study, jobs, run as single, variant};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked for while a run is under way.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Does `work` on a thread of its own without the interpreter's lock, and looks for signals meanwhile, and reports. A
/// signal whose handler raises (Ctrl-C), or a report that does, sets the flag that `work` is given, and is raised
/// once `work` has stopped.
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    report: &(dyn Fn() -> PyResult<()> + Sync),
    work: impl FnOnce(Arc<AtomicBool>) -> R + Send,
) -> PyResult<R> {
    let flag = Arc::new(AtomicBool::new(false));
    let for_work = flag.clone();
    py.detach(|| {
        let (done, wait) = channel();
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = work(for_work);
                // The receiver outlives this thread.
                let _ = done.send(());
                result
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(SIGNAL_INTERVAL) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals()).and_then(|()| report())
                {
                    flag.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            let result = worker.join().map_err(|_| PyRuntimeError::new_err("the run panicked"))?;
            raised.map_or(Ok(result), Err)
        })
    })
}

/// Does `work`, one run, on the thread that called, without the interpreter's lock. The run itself looks for signals:
/// a thread of its own, as [`interruptible`] takes, would cost a short run several percent of its processor time.
fn in_place<R>(py: Python<'_>, flag: &Arc<AtomicBool>, work: impl FnOnce(Watch) -> R + Send) -> PyResult<R>
where
    R: Send,
{
    let raised = Arc::new(Mutex::new(None));
    let watch = signals(flag.clone(), raised.clone());
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(watch))));
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let result = result.map_err(|_| PyRuntimeError::new_err("the run panicked"))?;
    raised.map_or(Ok(result), Err)
}

/// Looks for signals at intervals; what the handler of one raises goes to `raised` and ends the run by `flag`.
fn signals(flag: Arc<AtomicBool>, raised: Arc<Mutex<Option<PyErr>>>) -> Watch {
    let looked = Mutex::new(Instant::now());
    Watch::new(move || {
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < SIGNAL_INTERVAL {
            return;
        }
        *looked = Instant::now();
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            flag.store(true, Ordering::Relaxed);
        }
    })
}

fn simulator_only(py: Python<'_>, on: &str) -> PyResult<Backend> {
    match on {
        "sim" => Ok(Backend::Sim),
        _ => Err(unsupported(
            py,
            &Unsupported {
                what: format!("on: \"{on}\" cannot be run from Python"),
                remedy: "use on=\"sim\"; the lab needs a process of its own: `prismux run FILE --on lab \
                    --json`, whose output \
                         RunResult.from_json reads"
                    .to_string(),
            },
        )),
    }
}

/// Runs a scenario once and returns what it measured.
///
/// `scenario` is a Scenario, a path, or the name of a shipped scenario; `set` changes values ({"links.wwan2.delay":
/// "900ms"}). With `record` a record of the run is written to that folder, for `prismux view`; with `pcap` a capture
/// of every link to that folder; with `events` every event of the run to that file. Other threads of Python run
/// meanwhile; Ctrl-C stops the run.
///
/// `scheduler` picks the link for each packet at every proxy, in place of the scheduler that the scenario names. It
/// is a function, `scheduler(now_s, links, packet_bytes, retransmission)`, or a class that is called with the name of
/// the proxy and whose objects have `choose(links, packet)`, which sees connection, sequence number, window and
/// deadline in a PacketView. Both get a list of LinkView and return one of them, None to wait until an
/// acknowledgement changes the links, or a later time of the run in seconds (a float) to wait until then. A packet
/// whose deadline has come, and one that the proxy cannot keep, leaves over the link with the least hRTT.
///
/// `congestion` is called for each sender of TCP and returns its congestion control, in place of the one that the
/// scenario names: an object with `on_ack(ack, window)`, which gets an AckView and a WindowView and returns the new
/// window in bytes, and `on_congestion(signal, window)`, which gets "loss", "ecn-mark" or "timeout" and returns the
/// new threshold in bytes. When to fall, what to repeat and whether a loss was none stay with TCP. An object with
/// `on_rate(rate, window)` sets the window itself, in every phase, from a RateView of each acknowledgement. The
/// attribute `pacing_rate_bps`, where an object has it, says at which rate segments leave. A dictionary gives flows,
/// or groups of them, controls of their own; the others keep theirs.
///
/// `subflow_scheduler` is called with the name of each flow over MPTCP and returns its scheduler: an object with
/// `choose(subflows, offer)`, which gets a list of SubflowView and an OfferView and returns one of the subflows, or
/// None to wait. `pipe_scheduler` is the same for each flow over pTCP, with a list of PipeView and a PipeOfferView.
/// `request_scheduler` is called with the name of each flow over R²CP and returns an object with `choose(pipes,
/// request)`, which gets a list of RequestPipeView and a RequestView and returns which of the segments that no pipe
/// was asked for the pipe asks for, counted from 0, or None to wait.
///
/// Each of them may be a text that says where to import it from, "module:name". An exception in one ends the run and
/// is raised; one that would have nothing to do is refused. Such a result has no scenario hash, since the scenario
/// alone does not say what ran.
///
/// Raises ScenarioError for a scenario that is wrong, RunError for a run that fails.
#[pyfunction]
#[pyo3(signature = (scenario, *, seed=1, set=None, variant=None, on="sim", record=None, pcap=None,
    events=None, scheduler=None, congestion=None, subflow_scheduler=None, pipe_scheduler=None,
    request_scheduler=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    set: Option<&Bound<'_, PyAny>>,
    variant: Option<&str>,
    on: &str,
    record: Option<PathBuf>,
    pcap: Option<PathBuf>,
    events: Option<PathBuf>,
    scheduler: Option<&Bound<'_, PyAny>>,
    congestion: Option<&Bound<'_, PyAny>>,
    subflow_scheduler: Option<&Bound<'_, PyAny>>,
    pipe_scheduler: Option<&Bound<'_, PyAny>>,
    request_scheduler: Option<&Bound<'_, PyAny>>,
) -> PyResult<RunResult> {
    let backend = simulator_only(py, on)?;
    let set = dictionary::overrides(set)?;
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let file = file_of(scenario)?;
    let scenario = file.scenario(variant, &set).map_err(|error| scenario_error(py, &error))?;
    let policies =
        Policies::new(scheduler, congestion, subflow_scheduler, pipe_scheduler, request_scheduler)?;
    let decisions = Arc::new(Mutex::new(Decisions::default()));
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Asked { decisions: decisions.clone(), stop: flag.clone() };
    let policies = policies.make(py, &asked);
    let options = RunOptions { seed, record, pcap, events, policies, ..RunOptions::default() };
    let result = in_place(py, &flag, |watch| {
        let (interrupt, watch) = (Some(flag.clone()), Some(watch));
        single::run(&scenario, backend, &RunOptions { interrupt, watch, ..options })
    })?;
    let mut decisions = decisions.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(raised) = decisions.raised.take() {
        return Err(raised);
    }
    let decided = (decisions.count > 0)
        .then(|| Decided { count: decisions.count, seconds: decisions.time.as_secs_f64() });
    result.map(|result| RunResult(result, decided)).map_err(|error| run_error(py, &error))
}

/// Runs the variants of a scenario with the same seeds and returns them side by side.
///
/// `variants` are those of the file, else "single", "striping", "prism" and "tcp-prism"; a name may end in "-cubic"
/// or "-newreno". `runs` seeds from `seed` on; `jobs` runs at the same time, by default one for each processor.
/// Policies are as for `run`, and serve the variants in which they have something
/// to do; the table's columns `policy` and `policy_hash` say which, and of what source. Ctrl-C stops it.
///
/// Raises ScenarioError for a scenario or a variant that is wrong, and for a policy that no variant has a use for.
#[pyfunction]
#[pyo3(signature = (scenario, *, variants=None, seed=1, runs=1, set=None, jobs=None, scheduler=None, congestion=None,
    subflow_scheduler=None, pipe_scheduler=None, request_scheduler=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn compare(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    variants: Option<Vec<String>>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    runs: u64,
    set: Option<&Bound<'_, PyAny>>,
    jobs: Option<usize>,
    scheduler: Option<&Bound<'_, PyAny>>,
    congestion: Option<&Bound<'_, PyAny>>,
    subflow_scheduler: Option<&Bound<'_, PyAny>>,
    pipe_scheduler: Option<&Bound<'_, PyAny>>,
    request_scheduler: Option<&Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let policies =
        Policies::new(scheduler, congestion, subflow_scheduler, pipe_scheduler, request_scheduler)?;
    let decisions = Arc::new(Mutex::new(Decisions::default()));
    let set = dictionary::overrides(set)?;
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let file = file_of(scenario)?;
    let variants = variant::variants(&file, &variants.unwrap_or_default(), &set, Backend::Sim)
        .map_err(|error| scenario_error(py, &error))?;
    let candidates = variants.iter().flat_map(|variant| &variant.candidates);
    let plans = candidates.map(|candidate| &candidate.scenario.plan);
    refuse_idle(&policies.roles(), plans).map_err(|what| unsupported(py, &what))?;
    let names = policies.names(py)?;
    let seeds: Vec<u64> = (0..runs).map(|run| seed.wrapping_add(run)).collect();
    let parallel = jobs.unwrap_or_else(jobs::processors);
    let outcomes = interruptible(py, &|| Ok(()), |flag| {
        let once = |scenario: &Scenario, seed| -> Result<_, RunError> {
            let asked = Asked { decisions: decisions.clone(), stop: flag.clone() };
            let made = Python::attach(|py| policies.make(py, &asked));
            let (interrupt, policies) = (Some(flag.clone()), at_work(&made, &scenario.plan));
            let options = RunOptions { seed, interrupt, policies, ..RunOptions::default() };
            single::run(scenario, Backend::Sim, &options)
        };
        study::compete(&variants, &seeds, parallel, once, || ())
    })?;
    if let Some(raised) = decisions.lock().unwrap_or_else(PoisonError::into_inner).raised.take() {
        return Err(raised);
    }
    let mut outcomes = outcomes.map_err(|error| run_error(py, &error))?;
    study::note_policies(&mut outcomes, &variants, &names);
    Ok(Comparison(outcomes))
}
