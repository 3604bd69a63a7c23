//! Policies that do not take what they are called with.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The exception of a call of `called` with arguments of the names `given`, in words where the call itself could not
/// be; else as it is. Asked only after an exception: a signature is slow to read.
pub(crate) fn explained(called: PyResult<Bound<'_, PyAny>>, given: &[&str], raised: PyErr) -> PyErr {
    let Ok(called) = called else { return raised };
    if !raised.is_instance_of::<PyTypeError>(called.py()) {
        return raised;
    }
    match mismatch(&called, given) {
        Ok(Some(words)) => {
            let clearer = PyTypeError::new_err(words);
            clearer.set_cause(called.py(), Some(raised));
            clearer
        }
        // What has no signature cannot be told from its body.
        Ok(None) | Err(_) => raised,
    }
}

/// Says of a callable whose signature refuses `given` what it takes; None where it takes them.
fn mismatch(called: &Bound<'_, PyAny>, given: &[&str]) -> PyResult<Option<String>> {
    let py = called.py();
    let signature = py.import("inspect")?.call_method1("signature", (called,))?;
    let Err(refused) = signature.call_method1("bind", PyTuple::new(py, given)?) else { return Ok(None) };
    let full = match called.getattr("__qualname__") {
        Ok(name) => name.to_string(),
        Err(_) => called.repr()?.to_string(),
    };
    let name = full.rsplit("<locals>.").next().unwrap_or(&full);
    Ok(Some(format!(
        "{name}{signature} takes other arguments than it is called with: {}\n  called with: {name}({})",
        refused.value(py),
        given.join(", ")
    )))
}
