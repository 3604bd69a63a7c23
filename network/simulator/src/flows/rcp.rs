//! RCP, the Reception Control Protocol: the receiver opens, asks and controls.
pub(super) mod endpoint;
mod sleep;

use super::application::Notes;
use super::context::{Arrival, FlowContext};
use super::flow::Flow;
use super::transport::{BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::checker::StreamCheck;
use crate::core::ids::{FlowId, NodeId};
use crate::simulation::Simulation;
use endpoint::{RcpContent, RcpEnd, RcpEndpoint};
use prismux_plan::{RcpOpener, RcpSettings, Traffic};
use prismux_rcp::{RcpConfig, Receiver, Sender};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::EngineMetrics;
use prismux_units::{Duration, Instant};
use sleep::Sleep;

/// The two ends of a transfer over RCP.
#[derive(Debug, Clone, PartialEq)]
pub struct RcpFlow {
    /// Switches of the sending end.
    pub sender: RcpConfig,
    /// Switches of the receiving end.
    pub receiver: RcpConfig,
    /// The receiver learns from its link layer which packets arrived damaged (explicit loss notification).
    pub hears_damage: bool,
    /// Who opens the connection.
    pub opened_by: RcpOpener,
    /// A sleeping receiver wakes at the next multiple of this after it fell asleep; at once when `None`.
    pub beacon: Option<Duration>,
    /// Writes of so many bytes at such intervals, in place of a file.
    pub writes: Option<(u64, Duration)>,
    /// The name in results.
    pub name: String,
}

impl RcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: RcpConfig) -> Self {
        Self {
            sender: config.clone(),
            receiver: config,
            hears_damage: false,
            opened_by: RcpOpener::Receiver,
            beacon: None,
            writes: None,
            name: "rcp".into(),
        }
    }

    /// As a plan has it; its ends follow `tcp`.
    pub(super) fn planned(settings: &RcpSettings, traffic: &Traffic, tcp: &TcpConfig) -> Self {
        let writes = match *traffic {
            Traffic::Writes { size, every } => Some((size.as_u64(), every)),
            _ => None,
        };
        let RcpSettings { opened_by, beacon, .. } = *settings;
        Self { opened_by, beacon, writes, ..Self::new(settings.config(tcp)) }
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
        let mut sender = RcpEndpoint::new(SENDER, &self.sender, build.bytes(), &mut numbers);
        let mut receiver = RcpEndpoint::new(RECEIVER, &self.receiver, build.bytes(), &mut numbers);
        receiver.setup.hears_damage = self.hears_damage;
        receiver.setup.sends = false;
        receiver.check = build.checks().then(Box::<StreamCheck>::default);
        if self.writes.is_some() {
            sender.setup.bytes = 0;
        }
        let writer = self.writes.map(|(bytes, every)| Writer { bytes, every, next_at: None });
        let sleep = Sleep::new(self.beacon);
        let host = build.plan.to;
        let opener = match self.opened_by {
            RcpOpener::Receiver => RECEIVER,
            RcpOpener::Sender => SENDER,
        };
        build.two_ends(RcpPair { ends: [sender, receiver], opener, unopened: false, writer, sleep, host })
    }
}

/// Both ends.
#[derive(Debug)]
struct RcpPair {
    ends: [RcpEndpoint; 2],
    /// The end that opens.
    opener: usize,
    /// The flow has started while the receiver, which opens, slept.
    unopened: bool,
    writer: Option<Writer>,
    sleep: Sleep,
    /// Of the receiver.
    host: NodeId,
}

/// An application that writes now and then, and has nothing to send in between.
#[derive(Debug)]
struct Writer {
    bytes: u64,
    every: Duration,
    /// `None` before the connection is there.
    next_at: Option<Instant>,
}

/// The ends by number.
const SENDER: usize = 0;
const RECEIVER: usize = 1;

impl RcpPair {
    fn receive(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival, damaged: bool) {
        if let Some((packet, offset)) = RcpContent::take(context, &arrival) {
            let notes = self.ends[end].receive(context, &packet, offset, damaged);
            self.serve(context, end, notes);
            self.begin_writing(context);
        }
    }

    /// The first write follows the connection, as TCP's does.
    fn begin_writing(&mut self, context: &mut FlowContext<'_>) {
        let is_open = matches!(self.ends[SENDER].end, RcpEnd::Sender(_));
        if let Some(writer) = self.writer.as_mut().filter(|writer| is_open && writer.next_at.is_none()) {
            writer.next_at = Some(context.now());
            self.write(context);
        }
    }

    /// Writes what is due.
    fn write(&mut self, context: &mut FlowContext<'_>) {
        let now = context.now();
        let Some(writer) = self.writer.as_mut().filter(|writer| writer.next_at.is_some_and(|at| at <= now))
        else {
            return;
        };
        let next = now + writer.every;
        writer.next_at = Some(next);
        context.wake(SENDER, next);
        self.ends[SENDER].write(context, writer.bytes);
    }

    /// Wakes the receiver, if it is time to.
    fn wake(&mut self, context: &mut FlowContext<'_>) {
        if !self.sleep.wake(context.now()) {
            return;
        }
        if std::mem::take(&mut self.unopened) {
            self.ends[RECEIVER].open(context);
        }
        self.ends[RECEIVER].with_receiver(context, |receiver, now| receiver.thaw(now));
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
        self.unopened = self.opener == RECEIVER && self.sleep.is_asleep();
        if !self.unopened {
            self.ends[self.opener].open(context);
            self.begin_writing(context);
        }
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        (self.writer, self.unopened) = (None, false);
        self.ends[RECEIVER].abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        if end == RECEIVER && self.sleep.is_asleep() {
            self.sleep.lost_packets += 1;
            return;
        }
        self.receive(context, end, arrival, false);
    }

    fn deliver_damaged(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        if self.ends[end].setup.hears_damage && !self.sleep.is_asleep() {
            self.receive(context, end, arrival, true);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        match end {
            RECEIVER => self.wake(context),
            _ => self.write(context),
        }
        let notes = self.ends[end].fire(context);
        self.serve(context, end, notes);
    }

    fn sleep(&mut self, context: &mut FlowContext<'_>, asleep: bool) {
        let now = context.now();
        if !asleep {
            self.sleep.end(now).inspect(|&at| context.wake(RECEIVER, at));
        } else if self.sleep.begin(now) {
            self.ends[RECEIVER].with_receiver(context, |receiver, _| receiver.freeze());
        }
    }

    fn counters(&self, now: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let slept_ms = self.sleep.slept_ms(now);
        let counters = [("asleep_ms", slept_ms), ("lost_asleep_packets", self.sleep.lost_packets)];
        let slept = counters.into_iter().filter(|_| slept_ms > 0);
        slept.map(|(name, count)| (self.host, name, count)).collect()
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
