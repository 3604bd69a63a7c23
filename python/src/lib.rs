//! The compiled half of the Python package `prismux`: it converts, and leaves everything else to the crates below.
//!
//! * [`mod@scenario`]: texts, files and dictionaries become scenarios. [`mod@error`]: what is wrong with them.
//! * [`mod@run`]: runs and comparisons, without the interpreter's lock and stopped by Ctrl-C.
//! * [`mod@policies`]: what runs take of policies written in Python: [`mod@policy`], [`mod@subflows`], [`mod@pipes`]
//!   and [`mod@congestion`] are schedulers of proxies, of MPTCP, of pTCP and R²CP, and congestion controls;
//!   [`mod@source`] is where they come from.
//! * [`mod@arguments`]: what several functions take. [`mod@study`]: published claims and random mixes.
//! * [`mod@sweep`]: the pieces of a sweep. [`mod@result`]: results. [`mod@table`]: their tables, which leave by the
//!   Arrow PyCapsule interface.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod arguments;
mod congestion;
mod dictionary;
mod error;
mod html;
mod pipes;
mod policies;
mod policy;
mod result;
mod run;
mod scenario;
mod signature;
mod source;
mod study;
mod subflows;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The module `prismux._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::congestion::{AckView, RateView, WindowView};
    #[pymodule_export]
    use crate::error::{RunError, ScenarioError, SweepFileError};
    #[pymodule_export]
    use crate::pipes::{PipeOfferView, PipeView, RequestPipeView, RequestView};
    #[pymodule_export]
    use crate::policy::{LinkView, PacketView};
    #[pymodule_export]
    use crate::result::{Comparison, RunResult};
    #[pymodule_export]
    use crate::run::{compare, run};
    #[pymodule_export]
    use crate::scenario::{Diagnostic, Scenario, shipped};
    #[pymodule_export]
    use crate::study::{claims_json, mixes_json};
    #[pymodule_export]
    use crate::subflows::{OfferView, SubflowView};
    #[pymodule_export]
    use crate::sweep::{SweepPlan, SweepStore, merge_sweeps, read_sweep, run_task};
    #[pymodule_export]
    use crate::table::Table;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
