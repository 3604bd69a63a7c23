//! Policies written in Python, wherever runs take them: objects, or where to import them from.

use crate::congestion::PythonControl;
use crate::policy::{Asked, PythonScheduler};
use crate::subflows::PythonSubflowScheduler;
use prismux_study::run::{CongestionFactory, RunOptions, SchedulerFactory, SubflowSchedulerFactory};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The policies of a run.
#[derive(Default)]
pub(crate) struct Policies {
    scheduler: Option<Py<PyAny>>,
    congestion: Option<Py<PyAny>>,
    /// By flow or group.
    congestion_of: Vec<(String, Py<PyAny>)>,
    subflow_scheduler: Option<Py<PyAny>>,
}

impl Policies {
    /// From the arguments of these names. `congestion` may be a dictionary by flow; texts say where to import from.
    pub fn new(
        scheduler: Option<&Bound<'_, PyAny>>,
        congestion: Option<&Bound<'_, PyAny>>,
        subflow_scheduler: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let one = |policy: Option<&Bound<'_, PyAny>>| policy.map(resolved).transpose();
        let mut policies = Self {
            scheduler: one(scheduler)?,
            subflow_scheduler: one(subflow_scheduler)?,
            ..Self::default()
        };
        match congestion.map(|congestion| (congestion, congestion.cast::<PyDict>())) {
            Some((_, Ok(by_flow))) => {
                for (flow, class) in by_flow {
                    policies.congestion_of.push((flow.extract()?, resolved(&class)?));
                }
            }
            Some((class, Err(_))) => policies.congestion = Some(resolved(class)?),
            None => {}
        }
        Ok(policies)
    }

    /// `options` with these policies, whose questions `asked` counts.
    pub fn apply(&self, py: Python<'_>, asked: &Asked, options: RunOptions) -> RunOptions {
        let control = |class: &Py<PyAny>| {
            let (class, asked) = (class.clone_ref(py), asked.clone());
            CongestionFactory::new(move || Box::new(PythonControl::new(&class, asked.clone())))
        };
        let scheduler = self.scheduler.as_ref().map(|function| {
            let (function, asked) = (function.clone_ref(py), asked.clone());
            SchedulerFactory::new(move |_| {
                let function = Python::attach(|py| function.clone_ref(py));
                Box::new(PythonScheduler { function, asked: asked.clone() })
            })
        });
        let subflow_scheduler = self.subflow_scheduler.as_ref().map(|class| {
            let (class, asked) = (class.clone_ref(py), asked.clone());
            SubflowSchedulerFactory::new(move |flow| {
                Box::new(PythonSubflowScheduler::new(&class, flow, asked.clone()))
            })
        });
        RunOptions {
            scheduler,
            congestion: self.congestion.as_ref().map(control),
            congestion_of: self
                .congestion_of
                .iter()
                .map(|(flow, class)| (flow.clone(), control(class)))
                .collect(),
            subflow_scheduler,
            ..options
        }
    }
}

/// What a policy is: the object itself, or what its import path, "module:name", leads to.
fn resolved(policy: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let object = match policy.cast::<PyString>() {
        Ok(path) => imported(policy.py(), &path.to_string())?,
        Err(_) => policy.clone(),
    };
    if !object.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "{} cannot be called\n  expected: a function, a class, or where to import one from: \"module:name\"",
            object.repr()?
        )));
    }
    Ok(object.unbind())
}

/// The object at an import path.
fn imported<'py>(py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let Some((module, name)) = path.split_once(':') else {
        return Err(PyValueError::new_err(format!(
            "\"{path}\" is no import path\n  expected: \"module:name\", for instance \"my_policies:Vegas\""
        )));
    };
    name.split('.').try_fold(py.import(module)?.into_any(), |object, part| object.getattr(part))
}
