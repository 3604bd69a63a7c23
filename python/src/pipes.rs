//! Schedulers of pTCP and R²CP written in Python.

use crate::policy::{Asked, choice, made, seconds};
use prismux_ptcp::scheduler as ptcp;
use prismux_r2cp::scheduler as r2cp;
use prismux_study::policies::Part;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A pipe of a pTCP connection as a scheduler written in Python sees it, at the time of the decision.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct PipeView {
    /// Number of the pipe in its connection, from 0.
    id: u8,
    /// Whether it may carry new bytes: established, and not waiting in vain for an acknowledgement.
    usable: bool,
    /// Whether its window has not refused a segment since it was last heard of.
    has_room: bool,
    /// Smoothed round-trip time in seconds; None before the first sample.
    srtt_s: Option<f64>,
    /// Round-trip time variation in seconds.
    rttvar_s: f64,
    /// Congestion window in bytes.
    cwnd_bytes: u64,
    /// Bytes of virtual segments sent and not acknowledged.
    in_flight_bytes: u64,
    /// Payload of a full segment in bytes.
    segment_bytes: u32,
    /// Its place among the pipes of this question.
    place: usize,
}

#[pymethods]
impl PipeView {
    fn __repr__(&self) -> String {
        let Self { id, in_flight_bytes, cwnd_bytes, .. } = self;
        format!("<prismux.PipeView {id}: {in_flight_bytes} of {cwnd_bytes} bytes in flight>")
    }
}

impl PipeView {
    fn new(place: usize, view: &ptcp::PipeView) -> Self {
        Self {
            id: view.id,
            usable: view.usable,
            has_room: view.has_room,
            srtt_s: view.srtt.map(|srtt| srtt.as_secs_f64()),
            rttvar_s: view.rttvar.as_secs_f64(),
            cwnd_bytes: view.window_bytes,
            in_flight_bytes: view.in_flight_bytes,
            segment_bytes: view.segment_bytes,
            place,
        }
    }
}

/// What a pTCP connection has to send, as a scheduler written in Python sees it.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct PipeOfferView {
    /// Time of the run in seconds.
    now_s: f64,
    /// Offset in the stream of the first byte that is bound to no pipe.
    next_byte: u64,
    /// Bytes that are bound to no pipe, those unbound from a pipe in trouble included.
    unsent_bytes: u64,
    /// Bytes beyond all that was ever bound that the peer's buffer and the sender's leave room for.
    window_bytes: u64,
    /// Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline.
    deadline_s: Option<f64>,
}

#[pymethods]
impl PipeOfferView {
    fn __repr__(&self) -> String {
        format!("<prismux.PipeOfferView at {:.3} s: {} bytes>", self.now_s, self.unsent_bytes)
    }
}

/// Calls the method `choose` of a Python object for every segment of a pTCP connection.
pub(crate) struct PythonPipeScheduler {
    object: Option<Py<PyAny>>,
    deadline_s: Option<f64>,
    asked: Asked,
}

impl PythonPipeScheduler {
    /// Makes the object by calling `class` with the name of the flow.
    pub fn new(class: &Py<PyAny>, flow: Part<'_>, asked: Asked) -> Self {
        Self { object: made(class, flow, &asked), deadline_s: flow.deadline.map(seconds), asked }
    }
}

impl std::fmt::Debug for PythonPipeScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonPipeScheduler")
    }
}

impl ptcp::Scheduler for PythonPipeScheduler {
    fn choose(&mut self, views: &[ptcp::PipeView], offer: &ptcp::Offer) -> Option<usize> {
        let object = self.object.as_ref()?;
        self.asked.ask(|py| {
            let pipes: PyResult<Vec<_>> = views
                .iter()
                .enumerate()
                .map(|(place, view)| Bound::new(py, PipeView::new(place, view)))
                .collect();
            let offer = PipeOfferView {
                now_s: seconds(offer.now),
                next_byte: offer.next_byte,
                unsent_bytes: offer.unsent_bytes,
                window_bytes: offer.window_bytes,
                deadline_s: self.deadline_s,
            };
            let choice = choice(object.bind(py), ["pipes", "offer"], (PyList::new(py, pipes?)?, offer))?;
            if choice.is_none() {
                return Ok(None);
            }
            match choice.cast::<PipeView>() {
                Ok(view) if view.get().place < views.len() => Ok(Some(view.get().place)),
                _ => Err(PyTypeError::new_err(format!(
                    "the scheduler returned {}\n  expected: one of the pipes that it was given, or None to wait",
                    choice.repr()?
                ))),
            }
        })?
    }
}

/// A pipe of an R²CP connection as a scheduler written in Python sees it, at the time of the decision.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct RequestPipeView {
    /// Number of the pipe in its connection, from 0, in the order in which they were opened.
    id: usize,
    /// Whether it may ask: established, awake, heard of since its last timeout, and not about to end.
    usable: bool,
    /// Smoothed round-trip time in seconds, or the time that its oldest request has been under way, if that is longer;
    /// the timeout before the first sample.
    round_trip_s: f64,
    /// Times of the run, in seconds, at which its outstanding requests left, the oldest first.
    asked_s: Vec<f64>,
    /// Bytes asked for that have not come.
    outstanding_bytes: u64,
    /// Congestion window in bytes.
    cwnd_bytes: u64,
    /// What using it costs; lower is used first.
    cost: u8,
}

#[pymethods]
impl RequestPipeView {
    fn __repr__(&self) -> String {
        let Self { id, outstanding_bytes, cwnd_bytes, .. } = self;
        format!("<prismux.RequestPipeView {id}: {outstanding_bytes} of {cwnd_bytes} bytes asked for>")
    }
}

impl RequestPipeView {
    fn new(id: usize, view: &r2cp::PipeView) -> Self {
        Self {
            id,
            usable: view.usable,
            round_trip_s: view.round_trip.as_secs_f64(),
            asked_s: view.asked_at.iter().map(|&at| seconds(at)).collect(),
            outstanding_bytes: view.outstanding_bytes,
            cwnd_bytes: view.window_bytes,
            cost: view.cost.0,
        }
    }
}

/// A request that a pipe of an R²CP connection may make, as a scheduler written in Python sees it.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct RequestView {
    /// Time of the run in seconds.
    now_s: f64,
    /// Number of the pipe that may ask.
    pipe: usize,
    /// Offset in the stream of the first byte that has not arrived.
    next_byte: u64,
    /// Offset of the first byte that no pipe has been asked for.
    pending_byte: u64,
    /// Bytes of the receive buffer that neither data nor requests take.
    room_bytes: u64,
    /// Bytes of a segment.
    segment_bytes: u64,
    /// Time of the run, in seconds, at which the flow's application wants all of it; None without a deadline.
    deadline_s: Option<f64>,
}

#[pymethods]
impl RequestView {
    fn __repr__(&self) -> String {
        format!("<prismux.RequestView at {:.3} s: pipe {}>", self.now_s, self.pipe)
    }
}

/// Calls the method `choose` of a Python object for every request of an R²CP connection.
pub(crate) struct PythonRequestScheduler {
    object: Option<Py<PyAny>>,
    deadline_s: Option<f64>,
    asked: Asked,
}

impl PythonRequestScheduler {
    /// Makes the object by calling `class` with the name of the flow.
    pub fn new(class: &Py<PyAny>, flow: Part<'_>, asked: Asked) -> Self {
        Self { object: made(class, flow, &asked), deadline_s: flow.deadline.map(seconds), asked }
    }
}

impl std::fmt::Debug for PythonRequestScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonRequestScheduler")
    }
}

impl r2cp::Scheduler for PythonRequestScheduler {
    fn choose(&mut self, views: &[r2cp::PipeView], offer: &r2cp::Offer) -> Option<usize> {
        let object = self.object.as_ref()?;
        self.asked.ask(|py| {
            let pipes: PyResult<Vec<_>> = views
                .iter()
                .enumerate()
                .map(|(id, view)| Bound::new(py, RequestPipeView::new(id, view)))
                .collect();
            let request = RequestView {
                now_s: seconds(offer.now),
                pipe: offer.pipe.0,
                next_byte: offer.next_byte,
                pending_byte: offer.pending_byte,
                room_bytes: offer.room_bytes,
                segment_bytes: offer.segment_bytes,
                deadline_s: self.deadline_s,
            };
            let choice = choice(object.bind(py), ["pipes", "request"], (PyList::new(py, pipes?)?, request))?;
            choice.extract::<Option<usize>>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "the scheduler returned {choice}\n  expected: the place of a segment among those that no pipe was \
                     asked for, from 0, or None to wait"
                ))
            })
        })?
    }
}
