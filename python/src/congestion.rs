//! A congestion control written in Python.

use crate::policy::{self, Asked};
use crate::signature::explained;
use prismux_tcp::engine::Phase;
use prismux_tcp::engine::congestion::{
    AckSample, CongestionControl, CongestionSignal, CustomControl, RateSample, Window,
};
use prismux_units::{Duration, Rate};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Thresholds above this many bytes mean that there has been none yet.
const NO_THRESHOLD: u64 = 1 << 40;

/// An acknowledgement of new data, as a congestion control written in Python sees it.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct AckView {
    /// Time of the run in seconds.
    now_s: f64,
    /// Bytes newly delivered.
    delivered_bytes: u64,
    /// Bytes delivered since the connection's start, those reported while the window falls included.
    total_delivered_bytes: u64,
    /// Of these, bytes that the network marked (ECN). With `ecn_echo = "rfc8257"` exact; otherwise every byte counts
    /// from a mark until its sender hears of the answer.
    total_marked_bytes: u64,
    /// Round-trip time that this acknowledgement measured, in seconds; None when it measured none.
    rtt_s: Option<f64>,
    /// Smoothed round-trip time in seconds; None before the first.
    smoothed_rtt_s: Option<f64>,
    /// Bytes sent and not yet cumulatively acknowledged (FlightSize of RFC 5681).
    flight_size_bytes: u64,
}

#[pymethods]
impl AckView {
    fn __repr__(&self) -> String {
        format!("<prismux.AckView at {:.3} s: {} bytes>", self.now_s, self.delivered_bytes)
    }
}

/// What an acknowledgement says of the path's delivery rate, for a congestion control with `on_rate`.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct RateView {
    /// Time of the run in seconds.
    now_s: f64,
    /// Bytes delivered since the connection's start.
    delivered_bytes: u64,
    /// Bytes that this acknowledgement newly reports as delivered.
    newly_delivered_bytes: u64,
    /// Of these, bytes that the network marked (ECN). With `ecn_echo = "rfc8257"` exact; otherwise every byte counts
    /// from a mark until its sender hears of the answer.
    newly_marked_bytes: u64,
    /// Bytes taken for lost since the last call.
    newly_lost_bytes: u64,
    /// `delivered_bytes` when the newest of the segments reported was sent; None when none was reported.
    prior_delivered_bytes: Option<u64>,
    /// Rate of delivery since then, in bit/s; None where the interval is too short to say.
    delivery_rate_bps: Option<u64>,
    /// Whether the application, not the path, was the limit in that interval.
    is_app_limited: bool,
    /// Round-trip time that this acknowledgement measured, in seconds; None when it measured none.
    rtt_s: Option<f64>,
    /// Bytes in the network after this acknowledgement.
    in_flight_bytes: u64,
    /// Whether the sender recovers from losses.
    in_recovery: bool,
}

#[pymethods]
impl RateView {
    fn __repr__(&self) -> String {
        format!("<prismux.RateView at {:.3} s: {} bytes in flight>", self.now_s, self.in_flight_bytes)
    }
}

impl From<&RateSample> for RateView {
    fn from(sample: &RateSample) -> Self {
        Self {
            now_s: policy::seconds(sample.now),
            delivered_bytes: sample.delivered,
            newly_delivered_bytes: sample.newly_delivered,
            newly_marked_bytes: sample.newly_marked,
            newly_lost_bytes: sample.newly_lost,
            prior_delivered_bytes: sample.prior_delivered,
            delivery_rate_bps: sample.rate.map(Rate::as_bps),
            is_app_limited: sample.is_app_limited,
            rtt_s: seconds(sample.rtt),
            in_flight_bytes: sample.in_flight,
            in_recovery: sample.phase != Phase::Open,
        }
    }
}

/// The window that a congestion control written in Python controls.
#[pyclass(frozen, get_all, module = "prismux")]
pub(crate) struct WindowView {
    /// Congestion window in bytes.
    cwnd_bytes: u64,
    /// Slow-start threshold in bytes; None before the first congestion.
    ssthresh_bytes: Option<u64>,
    /// Size of a segment in bytes.
    mss_bytes: u32,
    /// Whether the window is below the threshold.
    in_slow_start: bool,
}

#[pymethods]
impl WindowView {
    fn __repr__(&self) -> String {
        format!("<prismux.WindowView of {} bytes>", self.cwnd_bytes)
    }
}

impl From<&Window> for WindowView {
    fn from(window: &Window) -> Self {
        Self {
            cwnd_bytes: window.cwnd,
            ssthresh_bytes: (window.ssthresh < NO_THRESHOLD).then_some(window.ssthresh),
            mss_bytes: window.mss,
            in_slow_start: window.in_slow_start(),
        }
    }
}

/// Calls the methods of a Python object: `on_ack` for every acknowledgement, `on_congestion` when the window has to
/// fall; or `on_rate` for every acknowledgement.
pub(crate) struct PythonControl {
    object: Option<Py<PyAny>>,
    asked: Asked,
    is_rate_based: bool,
    is_paced: bool,
    /// As the object last said.
    pacing_rate: Option<Rate>,
    /// Since the connection's start.
    delivered_bytes: u64,
    marked_bytes: u64,
}

/// Where an object says at which rate segments leave.
const PACING_RATE: &str = "pacing_rate_bps";
/// The method of an object that sets the window itself.
const ON_RATE: &str = "on_rate";

impl PythonControl {
    /// Makes the object by calling `class`.
    pub fn new(class: &Py<PyAny>, asked: Asked) -> Self {
        let made = asked.ask(|py| {
            let object = class.call0(py);
            let object = object.map_err(|raised| explained(Ok(class.bind(py).clone()), &[], raised))?;
            let has = |name| object.bind(py).hasattr(name);
            let (is_rate_based, is_paced) = (has(ON_RATE)?, has(PACING_RATE)?);
            let needed: &[&str] = if is_rate_based { &[] } else { &["on_ack", "on_congestion"] };
            for method in needed {
                if !has(method)? {
                    return Err(PyTypeError::new_err(format!(
                        "{} has no method {method}\n  expected: on_ack and on_congestion, or {ON_RATE}",
                        object.bind(py).repr()?
                    )));
                }
            }
            Ok((object, is_rate_based, is_paced))
        });
        let (object, is_rate_based, is_paced) = made
            .map_or((None, false, false), |(object, rate_based, paced)| (Some(object), rate_based, paced));
        Self {
            object,
            asked,
            is_rate_based,
            is_paced,
            pacing_rate: None,
            delivered_bytes: 0,
            marked_bytes: 0,
        }
    }

    /// What `method` of the object returns: a number of bytes. None once anything was raised.
    fn bytes(
        &mut self,
        method: &str,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Option<u64> {
        let (object, is_paced) = (self.object.as_ref()?, self.is_paced);
        let (bytes, pacing_rate) = self.asked.ask(|py| {
            let object = object.bind(py);
            let answer = object.call_method1(method, arguments(py)?);
            let answer =
                answer.map_err(|raised| explained(object.getattr(method), &given(method), raised))?;
            let bytes = match answer.extract::<f64>() {
                Ok(bytes) if (0.0..NO_THRESHOLD as f64).contains(&bytes) => bytes as u64,
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "{method} of the congestion control returned {}\n  expected: a number of bytes",
                        answer.repr()?
                    )));
                }
            };
            Ok((bytes, if is_paced { pacing_rate_of(object)? } else { None }))
        })?;
        self.pacing_rate = pacing_rate;
        Some(bytes)
    }
}

/// Names of what a method of a congestion control is called with.
fn given(method: &str) -> [&str; 2] {
    let first = match method {
        ON_RATE => "rate",
        "on_congestion" => "signal",
        _ => "ack",
    };
    [first, "window"]
}

/// The rate at which an object wants segments to leave; None for no limit.
fn pacing_rate_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Rate>> {
    let value = object.getattr(PACING_RATE)?;
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(bps) if bps > 0.0 && bps < 1e15 => Ok(Some(Rate::from_bps(bps.max(1.0) as u64))),
        _ => Err(PyTypeError::new_err(format!(
            "{PACING_RATE} of the congestion control is {}\n  expected: bit/s above zero, or None",
            value.repr()?
        ))),
    }
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(Duration::as_secs_f64)
}

impl CongestionControl for PythonControl {
    fn on_delivered(&mut self, bytes: u64, marked: bool) {
        self.delivered_bytes += bytes;
        self.marked_bytes += if marked { bytes } else { 0 };
    }

    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let ack = AckView {
            now_s: policy::seconds(sample.now),
            delivered_bytes: sample.bytes,
            total_delivered_bytes: self.delivered_bytes,
            total_marked_bytes: self.marked_bytes,
            rtt_s: seconds(sample.rtt),
            smoothed_rtt_s: seconds(sample.srtt),
            flight_size_bytes: sample.next.saturating_sub(sample.acked),
        };
        if let Some(cwnd) = self.bytes("on_ack", |py| (ack, WindowView::from(&*window)).into_pyobject(py)) {
            window.cwnd = cwnd;
        }
    }

    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        if self.is_rate_based {
            return window.ssthresh;
        }
        let signal = match signal {
            CongestionSignal::Loss => "loss",
            CongestionSignal::EcnMark => "ecn-mark",
            CongestionSignal::Timeout => "timeout",
        };
        self.bytes("on_congestion", |py| (signal, WindowView::from(window)).into_pyobject(py))
            .unwrap_or(window.cwnd / 2)
    }

    fn is_paced(&self) -> bool {
        self.is_paced
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn is_rate_based(&self) -> bool {
        self.is_rate_based
    }

    fn on_rate_sample(&mut self, sample: &RateSample, window: &mut Window) {
        let view = RateView::from(sample);
        if let Some(cwnd) = self.bytes(ON_RATE, |py| (view, WindowView::from(&*window)).into_pyobject(py)) {
            window.cwnd = cwnd;
        }
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {}

    fn on_undo(&mut self, _window: &Window) {}

    fn on_idle(&mut self, _idle: Duration) {}
}

impl CustomControl for PythonControl {
    fn boxed(&self) -> Box<dyn CustomControl> {
        let object = self.object.as_ref().map(|object| Python::attach(|py| object.clone_ref(py)));
        Box::new(Self { object, asked: self.asked.clone(), ..*self })
    }
}

impl std::fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonControl")
    }
}
