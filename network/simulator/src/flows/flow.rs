//! What the simulation asks of a flow.
use super::context::{Arrival, FlowContext};
use super::names::PipeNames;
use crate::core::ids::NodeId;
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::histogram::DelayHistogram;
use prismux_trace::results::{Named, PipeResult};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::FlowKey;
use std::any::Any;
use std::fmt;

/// A flow: its two ends (or more) with their protocol machines and applications.
///
/// Ends are numbered by the flow itself, from 0. Every call is one mutation; what follows from it leaves by the
/// context.
pub trait Flow: Any + fmt::Debug + Send {
    /// The flow begins.
    fn start(&mut self, context: &mut FlowContext<'_>);

    /// The flow is cut off.
    fn stop(&mut self, context: &mut FlowContext<'_>);

    /// The receiver cuts the flow off with data unread; nothing for transports that cannot say so.
    fn reset(&mut self, context: &mut FlowContext<'_>) {
        let _ = context;
    }

    /// A packet has arrived for the end `end`.
    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival);

    /// A packet for the end `end` has failed its checksum: it counts as lost. Its headers can be read, as a link layer
    /// that tells of damage reads them.
    fn deliver_damaged(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let _ = (context, end, arrival);
    }

    /// A time that [`FlowContext::wake`] was given has come; perhaps one that no longer matters.
    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize);

    /// The application of the end `end` wants to go on, as `Target::Application` was planned.
    fn resume(&mut self, context: &mut FlowContext<'_>, end: usize) {
        let _ = (context, end);
    }

    /// A host has another link, of this bandwidth as far as it knows.
    fn hand_over(&mut self, context: &mut FlowContext<'_>, host: NodeId, bandwidth: Option<Rate>) {
        let _ = (context, host, bandwidth);
    }

    /// The receiver's interface falls asleep, or may wake; nothing for transports whose receivers do not decide.
    fn sleep(&mut self, context: &mut FlowContext<'_>, asleep: bool) {
        let _ = (context, asleep);
    }

    /// Bytes that reached the flow's application, in order where there is an order.
    fn delivered_bytes(&self) -> u64;

    /// Measures of the engine that detects losses and controls congestion; `None` while there is none.
    fn engine(&self) -> Option<EngineMetrics> {
        None
    }

    /// The congestion window for time series; `None` for transports that have none.
    fn window(&self) -> Option<Window> {
        Some(self.engine().map_or_else(Window::default, |engine| Window::of(&engine)))
    }

    /// Times from request to whole response; `None` for flows without requests.
    fn responses(&self) -> Option<&DelayHistogram> {
        None
    }

    /// Datagrams sent and arrived so far; `None` for transports that repeat what is lost.
    fn datagrams(&self) -> Option<[u64; 2]> {
        None
    }

    /// What each pipe has done, by name; empty for a flow of one pipe.
    fn pipes(&self, names: &PipeNames<'_>) -> Named<PipeResult> {
        let _ = names;
        Named::default()
    }

    /// What the flow's hosts have counted for it by `now`.
    fn counters(&self, now: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let _ = now;
        Vec::new()
    }

    /// What was found wrong with the flow; empty for a correct run.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    /// Addresses and ports of the data packets of a flow that is one TCP connection, by which proxies know it.
    fn tcp_key(&self) -> Option<FlowKey> {
        None
    }
}

/// A sender's congestion window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Its size in bytes.
    pub cwnd_bytes: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
}

impl Window {
    /// The window of an engine.
    pub fn of(engine: &EngineMetrics) -> Self {
        Self { cwnd_bytes: engine.cwnd_bytes, srtt: engine.srtt }
    }
}
