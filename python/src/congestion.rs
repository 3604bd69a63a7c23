//! A congestion control written in Python.

use crate::policy::Asked;
use prismux_tcp::engine::congestion::{
    AckSample, CongestionControl, CongestionSignal, CustomControl, Window,
};
use prismux_units::{Duration, Instant};
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
    /// Round-trip time that this acknowledgement measured, in seconds; None when it measured none.
    rtt_s: Option<f64>,
    /// Smoothed round-trip time in seconds; None before the first.
    smoothed_rtt_s: Option<f64>,
}

#[pymethods]
impl AckView {
    fn __repr__(&self) -> String {
        format!("<prismux.AckView at {:.3} s: {} bytes>", self.now_s, self.delivered_bytes)
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
/// fall.
pub(crate) struct PythonControl {
    object: Option<Py<PyAny>>,
    asked: Asked,
}

impl PythonControl {
    /// Makes the object by calling `class`.
    pub fn new(class: &Py<PyAny>, asked: Asked) -> Self {
        let object = asked.ask(|py| class.call0(py));
        Self { object, asked }
    }

    /// What `method` of the object returns: a number of bytes. None once anything was raised.
    fn bytes(
        &self,
        method: &str,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Option<u64> {
        let object = self.object.as_ref()?;
        self.asked.ask(|py| {
            let answer = object.bind(py).call_method1(method, arguments(py)?)?;
            match answer.extract::<f64>() {
                Ok(bytes) if (0.0..NO_THRESHOLD as f64).contains(&bytes) => Ok(bytes as u64),
                _ => Err(PyTypeError::new_err(format!(
                    "{method} of the congestion control returned {}\n  expected: a number of bytes",
                    answer.repr()?
                ))),
            }
        })
    }
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(Duration::as_secs_f64)
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let ack = AckView {
            now_s: sample.now.saturating_since(Instant::ZERO).as_secs_f64(),
            delivered_bytes: sample.bytes,
            rtt_s: seconds(sample.rtt),
            smoothed_rtt_s: seconds(sample.srtt),
        };
        if let Some(cwnd) = self.bytes("on_ack", |py| (ack, WindowView::from(&*window)).into_pyobject(py)) {
            window.cwnd = cwnd;
        }
    }

    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        let signal = match signal {
            CongestionSignal::Loss => "loss",
            CongestionSignal::EcnMark => "ecn-mark",
            CongestionSignal::Timeout => "timeout",
        };
        self.bytes("on_congestion", |py| (signal, WindowView::from(window)).into_pyobject(py))
            .unwrap_or(window.cwnd / 2)
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {}

    fn on_undo(&mut self, _window: &Window) {}

    fn on_idle(&mut self, _idle: Duration) {}
}

impl CustomControl for PythonControl {
    fn boxed(&self) -> Box<dyn CustomControl> {
        let object = self.object.as_ref().map(|object| Python::attach(|py| object.clone_ref(py)));
        Box::new(Self { object, asked: self.asked.clone() })
    }
}

impl std::fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonControl")
    }
}
