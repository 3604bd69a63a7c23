//! A scheduler of MPTCP written in Python.

use crate::policy::{Asked, choice, made, seconds};
use prismux_mptcp::scheduler::{CustomScheduler, Offer, SubflowView as Subflow};
use prismux_study::policies::Part;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A subflow of an MPTCP connection as a scheduler written in Python sees it, at the time of the decision.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct SubflowView {
    /// Number of the subflow in its connection, from 0.
    id: usize,
    /// Whether it may carry new bytes: established, not in trouble, and no backup while others work.
    usable: bool,
    /// Whether its congestion window lets a segment go.
    has_room: bool,
    /// Smoothed round-trip time in seconds.
    srtt_s: f64,
    /// Round-trip time variation in seconds.
    rttvar_s: f64,
    /// Congestion window in bytes.
    cwnd_bytes: u64,
    /// Bytes sent and not acknowledged.
    in_flight_bytes: u64,
    /// Rate at which it sends, in bit/s: a window per smoothed round trip.
    rate_bps: f64,
    /// Payload of a full segment in bytes.
    segment_bytes: u32,
}

#[pymethods]
impl SubflowView {
    fn __repr__(&self) -> String {
        let Self { id, in_flight_bytes, cwnd_bytes, .. } = self;
        format!("<prismux.SubflowView {id}: {in_flight_bytes} of {cwnd_bytes} bytes in flight>")
    }
}

impl SubflowView {
    fn new(id: usize, view: &Subflow) -> Self {
        Self {
            id,
            usable: view.usable,
            has_room: view.has_room,
            srtt_s: view.srtt.as_secs_f64(),
            rttvar_s: view.rttvar.as_secs_f64(),
            cwnd_bytes: view.window_bytes,
            in_flight_bytes: view.in_flight_bytes,
            rate_bps: view.rate * 8.0,
            segment_bytes: view.segment_bytes,
        }
    }
}

/// What an MPTCP connection has to send, as a scheduler written in Python sees it.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct OfferView {
    /// Time of the run in seconds.
    now_s: f64,
    /// Offset in the stream of the first byte that no subflow has been given.
    next_byte: u64,
    /// Bytes that no subflow has been given.
    unsent_bytes: u64,
    /// Bytes that the peer's window leaves.
    window_bytes: u64,
    /// Whether the peer's window has kept bytes back since the last call.
    was_blocked: bool,
    /// Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline.
    deadline_s: Option<f64>,
}

#[pymethods]
impl OfferView {
    fn __repr__(&self) -> String {
        format!("<prismux.OfferView at {:.3} s: {} bytes>", self.now_s, self.unsent_bytes)
    }
}

impl OfferView {
    fn new(offer: &Offer, deadline_s: Option<f64>) -> Self {
        Self {
            now_s: seconds(offer.now),
            next_byte: offer.next_byte,
            unsent_bytes: offer.unsent_bytes,
            window_bytes: offer.window_bytes,
            was_blocked: offer.was_blocked,
            deadline_s,
        }
    }
}

/// Calls the method `choose` of a Python object for every segment.
pub(crate) struct PythonSubflowScheduler {
    object: Option<Py<PyAny>>,
    deadline_s: Option<f64>,
    asked: Asked,
}

impl PythonSubflowScheduler {
    /// Makes the object by calling `class` with the name of the flow.
    pub fn new(class: &Py<PyAny>, flow: Part<'_>, asked: Asked) -> Self {
        Self { object: made(class, flow, &asked), deadline_s: flow.deadline.map(seconds), asked }
    }
}

impl std::fmt::Debug for PythonSubflowScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonSubflowScheduler")
    }
}

impl CustomScheduler for PythonSubflowScheduler {
    fn choose(&mut self, views: &[Subflow], offer: &Offer) -> Option<usize> {
        let object = self.object.as_ref()?;
        self.asked.ask(|py| {
            let subflows: PyResult<Vec<_>> =
                views.iter().enumerate().map(|(id, view)| Bound::new(py, SubflowView::new(id, view))).collect();
            let subflows = PyList::new(py, subflows?)?;
            let arguments = (subflows, OfferView::new(offer, self.deadline_s));
            let choice = choice(object.bind(py), ["subflows", "offer"], arguments)?;
            if choice.is_none() {
                return Ok(None);
            }
            match choice.cast::<SubflowView>() {
                Ok(view) if view.get().id < views.len() => Ok(Some(view.get().id)),
                _ => Err(PyTypeError::new_err(format!(
                    "the scheduler returned {}\n  expected: one of the subflows that it was given, or None to wait",
                    choice.repr()?
                ))),
            }
        })?
    }
}
