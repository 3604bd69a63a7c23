//! Arguments that several functions take.
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// A seed; what is no whole number raises TypeError, as everywhere.
pub(crate) fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|error: PyErr| {
        if !error.is_instance_of::<PyOverflowError>(value.py()) {
            return error;
        }
        let most = u64::MAX;
        PyValueError::new_err(format!(
            "seed {value}: give a whole number from 0 to {most}; any will do, 1 is the default"
        ))
    })
}
