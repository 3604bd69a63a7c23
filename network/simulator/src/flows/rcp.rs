//! RCP, the Reception Control Protocol: the receiver opens, asks and controls.
pub(super) mod endpoint;

use super::application::Notes;
use super::context::{Arrival, FlowContext};
use super::flow::Flow;
use super::transport::{BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::checker::StreamCheck;
use crate::core::ids::FlowId;
use crate::simulation::Simulation;
use endpoint::{RcpContent, RcpEnd, RcpEndpoint};
use prismux_rcp::{RcpConfig, Receiver, Sender};
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Instant;

/// The two ends of a transfer over RCP.
#[derive(Debug, Clone, PartialEq)]
pub struct RcpFlow {
    /// Switches of the sending end.
    pub sender: RcpConfig,
    /// Switches of the receiving end.
    pub receiver: RcpConfig,
    /// The receiver learns from its link layer which packets arrived damaged (explicit loss notification).
    pub hears_damage: bool,
    /// The name in results.
    pub name: String,
}

impl RcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: RcpConfig) -> Self {
        Self { sender: config.clone(), receiver: config, hears_damage: false, name: "rcp".into() }
    }

    /// RCP-ELN: the receiver hears of damage.
    pub fn with_loss_notification(self) -> Self {
        Self { hears_damage: true, name: "rcp-eln".into(), ..self }
    }
}

/// What two ends agree on. RCP's headers in UDP are as long as TCP's.
pub(super) fn segment(a: &RcpConfig, b: &RcpConfig) -> SegmentShape {
    SegmentShape { mss: a.mss.min(b.mss), timestamps: a.timestamps && b.timestamps }
}

impl Transport for RcpFlow {
    fn name(&self) -> &str {
        &self.name
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(segment(&self.sender, &self.receiver))
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let mut numbers = build.random("initial-sequence");
        let sender = RcpEndpoint::new(SENDER, &self.sender, build.bytes(), &mut numbers);
        let mut receiver = RcpEndpoint::new(RECEIVER, &self.receiver, build.bytes(), &mut numbers);
        receiver.setup.hears_damage = self.hears_damage;
        receiver.check = build.checks().then(Box::<StreamCheck>::default);
        build.two_ends(RcpPair { ends: [sender, receiver] })
    }
}

/// A sender that waits and a receiver that will open.
#[derive(Debug)]
struct RcpPair {
    ends: [RcpEndpoint; 2],
}

/// The ends by number.
const SENDER: usize = 0;
const RECEIVER: usize = 1;

impl RcpPair {
    fn receive(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival, damaged: bool) {
        if let Some((packet, offset)) = RcpContent::take(context, &arrival) {
            let notes = self.ends[end].receive(context, &packet, offset, damaged);
            self.serve(context, end, notes);
        }
    }

    /// The receiving application notes how far it has got.
    fn serve(&mut self, context: &mut FlowContext<'_>, end: usize, notes: Notes) {
        let end = &mut self.ends[end];
        if notes.readable >= end.next_mark && notes.readable > 0 {
            end.next_mark = context.progress(end.received());
        }
    }
}

impl Flow for RcpPair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.ends[RECEIVER].next_mark = context.first_mark();
        self.ends[RECEIVER].open(context);
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.ends[RECEIVER].abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        self.receive(context, end, arrival, false);
    }

    fn deliver_damaged(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        if self.ends[end].setup.hears_damage {
            self.receive(context, end, arrival, true);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        let notes = self.ends[end].fire(context);
        self.serve(context, end, notes);
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[RECEIVER].received()
    }

    /// Of the receiving end, which has it.
    fn engine(&self) -> Option<EngineMetrics> {
        self.ends[RECEIVER].engine_metrics()
    }

    fn faults(&self) -> Vec<String> {
        let check = self.ends[RECEIVER].check.as_deref();
        check.into_iter().flat_map(|check| check.faults()).cloned().collect()
    }
}

impl Simulation {
    /// Uses the receiver of an RCP flow, for instance to freeze it.
    pub fn with_rcp_receiver(&mut self, flow: FlowId, action: impl FnOnce(&mut Receiver, Instant)) {
        self.with_flow_as(flow, |pair: &mut RcpPair, context| {
            pair.ends[RECEIVER].with_receiver(context, action);
        });
    }

    /// The receiving end of an RCP flow, once it has been opened.
    pub fn rcp_receiver(&self, flow: FlowId) -> Option<&Receiver> {
        match &self.flow_as::<RcpPair>(flow)?.ends[RECEIVER].end {
            RcpEnd::Receiver(receiver) => Some(receiver),
            _ => None,
        }
    }

    /// The sending end of an RCP flow, once it has been asked.
    pub fn rcp_sender(&self, flow: FlowId) -> Option<&Sender> {
        match &self.flow_as::<RcpPair>(flow)?.ends[SENDER].end {
            RcpEnd::Sender(sender) => Some(sender),
            _ => None,
        }
    }
}
