//! A scheduler of a proxy written in Python.

use crate::signature::explained;
use prismux_prism::LinkId;
use prismux_prism::link_table::{Link, LinkTable};
use prismux_prism::scheduler::{Choice, PacketView as Packet, Scheduler};
use prismux_study::policies::Part;
use prismux_units::{self as units, Instant};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyType};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A link as a scheduler written in Python sees it, at the time of the decision.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct LinkView {
    /// Number of the link at its proxy.
    id: u8,
    /// Name of the link.
    name: String,
    /// Rate in bit/s as learned, else as advertised; None while it is unknown.
    rate_bps: Option<u64>,
    /// Smoothed round-trip time over the link (hRTT) in seconds; 0 without samples.
    hrtt_s: f64,
    /// Packets on their way over the link, whose arrival is not known.
    in_flight_packets: u32,
    /// The same in bytes.
    in_flight_bytes: u64,
    /// Bytes that the link takes in flight before a queue grows.
    cap_bytes: u64,
    /// Weight of the link (its rate against that of the slowest, lessened by losses).
    weight: f64,
    /// Packets in flight normalised by the weight.
    nip: f64,
    /// Packets scheduled on the link so far.
    scheduled_packets: u64,
}

#[pymethods]
impl LinkView {
    fn __repr__(&self) -> String {
        format!("<prismux.LinkView {} {:?}: {} in flight>", self.id, self.name, self.in_flight_packets)
    }
}

impl LinkView {
    fn new(now: Instant, id: LinkId, link: &Link) -> Self {
        Self {
            id: id.0,
            name: link.name.clone(),
            rate_bps: link.model.rate().or(link.advertised_rate).map(|rate| rate.as_bps()),
            hrtt_s: link.hrtt(now).as_secs_f64(),
            in_flight_packets: link.variables.in_flight_packets,
            in_flight_bytes: link.variables.in_flight_bytes,
            cap_bytes: link.model.cap_bytes(),
            weight: link.variables.weight,
            nip: link.nip(),
            scheduled_packets: link.scheduled_packets,
        }
    }
}

/// A packet as a scheduler written in Python sees it.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct PacketView {
    /// Time of the run in seconds.
    now_s: f64,
    /// The connection, in the direction of its data: "10.0.0.1:80 > 10.0.0.2:5001".
    flow: String,
    /// Its first sequence number.
    sequence: u32,
    /// Sequence space that it takes, in bytes.
    packet_bytes: u32,
    /// Whether it was sent before, by its sender or by the proxy.
    retransmission: bool,
    /// Bytes behind it that the receiver's window leaves; None while the window is unknown.
    window_bytes: Option<u32>,
    /// Bytes of its connection in flight on all links.
    flow_in_flight_bytes: u64,
    /// Time of the run, in seconds, until which it may be kept waiting; None for a packet that has to leave now.
    deadline_s: Option<f64>,
}

#[pymethods]
impl PacketView {
    fn __repr__(&self) -> String {
        let Self { now_s, flow, packet_bytes, .. } = self;
        format!("<prismux.PacketView at {now_s:.3} s: {packet_bytes} bytes of {flow}>")
    }
}

impl PacketView {
    fn new(now: Instant, packet: &Packet) -> Self {
        Self {
            now_s: seconds(now),
            flow: packet.flow.to_string(),
            sequence: packet.seq.0,
            packet_bytes: packet.bytes,
            retransmission: packet.retransmission,
            window_bytes: packet.window_bytes,
            flow_in_flight_bytes: packet.flow_in_flight_bytes,
            deadline_s: packet.deadline.map(seconds),
        }
    }
}

/// Time of the run in seconds.
pub(crate) fn seconds(at: Instant) -> f64 {
    at.saturating_since(Instant::ZERO).as_secs_f64()
}

/// What the decisions of a run cost, and why they ended early.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// Number of decisions.
    pub count: u64,
    /// Time that they took, on the way between the languages included.
    pub time: Duration,
    /// The first exception.
    pub raised: Option<PyErr>,
}

/// Who asks Python in the course of a run: counts, and ends the run after an exception.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub decisions: Arc<Mutex<Decisions>>,
    /// Ends the run after an exception.
    pub stop: Arc<AtomicBool>,
}

impl Asked {
    /// What comes of `question`, which is no decision; None once anything raised an exception.
    pub fn set_up<R>(&self, question: impl FnOnce(Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        Python::attach(question)
            .map_err(|error| {
                let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
                decisions.raised.get_or_insert(error);
                self.stop.store(true, Ordering::Relaxed);
            })
            .ok()
    }

    /// What `question` answers; None once it, or another one before, raised an exception.
    pub fn ask<R>(&self, question: impl FnOnce(Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let start = std::time::Instant::now();
        let answer = self.set_up(question);
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        decisions.count += 1;
        decisions.time += start.elapsed();
        answer
    }
}

/// What is asked of an object.
pub(crate) const CHOOSE: &str = "choose";

/// The object that `class` makes from the name of `flow`, which must have the method [`CHOOSE`].
pub(crate) fn made(class: &Py<PyAny>, flow: Part<'_>, asked: &Asked) -> Option<Py<PyAny>> {
    asked.set_up(|py| {
        let object = class
            .call1(py, (flow.name,))
            .map_err(|raised| explained(Ok(class.bind(py).clone()), &["flow"], raised))?;
        match object.bind(py).hasattr(CHOOSE)? {
            true => Ok(object),
            false => Err(PyTypeError::new_err(format!(
                "{} has no method {CHOOSE}\n  expected: a class whose objects have it",
                object.bind(py).repr()?
            ))),
        }
    })
}

/// What the method [`CHOOSE`] of `object` answers to `arguments`, which the names `given` have.
pub(crate) fn choice<'py>(
    object: &Bound<'py, PyAny>,
    given: [&str; 2],
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let answer = object.call_method1(CHOOSE, arguments);
    answer.map_err(|raised| explained(object.getattr(CHOOSE), &given, raised))
}

/// Asks Python for every packet: a function, or the method `choose` of an object.
pub(crate) struct PythonScheduler {
    policy: Option<Policy>,
    asked: Asked,
}

/// How a scheduler is asked.
enum Policy {
    /// By the time, the links, the packet's bytes and whether it is a retransmission.
    Function(Py<PyAny>),
    /// By the links and a [`PacketView`].
    Object(Py<PyAny>),
}

impl std::fmt::Debug for PythonScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonScheduler")
    }
}

impl PythonScheduler {
    /// Asks `policy`, or where it is a class with `choose`, the object that it makes from the name of the proxy.
    pub fn new(policy: &Py<PyAny>, proxy: &str, asked: Asked) -> Self {
        let made = asked.set_up(|py| {
            let policy = policy.bind(py);
            Ok(match policy.is_instance_of::<PyType>() && policy.hasattr(CHOOSE)? {
                true => {
                    let object = policy.call1((proxy,));
                    Policy::Object(
                        object.map_err(|raised| explained(Ok(policy.clone()), &["proxy"], raised))?.unbind(),
                    )
                }
                false => Policy::Function(policy.clone().unbind()),
            })
        });
        Self { policy: made, asked }
    }

    fn ask(&self, py: Python<'_>, now: Instant, links: &LinkTable, packet: &Packet) -> PyResult<Choice> {
        let views: PyResult<Vec<Bound<'_, LinkView>>> =
            links.usable().map(|(id, link)| Bound::new(py, LinkView::new(now, id, link))).collect();
        let views = PyList::new(py, views?)?;
        let choice = match &self.policy {
            Some(Policy::Function(function)) => {
                let given = ["now_s", "links", "packet_bytes", "retransmission"];
                let function = function.bind(py);
                let answer = function.call1((seconds(now), &views, packet.bytes, packet.retransmission));
                answer.map_err(|raised| explained(Ok(function.clone()), &given, raised))?
            }
            Some(Policy::Object(object)) => {
                choice(object.bind(py), ["links", "packet"], (&views, PacketView::new(now, packet)))?
            }
            None => return Ok(Choice::NoLink),
        };
        if choice.is_none() {
            return Ok(if views.is_empty() { Choice::NoLink } else { Choice::Wait(Instant::MAX) });
        }
        if let Ok(view) = choice.cast::<LinkView>()
            && links.usable().any(|(id, _)| id.0 == view.get().id)
        {
            return Ok(Choice::Over(LinkId(view.get().id)));
        }
        match choice.cast::<PyFloat>().map(|number| number.value()) {
            Ok(until_s) if until_s > seconds(now) && until_s < MAX_SECONDS => {
                Ok(Choice::Wait(Instant::ZERO + units::Duration::from_secs_f64(until_s)))
            }
            _ => Err(PyTypeError::new_err(format!(
                "the scheduler returned {}\n  expected: one of the links that it was given, None to wait, or a later \
                 time of the run in seconds",
                choice.repr()?
            ))),
        }
    }
}

/// No run lasts longer: a hundred years.
const MAX_SECONDS: f64 = 3.2e9;

impl Scheduler for PythonScheduler {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &Packet) -> Choice {
        let choice = self.asked.ask(|py| self.ask(py, now, links, packet));
        // The run ends at once: any link does.
        choice.unwrap_or_else(|| links.usable().next().map(|(id, _)| id).into())
    }
}
