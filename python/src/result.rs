//! Results: plain attributes, tables, and the JSON form that the command line prints.

use crate::html;
use crate::table::Table;
use prismux_study::table;
use prismux_trace::results;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What one run measured, and what it was born from.
#[pyclass(frozen, module = "prismux")]
pub(crate) struct RunResult(pub(crate) results::RunResult, pub(crate) Option<Decided>);

/// How often a policy written in Python decided, and the seconds that it took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decided {
    pub count: u64,
    pub seconds: f64,
}

#[pymethods]
impl RunResult {
    /// A result from its JSON form, as `prismux run --json` prints it. Raises ValueError for any other text.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text)
            .map(|result| Self(result, None))
            .map_err(|error| PyValueError::new_err(format!("this is not the result of a run: {error}")))
    }

    /// Name of the scenario.
    #[getter]
    fn scenario(&self) -> &str {
        &self.0.scenario
    }

    /// SHA-256 of the scenario after overrides.
    #[getter]
    fn scenario_hash(&self) -> &str {
        &self.0.scenario_hash
    }

    /// Who carried the packets: "sim" or "lab".
    #[getter]
    fn backend(&self) -> String {
        self.0.backend.to_string()
    }

    /// Seed of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Version of prismux.
    #[getter]
    fn version(&self) -> &str {
        &self.0.version
    }

    /// Length of the run in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration_s
    }

    /// Goodput of all flows from the start of the first to the end of the last, bit/s.
    #[getter]
    fn goodput_bps(&self) -> f64 {
        self.0.total.goodput_bps
    }

    /// The best goodput physics allows: rates of the shared links less header overhead, bit/s.
    #[getter]
    fn capacity_bps(&self) -> f64 {
        self.0.total.capacity_bps
    }

    /// Goodput over capacity; None without a capacity.
    #[getter]
    fn efficiency(&self) -> Option<f64> {
        self.0.total.efficiency
    }

    /// Goodput of all flows in steady state, bit/s; None where one has none: it did not outlast the warm-up, or the run
    /// ended before it had carried 95 % of its bytes; or where they never were in it together.
    #[getter]
    fn steady_goodput_bps(&self) -> Option<f64> {
        self.0.total.steady_goodput_bps
    }

    /// The same over capacity.
    #[getter]
    fn steady_efficiency(&self) -> Option<f64> {
        self.0.total.steady_efficiency
    }

    /// One row for each flow.
    #[getter]
    fn flows(&self) -> Table {
        Table(table::flows(&self.0))
    }

    /// One row for each link, measured from its first node to its second; columns called `reverse.` the other way.
    #[getter]
    fn links(&self) -> Table {
        Table(table::links(&self.0))
    }

    /// One row for each group of several flows.
    #[getter]
    fn groups(&self) -> Table {
        Table(table::groups(&self.0))
    }

    /// Jain's index of the flows' goodputs, datagrams left out; None for fewer than two flows.
    #[getter]
    fn jain(&self) -> Option<f64> {
        self.0.total.jain
    }

    /// One row for each flow and sample; empty unless the scenario sets `measure.interval`.
    #[getter]
    fn flow_series(&self) -> Table {
        Table(table::flow_series(&self.0))
    }

    /// One row for each link and sample; empty unless the scenario sets `measure.interval`.
    #[getter]
    fn link_series(&self) -> Table {
        Table(table::link_series(&self.0))
    }

    /// Counters of proxies, members and other nodes: `nodes["proxy"]["acks_held"]`.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let nodes = PyDict::new(py);
        for (name, counters) in &self.0.nodes {
            let of_node = PyDict::new(py);
            for (counter, value) in counters {
                of_node.set_item(counter, value)?;
            }
            nodes.set_item(name, of_node)?;
        }
        Ok(nodes)
    }

    /// Decisions of a scheduler written in Python; 0 without one.
    #[getter]
    fn decisions(&self) -> u64 {
        self.1.map_or(0, |decided| decided.count)
    }

    /// Mean time of such a decision in seconds, the way between the languages included; None without one.
    #[getter]
    fn decision_cost_s(&self) -> Option<f64> {
        let decided = self.1.filter(|decided| decided.count > 0)?;
        Some(decided.seconds / decided.count as f64)
    }

    /// The JSON form, equal to what `prismux run --json` prints.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The JSON form as dictionaries.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.0.to_json(),))
    }

    fn __repr__(&self) -> String {
        let percent = self.0.total.efficiency.map(|e| format!(" ({:.1} % of capacity)", e * 100.0));
        format!(
            "<prismux.RunResult {:?} seed {}: {:.3} Mbit/s{} in {:.1} s>",
            self.0.scenario,
            self.0.seed,
            self.0.total.goodput_bps / 1e6,
            percent.unwrap_or_default(),
            self.0.duration_s
        )
    }

    /// A line and small tables of flows and links, as notebooks show them.
    fn _repr_html_(&self) -> String {
        html::run(&self.0)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// For pickling and copying.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let from_json = py.get_type::<Self>().getattr("from_json")?;
        Ok((from_json, (self.0.to_json(),)))
    }
}

/// Several ways of using the same links, side by side.
#[pyclass(frozen, module = "prismux")]
pub(crate) struct Comparison(pub(crate) Vec<prismux_study::compare::Outcome>);

#[pymethods]
impl Comparison {
    /// One row for each variant and seed.
    #[getter]
    fn table(&self) -> Table {
        Table(prismux_study::compare::table(&self.0))
    }

    /// The results by variant, one for each seed.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let results = PyDict::new(py);
        for outcome in &self.0 {
            let own: Vec<RunResult> =
                outcome.results.iter().cloned().map(|result| RunResult(result, None)).collect();
            results.set_item(&outcome.name, own)?;
        }
        Ok(results)
    }

    /// Variants that could not run, with the reason.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let failures = PyDict::new(py);
        for outcome in &self.0 {
            if let Some(reason) = &outcome.failure {
                failures.set_item(&outcome.name, reason)?;
            }
        }
        Ok(failures)
    }

    /// The JSON form: a list with name, results, failure and policies of each variant.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// A small table of the variants, as notebooks show it.
    fn _repr_html_(&self) -> String {
        html::comparison(&self.0)
    }

    fn __repr__(&self) -> String {
        let line = |outcome: &prismux_study::compare::Outcome| match &outcome.failure {
            Some(reason) => format!("  {}: {reason}", outcome.name),
            None => format!("  {}: {:.3} Mbit/s", outcome.name, outcome.mean_goodput_bps() / 1e6),
        };
        let lines: Vec<String> = self.0.iter().map(line).collect();
        format!("<prismux.Comparison\n{}>", lines.join("\n"))
    }
}
