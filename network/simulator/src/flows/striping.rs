//! Striping by the application: one ordinary connection for every link, TCP's or RCP's.
mod endpoint;
mod over_rcp;

use super::application::{ENDLESS, Notes};
use super::context::{Arrival, FlowContext};
use super::flow::Flow;
use super::names::PipeNames;
use super::pipes::{PipesRole, pipe_result};
use super::transport::{BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::ids::{LinkId, NodeId};
use endpoint::{Record, StripingEndpoint, StripingSetup};
use prismux_plan::{StripedOver, StripingSettings};
use prismux_striping::Policy;
use prismux_tcp::{Connection, TcpConfig};
use prismux_trace::results::{Named, PipeResult};
use prismux_units::{ByteCount, Duration};
use std::collections::VecDeque;
use std::sync::Arc;

/// An application that stripes over ordinary sockets, and its sockets.
#[derive(Debug, Clone)]
pub struct StripingFlow {
    /// Switches of every connection. Its receive buffer is also the size of the send buffer.
    pub tcp: TcpConfig,
    /// Switches that differ on some links: larger buffers, say.
    pub other_tcp: Vec<(LinkId, TcpConfig)>,
    /// How records are given to the sockets.
    pub policy: Policy,
    /// Room for early records at the receiver.
    pub resequencing_buffer: ByteCount,
    /// A smart sender is told the true rates of the links at the start, and again this often.
    pub estimate_every: Option<Duration>,
    /// Explicit loss notification on every connection (TCP-ELN).
    pub loss_notification: bool,
    /// What the connections are.
    pub over: StripedOver,
}

impl Transport for StripingFlow {
    fn name(&self) -> &str {
        match self.policy {
            Policy::Unaware => "striping-unaware",
            Policy::Smart => "striping-smart",
        }
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(SegmentShape::agreed(&self.tcp, &self.tcp))
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        if self.over == StripedOver::Rcp {
            return over_rcp::build(self, build);
        }
        let source = PipesRole::Source { bytes: build.bytes().unwrap_or(ENDLESS) };
        let (from, to) = (build.plan.from, build.plan.to);
        let setups = [self.setup(build, [from, to], true), self.setup(build, [to, from], false)];
        let [opening, listening] = setups;
        let ends = [
            StripingEndpoint::new(SOURCE, source, opening),
            StripingEndpoint::new(SINK, PipesRole::Sink, listening),
        ];
        build.two_ends(StripedPair { ends, records: Vec::new() })
    }
}

impl StripingFlow {
    /// As a plan has it; its connections follow `tcp`.
    pub(super) fn planned(settings: &StripingSettings, tcp: TcpConfig, policy: Policy) -> Self {
        let wide = settings.wide(&tcp);
        Self {
            tcp,
            other_tcp: settings.wide_links.iter().map(|&link| (link, wide.clone())).collect(),
            policy,
            resequencing_buffer: settings.buffer,
            estimate_every: settings.estimate_every,
            loss_notification: settings.loss_notification,
            over: settings.over,
        }
    }

    /// Switches of the connection over `link`.
    fn tcp_on(&self, link: LinkId) -> &TcpConfig {
        let other = self.other_tcp.iter().find(|(which, _)| *which == link);
        other.map_or(&self.tcp, |(_, config)| config)
    }

    /// What one end needs: the same ports for all sockets but for the last digits.
    fn setup(&self, build: &FlowBuild<'_>, [own, other]: [NodeId; 2], opens: bool) -> StripingSetup {
        let number = build.flow.0;
        let (near, far) = ((20_000 + (number % 4_000) * 8) as u16, (6001 + number / 4_000) as u16);
        let links = &build.links;
        let tcp = |link: &LinkId| {
            // Windows close when the application does not read.
            Arc::new(TcpConfig { consume_on_arrival: false, nagle: false, ..self.tcp_on(*link).clone() })
        };
        StripingSetup {
            tcp: links.iter().map(tcp).collect(),
            policy: self.policy,
            resequencing_buffer: self.resequencing_buffer.as_u64(),
            estimate_every: self.estimate_every,
            loss_notification: self.loss_notification,
            sockets: build.addresses(own).zip(build.addresses(other)).collect(),
            rates_of: links.iter().map(|&link| build.data_direction(link)).collect(),
            first_port: near,
            far_port: far,
            numbers: build.seed.stream(&format!("flow/{number}/{opens}/initial-sequence")),
        }
    }
}

/// Both ends.
#[derive(Debug)]
struct StripedPair {
    ends: [StripingEndpoint; 2],
    /// What was written to each socket and not read. Stands for the bytes of the records' headers.
    records: Vec<VecDeque<Record>>,
}

/// The ends by number.
const SOURCE: usize = 0;
const SINK: usize = 1;

impl StripedPair {
    /// Lets the application of `end` act on `notes`, and on the notes that its acts produce.
    fn serve(&mut self, context: &mut FlowContext<'_>, end: usize, mut notes: Notes) {
        let end = &mut self.ends[end];
        while end.role == PipesRole::Sink {
            if notes.readable >= end.next_mark {
                end.next_mark = context.progress(notes.readable);
            }
            if notes.ended || !notes.peer_closed {
                return;
            }
            notes = end.close_and_drain(context, &mut self.records);
        }
    }
}

impl Flow for StripedPair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        let notes = self.ends[SOURCE].open(context, &mut self.records);
        self.serve(context, SOURCE, notes);
        self.ends[SINK].next_mark = context.first_mark();
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.ends[SOURCE].abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some((segment, _)) = arrival.segment() else { return };
        let notes = self.ends[end].receive(context, &mut self.records, segment);
        self.serve(context, end, notes);
    }

    fn deliver_damaged(&mut self, _: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        if let Some((segment, _)) = arrival.segment() {
            self.ends[end].receive_damaged(&segment);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        let notes = self.ends[end].fire(context, &mut self.records);
        self.serve(context, end, notes);
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[SINK].received()
    }

    /// By the names of their access links.
    fn pipes(&self, names: &PipeNames<'_>) -> Named<PipeResult> {
        let [sender, receiver] = &self.ends;
        let pairs = sender.connections().zip(receiver.connections()).enumerate();
        pairs
            .map(|(index, (sent, received))| {
                let (own, other) = sender.addresses(index);
                (names.of(own, other, index), socket_result(sent, received))
            })
            .collect()
    }
}

fn socket_result(sent: Option<&Connection>, received: Option<&Connection>) -> PipeResult {
    let Some(sent) = sent else { return PipeResult::default() };
    let received = received.map_or(0, Connection::bytes_received_in_order);
    pipe_result(sent.stream_written(), received, &sent.metrics().engine)
}
