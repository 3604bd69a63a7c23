//! Policies written in Python, wherever runs take them: objects, or where to import them from.

use crate::congestion::PythonControl;
use crate::pipes::{PythonPipeScheduler, PythonRequestScheduler};
use crate::policy::{Asked, PythonScheduler};
use crate::source;
use crate::subflows::PythonSubflowScheduler;
use prismux_study::policies::{
    self, CongestionFactory, PipeSchedulerFactory, PolicyName, PolicyRole, RequestSchedulerFactory,
    SchedulerFactory, SubflowSchedulerFactory,
};
use pyo3::exceptions::{PyImportError, PyModuleNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// A policy that a caller gave.
struct Given {
    role: PolicyRole,
    object: Py<PyAny>,
    /// Where it was imported from, if a path was given.
    path: Option<String>,
}

/// The policies of a run.
#[derive(Default)]
pub(crate) struct Policies(Vec<Given>);

impl Policies {
    /// From the keyword arguments of these names. That of `congestion` may be a dictionary by flow; texts say where to
    /// import from.
    pub fn new(
        scheduler: Option<&Bound<'_, PyAny>>,
        congestion: Option<&Bound<'_, PyAny>>,
        subflow_scheduler: Option<&Bound<'_, PyAny>>,
        pipe_scheduler: Option<&Bound<'_, PyAny>>,
        request_scheduler: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let arguments = [
            (PolicyRole::Scheduler, scheduler),
            (PolicyRole::Congestion, congestion),
            (PolicyRole::SubflowScheduler, subflow_scheduler),
            (PolicyRole::PipeScheduler, pipe_scheduler),
            (PolicyRole::RequestScheduler, request_scheduler),
        ];
        let mut policies = Self::default();
        for (role, policy) in arguments {
            let Some(policy) = policy else { continue };
            match policy.cast::<PyDict>() {
                Ok(by_flow) if role == PolicyRole::Congestion => {
                    for (flow, class) in by_flow {
                        policies.add(PolicyRole::CongestionOf(flow.extract()?), &class)?;
                    }
                }
                _ => policies.add(role, policy)?,
            }
        }
        Ok(policies)
    }

    /// Those that `names` name.
    ///
    /// Raises ValueError where this process finds other sources at their paths.
    pub fn named(py: Python<'_>, names: &[PolicyName]) -> PyResult<Self> {
        let mut policies = Self::default();
        for name in names {
            let role: Result<PolicyRole, _> = name.role.parse();
            let role = role.map_err(|error| PyValueError::new_err(error.to_string()))?;
            policies.add(role, &PyString::new(py, &name.path))?;
        }
        match policies.names(py)?.iter().zip(names).find(|(here, there)| here != there) {
            None => Ok(policies),
            Some((here, _)) => Err(PyValueError::new_err(format!(
                "{}=\"{}\" has another source in this process than where it was planned\n  remedy: the same file on \
                 every machine, and workers started after its last change",
                here.role, here.path
            ))),
        }
    }

    fn add(&mut self, role: PolicyRole, policy: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = policy.cast::<PyString>().ok().map(|path| path.to_string());
        let object =
            path.as_ref().map_or_else(|| Ok(policy.clone()), |path| imported(policy.py(), &role, path))?;
        if !object.is_callable() {
            return Err(PyTypeError::new_err(format!(
                "{role}: {} cannot be called\n  expected: a function, a class, or where to import one from: \
                 \"module:name\"",
                object.repr()?
            )));
        }
        self.0.push(Given { role, object: object.unbind(), path });
        Ok(())
    }

    /// What they decide.
    pub fn roles(&self) -> Vec<PolicyRole> {
        self.0.iter().map(|given| given.role.clone()).collect()
    }

    /// Their names in results.
    ///
    /// Raises ValueError for one that was edited after it was imported.
    pub fn names(&self, py: Python<'_>) -> PyResult<Vec<PolicyName>> {
        let name = |given: &Given| {
            let found = source::of(given.object.bind(py), given.path.as_deref())?;
            Ok(PolicyName::new(&given.role, &found.path, found.source.as_deref(), &found.version))
        };
        self.0.iter().map(name).collect()
    }

    /// The same, where rows of other sources must not mix.
    ///
    /// Raises TypeError for a policy without an import path, ValueError for one without a source.
    pub fn names_with_sources(&self, py: Python<'_>) -> PyResult<Vec<PolicyName>> {
        if let Some(given) = self.0.iter().find(|given| given.path.is_none()) {
            return Err(PyTypeError::new_err(format!(
                "{}: a sweep's rows carry the hash of the policy's source, and {} comes without an import path\n  \
                 expected: \"module:name\", for instance \"my_policies:Blest\"",
                given.role,
                given.object.bind(py).repr()?
            )));
        }
        let names = self.names(py)?;
        match names.iter().find(|name| name.hash.is_empty()) {
            None => Ok(names),
            Some(name) => Err(PyValueError::new_err(format!(
                "{}=\"{}\" has no source file that could be hashed\n  expected: a module in a file of its own",
                name.role, name.path
            ))),
        }
    }

    /// What makes them, for runs whose questions `asked` counts.
    pub fn make(&self, py: Python<'_>, asked: &Asked) -> policies::Policies {
        let mut made = policies::Policies::default();
        for Given { role, object, .. } in &self.0 {
            let (object, asked) = (object.clone_ref(py), asked.clone());
            match role {
                PolicyRole::Scheduler => {
                    made.scheduler = Some(SchedulerFactory::new(move |proxy| {
                        Box::new(PythonScheduler::new(&object, proxy.name, asked.clone()))
                    }));
                }
                PolicyRole::Congestion => made.congestion = Some(control(object, asked)),
                PolicyRole::CongestionOf(flow) => {
                    made.congestion_of.insert(flow.clone(), control(object, asked));
                }
                PolicyRole::SubflowScheduler => {
                    made.subflow_scheduler = Some(SubflowSchedulerFactory::new(move |flow| {
                        Box::new(PythonSubflowScheduler::new(&object, flow, asked.clone()))
                    }));
                }
                PolicyRole::PipeScheduler => {
                    made.pipe_scheduler = Some(PipeSchedulerFactory::new(move |flow| {
                        Box::new(PythonPipeScheduler::new(&object, flow, asked.clone()))
                    }));
                }
                PolicyRole::RequestScheduler => {
                    made.request_scheduler = Some(RequestSchedulerFactory::new(move |flow| {
                        Box::new(PythonRequestScheduler::new(&object, flow, asked.clone()))
                    }));
                }
            }
        }
        made
    }
}

fn control(class: Py<PyAny>, asked: Asked) -> CongestionFactory {
    CongestionFactory::new(move || Box::new(PythonControl::new(&class, asked.clone())))
}

/// The object at an import path.
fn imported<'py>(py: Python<'py>, role: &PolicyRole, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let Some((module, name)) = path.split_once(':') else {
        return Err(PyValueError::new_err(format!(
            "{role}: \"{path}\" is no import path\n  expected: \"module:name\", for instance \"my_policies:Vegas\""
        )));
    };
    let module = py.import(module).map_err(|error| {
        if !error.is_instance_of::<PyModuleNotFoundError>(py) {
            return error;
        }
        let clearer = PyImportError::new_err(format!(
            "{role}=\"{path}\" cannot be imported: {}\n  remedy: start Python where the module is, or name its folder \
             in PYTHONPATH",
            error.value(py)
        ));
        clearer.set_cause(py, Some(error));
        clearer
    })?;
    name.split('.').try_fold(module.into_any(), |object, part| object.getattr(part))
}
