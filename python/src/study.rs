//! Published claims and random mixes, judged and simulated by the crate `study`; both answers leave as JSON.

use crate::arguments;
use crate::error::{run_error, scenario_error};
use crate::run::interruptible;
use prismux_plan::registry::{HYSTART, value_of};
use prismux_study::claims::report::to_json;
use prismux_study::claims::{self, ClaimsError, ClaimsRequest, Unwatched};
use prismux_study::jobs::processors;
use prismux_study::mixes::evaluation::{self, VARIANTS};
use prismux_study::mixes::run::MixesPlan;
use prismux_study::run::RunError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;

/// Does the runs that the claims of `name` need and returns the verdicts, the tables and the curves as JSON.
#[pyfunction]
#[pyo3(signature = (name, *, only, quick, seeds, jobs))]
pub(crate) fn claims_json(
    py: Python<'_>,
    name: &str,
    only: Vec<String>,
    quick: bool,
    seeds: Option<u64>,
    jobs: Option<usize>,
) -> PyResult<String> {
    let request = ClaimsRequest { only, quick, seeds, jobs, curves: true, ..ClaimsRequest::new(name) };
    let reports = interruptible(py, &|| Ok(()), |flag| {
        claims::judge(&ClaimsRequest { interrupt: Some(flag), ..request.clone() }, &Unwatched)
    })?;
    reports.map(|reports| to_json(&reports)).map_err(|error| claims_error(py, &error))
}

fn claims_error(py: Python<'_>, error: &ClaimsError) -> PyErr {
    match error {
        ClaimsError::Usage(what) => PyValueError::new_err(what.clone()),
        ClaimsError::Scenario(error) => scenario_error(py, error),
        ClaimsError::Run(error) => run_error(py, error),
        ClaimsError::Write { .. } => PyOSError::new_err(error.to_string()),
        ClaimsError::MissingScenario(_) | ClaimsError::Table(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Simulates `variants` of the mixes with these numbers and returns what came of them as JSON.
#[pyfunction]
#[pyo3(signature = (numbers, *, seed, variants, warm_s, steady_s, receive_buffer_bytes, hystart, jobs))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn mixes_json(
    py: Python<'_>,
    numbers: Vec<u32>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    variants: Vec<String>,
    warm_s: u64,
    steady_s: u64,
    receive_buffer_bytes: u64,
    hystart: &str,
    jobs: Option<usize>,
) -> PyResult<String> {
    if let Some(unknown) = variants.iter().find(|name| !VARIANTS.contains(&name.as_str())) {
        let expected = VARIANTS.join(", ");
        return Err(PyValueError::new_err(format!(
            "there is no variant \"{unknown}\"\n  expected: {expected}"
        )));
    }
    if steady_s == 0 {
        return Err(PyValueError::new_err(
            "the steady state needs at least one second\n  expected: steady_s >= 1",
        ));
    }
    let Some(hystart) = value_of(HYSTART, hystart) else {
        let expected = HYSTART.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        return Err(PyValueError::new_err(format!(
            "there is no hystart \"{hystart}\"\n  expected: {expected}"
        )));
    };
    let plan = MixesPlan { seed, warm_s, steady_s, receive_buffer_bytes, hystart };
    let mixes = evaluation::draw(seed, numbers);
    let evaluated = interruptible(py, &|| Ok(()), |flag| {
        let go_on = || if flag.load(Ordering::Relaxed) { Err(RunError::Interrupted) } else { Ok(()) };
        evaluation::evaluate(&mixes, &variants, &plan, jobs.unwrap_or_else(processors), go_on, || ())
    })?;
    let evaluation = evaluated.map_err(|error| run_error(py, &error))?;
    serde_json::to_string(&evaluation).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
