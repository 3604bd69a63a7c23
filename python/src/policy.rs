//! A scheduler written in Python.

use prismux_prism::LinkId;
use prismux_prism::link_table::{Link, LinkTable};
use prismux_prism::scheduler::{PacketView, Scheduler};
use prismux_units::Instant;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
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
            in_flight_packets: link.in_flight_packets,
            in_flight_bytes: link.in_flight_bytes,
            cap_bytes: link.model.cap_bytes(),
            weight: link.weight,
            nip: link.nip(),
            scheduled_packets: link.scheduled_packets,
        }
    }
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
    /// What `question` answers; None once it, or another one before, raised an exception.
    pub fn ask<R>(&self, question: impl FnOnce(Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let start = std::time::Instant::now();
        let answer = Python::attach(question);
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        decisions.count += 1;
        decisions.time += start.elapsed();
        answer
            .map_err(|error| {
                decisions.raised.get_or_insert(error);
                self.stop.store(true, Ordering::Relaxed);
            })
            .ok()
    }
}

/// Calls a Python function for every packet.
pub(crate) struct PythonScheduler {
    pub function: Py<PyAny>,
    pub asked: Asked,
}

impl std::fmt::Debug for PythonScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonScheduler")
    }
}

impl Scheduler for PythonScheduler {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: PacketView) -> Option<LinkId> {
        let choice = self.asked.ask(|py| self.ask(py, now, links, packet));
        // The run ends at once: any link does.
        choice.unwrap_or_else(|| links.usable().next().map(|(id, _)| id))
    }
}

impl PythonScheduler {
    fn ask(
        &self,
        py: Python<'_>,
        now: Instant,
        links: &LinkTable,
        packet: PacketView,
    ) -> PyResult<Option<LinkId>> {
        let views: PyResult<Vec<Bound<'_, LinkView>>> =
            links.usable().map(|(id, link)| Bound::new(py, LinkView::new(now, id, link))).collect();
        let views = PyList::new(py, views?)?;
        let now_s = now.saturating_since(Instant::ZERO).as_secs_f64();
        let choice = self.function.bind(py).call1((now_s, &views, packet.bytes, packet.retransmission))?;
        if choice.is_none() {
            return Ok(None);
        }
        match choice.cast::<LinkView>() {
            Ok(view) if links.usable().any(|(id, _)| id.0 == view.get().id) => {
                Ok(Some(LinkId(view.get().id)))
            }
            _ => Err(PyTypeError::new_err(format!(
                "the scheduler returned {}\n  expected: one of the links that it was given, or None",
                choice.repr()?
            ))),
        }
    }
}
