//! Errors, as Python raises them.

use crate::scenario::Diagnostic;
use prismux_plan::Unsupported;
use prismux_study::run::RunError as NoResult;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    prismux,
    ScenarioError,
    PyValueError,
    "A scenario is wrong. The text is what the command line prints: place, what was found, what was expected, \
        what to do.\n\n\
     `diagnostics` holds the findings one by one."
);
pyo3::create_exception!(prismux, RunError, PyRuntimeError, "A run could not be done.");
pyo3::create_exception!(
    prismux,
    SweepFileError,
    PyOSError,
    "The results of a sweep cannot be read or written; the text says which file, and why."
);

/// A faulty scenario, with its findings.
pub(crate) fn scenario_error(py: Python<'_>, error: &prismux_scenario::ScenarioError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let diagnostics: Vec<Diagnostic> = error.diagnostics.iter().cloned().map(Diagnostic::from).collect();
    match raised.value(py).setattr("diagnostics", diagnostics) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// A scenario that the backend cannot run.
pub(crate) fn unsupported(py: Python<'_>, what: &Unsupported) -> PyErr {
    let raised = ScenarioError::new_err(what.to_string());
    let none: Vec<Diagnostic> = Vec::new();
    match raised.value(py).setattr("diagnostics", none) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// A run without a result.
pub(crate) fn run_error(py: Python<'_>, error: &NoResult) -> PyErr {
    match error {
        NoResult::Unsupported(what) => unsupported(py, what),
        NoResult::Failed(why) => RunError::new_err(why.to_string()),
        NoResult::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}
