//! Scenarios: the same texts, schema and messages as on the command line.

use crate::dictionary;
use crate::error::scenario_error;
use prismux_scenario::{ScenarioFile, diagnostic};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A scenario: nodes, links, flows and events, read and found to be without mistakes.
#[pyclass(frozen, module = "prismux")]
pub(crate) struct Scenario {
    pub(crate) file: ScenarioFile,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file.
    ///
    /// Raises ScenarioError, with line and hint, for a file that is missing or wrong.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::read(py, ScenarioFile::open(&path).map_err(|error| scenario_error(py, &error))?)
    }

    /// A scenario from its text; messages call it `name`.
    ///
    /// Raises ScenarioError, with line and hint, for a text that is wrong.
    #[staticmethod]
    #[pyo3(signature = (text, name="scenario.toml"))]
    fn from_text(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        Self::read(py, ScenarioFile::from_text(name, text))
    }

    /// A scenario from a dictionary with the tables and keys of a scenario file.
    ///
    /// Lines in messages are those of `text`, the file that says the same. Raises ScenarioError for what a file may not
    /// say, and TypeError for a value that cannot stand in a file.
    #[staticmethod]
    #[pyo3(signature = (dictionary, name="scenario.toml"))]
    fn from_dict(py: Python<'_>, dictionary: &Bound<'_, PyDict>, name: &str) -> PyResult<Self> {
        Self::read(py, ScenarioFile::from_text(name, dictionary::to_text(dictionary)?))
    }

    /// The file at a path, or the scenario of this name that ships with prismux.
    ///
    /// Raises ScenarioError when there is neither, or for a file that is wrong.
    #[staticmethod]
    fn find(py: Python<'_>, name: &str) -> PyResult<Self> {
        Self::read(py, ScenarioFile::find(name).map_err(|error| scenario_error(py, &error))?)
    }

    /// Name of the experiment.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.scenario(py, None, &[])?.plan.name)
    }

    /// One line about what it shows.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.scenario(py, None, &[])?.summary)
    }

    /// Longest duration of a run, in seconds.
    #[getter]
    fn duration_s(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.scenario(py, None, &[])?.plan.duration.as_secs_f64())
    }

    /// The text as a file would have it.
    #[getter]
    fn text(&self) -> &str {
        self.file.text()
    }

    /// The variants that the scenario declares, with their summaries.
    #[getter]
    fn variants(&self, py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
        let variants = self.scenario(py, None, &[])?.variants;
        Ok(variants.into_iter().map(|variant| (variant.name, variant.summary)).collect())
    }

    /// SHA-256 of the canonical form, after a variant and overrides: equal experiments have equal hashes.
    #[pyo3(signature = (*, variant=None, set=None))]
    fn hash(
        &self,
        py: Python<'_>,
        variant: Option<&str>,
        set: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let set = dictionary::overrides(set)?;
        Ok(prismux_scenario::hash(&self.scenario(py, variant, &set)?.plan))
    }

    /// The canonical form, after a variant and overrides: every setting with its default, one `path = value` on a line.
    #[pyo3(signature = (*, variant=None, set=None))]
    fn canonical(
        &self,
        py: Python<'_>,
        variant: Option<&str>,
        set: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let set = dictionary::overrides(set)?;
        Ok(prismux_scenario::canonical(&self.scenario(py, variant, &set)?.plan))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.scenario(py, None, &[])?;
        Ok(format!(
            "<prismux.Scenario {:?}: {} nodes, {} links, {} flows, {}>",
            scenario.plan.name,
            scenario.plan.nodes.len(),
            scenario.plan.links.len(),
            scenario.plan.flows.len(),
            scenario.plan.duration
        ))
    }
}

impl Scenario {
    /// Reads the file once, so that mistakes show at once.
    fn read(py: Python<'_>, file: ScenarioFile) -> PyResult<Self> {
        let scenario = Self { file };
        scenario.scenario(py, None, &[])?;
        Ok(scenario)
    }

    /// What a variant and overrides make of the file.
    pub(crate) fn scenario(
        &self,
        py: Python<'_>,
        variant: Option<&str>,
        set: &[String],
    ) -> PyResult<prismux_scenario::Scenario> {
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        self.file.scenario(variant, &set).map_err(|error| scenario_error(py, &error))
    }
}

/// A scenario, or what finds one: a path, or the name of a shipped scenario.
pub(crate) fn file_of(scenario: &Bound<'_, PyAny>) -> PyResult<ScenarioFile> {
    let py = scenario.py();
    if let Ok(scenario) = scenario.cast::<Scenario>() {
        return Ok(scenario.get().file.clone());
    }
    if scenario.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(
            "scenario: expected a name, a path or a Scenario, not a dictionary\n  \
             remedy: prismux.Scenario.from_dict(...) makes a Scenario of it",
        ));
    }
    let found = match scenario.extract::<String>() {
        Ok(name) => ScenarioFile::find(&name),
        Err(_) => ScenarioFile::open(&scenario.extract::<PathBuf>()?),
    };
    found.map_err(|error| scenario_error(py, &error))
}

/// The scenarios that ship with prismux: name and summary.
#[pyfunction]
pub(crate) fn shipped(py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
    let entry = |shipped: &prismux_scenario::shipped::Shipped| {
        let scenario = shipped.file().scenario(None, &[]).map_err(|error| scenario_error(py, &error))?;
        Ok((shipped.name.to_string(), scenario.summary))
    };
    prismux_scenario::shipped::ALL.iter().map(entry).collect()
}

/// One thing wrong with a scenario.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct Diagnostic {
    /// The file, as it was named; None for an override.
    file: Option<String>,
    /// Line of the file, counted from 1; None for an override or the file as a whole.
    line: Option<usize>,
    /// Where: file with line and column, or the override.
    location: String,
    /// Dotted key it is about, such as `links.wwan2.delay`; empty for the file as a whole.
    key: String,
    /// What was found.
    found: String,
    /// What was expected instead.
    expected: String,
    /// What to do.
    hint: Option<String>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        format!("<prismux.Diagnostic {}: {}: {}>", self.location, self.key, self.found)
    }
}

impl From<diagnostic::Diagnostic> for Diagnostic {
    fn from(from: diagnostic::Diagnostic) -> Self {
        let is_override = from.location.starts_with("--set '") || from.location.starts_with("override '");
        let path = match from.line {
            0 => from.location.as_str(),
            // "two.toml:12:9"
            _ => from.location.rsplitn(3, ':').nth(2).unwrap_or(&from.location),
        };
        Self {
            file: (!is_override).then(|| Path::new(path).display().to_string()),
            line: (from.line > 0).then_some(from.line),
            location: from.location,
            key: from.key,
            found: from.found,
            expected: from.expected,
            hint: from.remedy,
        }
    }
}
