//! Where a policy written in Python comes from, and what stands there.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Where a policy comes from.
pub(crate) struct Source {
    /// `module:name`.
    pub path: String,
    /// The file of its module; None where there is none.
    pub source: Option<Vec<u8>>,
    /// Its attribute `version`, as text; empty without one.
    pub version: String,
}

/// Objects whose sources were looked at, with these: an object stays what it was when its module was loaded, whatever
/// becomes of the file.
static SEEN: Mutex<Vec<(Py<PyAny>, Vec<u8>)>> = Mutex::new(Vec::new());

/// Where `object` comes from: from `path`, if it was imported by one.
///
/// Raises ValueError where its file is another than when it was looked at first.
pub(crate) fn of(object: &Bound<'_, PyAny>, path: Option<&str>) -> PyResult<Source> {
    let text = |name: &str| object.getattr(name).ok().and_then(|value| value.extract::<String>().ok());
    let module = text("__module__").or_else(|| Some(path?.split_once(':')?.0.to_string()));
    let name = || text("__qualname__").unwrap_or_else(|| object.to_string());
    let in_words = || format!("{}:{}", module.as_deref().unwrap_or(""), name());
    let path = path.map_or_else(in_words, str::to_string);
    let source = module.as_deref().map_or(Ok(None), |module| file_of(object.py(), module))?;
    if let Some(source) = &source {
        refuse_stale(object, &path, source)?;
    }
    let version = object.getattr("version").ok().filter(|version| !version.is_callable());
    let version = version.map(|version| version.str().map(|text| text.to_string())).transpose()?;
    Ok(Source { path, source, version: version.unwrap_or_default() })
}

/// The source of the module called `module`; None for one that has no file of Python.
fn file_of(py: Python<'_>, module: &str) -> PyResult<Option<Vec<u8>>> {
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let Some(module) = modules.get_item(module)? else { return Ok(None) };
    let file: Option<String> = module.getattr("__file__").ok().and_then(|file| file.extract().ok());
    let is_source = |file: &String| Path::new(file).extension().is_some_and(|extension| extension == "py");
    Ok(file.filter(is_source).and_then(|file| std::fs::read(file).ok()))
}

fn refuse_stale(object: &Bound<'_, PyAny>, path: &str, source: &[u8]) -> PyResult<()> {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    match seen.iter().find(|(known, _)| known.is(object)) {
        Some((_, then)) if then != source => Err(PyValueError::new_err(format!(
            "the file of \"{path}\" has changed since it was imported, and what was imported has not\n  remedy: start \
             Python anew, or importlib.reload the module"
        ))),
        Some(_) => Ok(()),
        None => {
            seen.push((object.clone().unbind(), source.to_vec()));
            Ok(())
        }
    }
}
