//! What travels through a network: one room for each transport.
//!
//! A [`Transport`] is the description of a flow's transport and makes the [`Flow`] itself: both ends with their
//! protocol machines and applications. The simulation knows flows by this trait alone. Only TCP's ends, which most
//! packets are for, lie in a list of their own and are called directly.
mod context;
mod pipes;
mod plan;
mod record;
mod registry;
mod table;

mod ptcp;
mod r2cp;
mod rcp;
mod striping;
mod tcp;
mod udp;

pub(crate) use context::packet;
pub use context::{Arrival, FlowContext};
pub(crate) use plan::Built;
pub use plan::{
    AnyTransport, BuiltFlow, CongestionFactory, ExtensionFactory, Factory, FlowBuild, FlowConfig,
    SegmentShape, Transport,
};
pub(crate) use record::FlowRecord;
pub(crate) use registry::planned;
pub(crate) use table::Flows;

pub use ptcp::PtcpFlow;
pub use r2cp::{R2cpFlow, R2cpPath};
pub use rcp::RcpFlow;
pub use striping::StripingFlow;
pub use tcp::{Answers, RequestResponse, TcpFlow};
pub use udp::{Cbr, ParetoOnOff};

use crate::core::ids::{EndpointId, FlowId, NodeId, PortId};
use crate::simulation::PipeNames;
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::results::{Named, PipeResult};
use prismux_units::{Duration, Rate};
use prismux_wire::FlowKey;
use std::any::Any;
use std::fmt;

/// A stream without end: more than any run carries, and far from overflow.
pub(crate) const ENDLESS: u64 = 1 << 62;

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

    /// The application of the end `end` wants to go on, as [`FlowContext::wake_application`] was told.
    fn resume(&mut self, context: &mut FlowContext<'_>, end: usize) {
        let _ = (context, end);
    }

    /// A host has another link, of this bandwidth as far as it knows.
    fn hand_over(&mut self, context: &mut FlowContext<'_>, host: NodeId, bandwidth: Option<Rate>) {
        let _ = (context, host, bandwidth);
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

    /// What each pipe has done, by name; empty for a flow of one pipe.
    fn pipes(&self, names: &PipeNames<'_>) -> Named<PipeResult> {
        let _ = names;
        Named::default()
    }

    /// What the flow's hosts have counted for it.
    fn counters(&self) -> Vec<(NodeId, &'static str, u64)> {
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

/// What the application must know after its machine has been driven; gathered while the machine is borrowed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notes {
    /// In-order bytes so far, when they changed.
    pub readable: u64,
    pub connected: bool,
    pub peer_closed: bool,
    pub ended: bool,
}

/// Where an endpoint sits and whom it talks to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub own: EndpointId,
    pub node: NodeId,
    pub peer_node: NodeId,
    pub peer: EndpointId,
    pub flow: FlowId,
    /// The exit to use, where the node's role allows to know it beforehand.
    pub exit: Option<PortId>,
    /// The exit to use whatever routing says.
    pub fixed_exit: Option<PortId>,
}

impl Site {
    /// An endpoint on its node and its peer on the peer's; routing chooses the exit.
    pub const fn routed(flow: FlowId, own: (EndpointId, NodeId), peer: (EndpointId, NodeId)) -> Self {
        let ((own, node), (peer, peer_node)) = (own, peer);
        Self { own, node, peer_node, peer, flow, exit: None, fixed_exit: None }
    }
}
