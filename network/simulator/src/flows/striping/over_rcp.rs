//! Striping by the application over RCP connections, which the receiving host opens.
use super::{Record, StripingFlow};
use crate::core::ids::NodeId;
use crate::core::ids::PortId;
use crate::core::site::Site;
use crate::flows::application::Notes;
use crate::flows::context::{Arrival, FlowContext};
use crate::flows::flow::Flow;
use crate::flows::names::PipeNames;
use crate::flows::pipes::pipe_result;
use crate::flows::rcp::endpoint::{RcpContent, RcpEnd, RcpEndpoint};
use crate::flows::transport::{BuiltFlow, FlowBuild};
use prismux_rcp::{PipeState, RcpConfig, SenderState};
use prismux_striping::{Read, Receiver, RecordHeader, Sender, Sockets};
use prismux_trace::results::{Named, PipeResult};
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// One connection: its two ends, and the records that were written to it and not read.
#[derive(Debug)]
struct Socket {
    sender: RcpEndpoint,
    receiver: RcpEndpoint,
    records: VecDeque<Record>,
    /// Bytes that the receiving end keeps. The sending one keeps twice as many: the data of one round trip tells what
    /// was written meanwhile, which the next one's requests ask for.
    buffer: u64,
    /// Addresses of the sending host and of the receiving one.
    addresses: [NodeId; 2],
    /// The direction of the link whose rate a smart sender is told.
    rate_of: PortId,
}

/// The applications at both ends, and their connections.
#[derive(Debug)]
pub(super) struct StripedOverRcp {
    sockets: Vec<Socket>,
    sender: Sender,
    receiver: Receiver,
    finite: bool,
    estimate_every: Option<Duration>,
    estimate_at: Option<Instant>,
    /// Delivered bytes at which the receiving application wants to know.
    next_mark: u64,
    /// The receiving host, and how many of the packets that came there found three quarters of their connection's
    /// receive buffer taken.
    host: NodeId,
    data_packets: u64,
    found_buffer_nearly_full: u64,
}

/// The end of the flow that serves socket `socket`, and the end where its data arrives.
const fn ends(socket: usize) -> [usize; 2] {
    [2 * socket, 2 * socket + 1]
}

pub(super) fn build(flow: &StripingFlow, build: &FlowBuild<'_>) -> BuiltFlow {
    let (from, to) = (build.plan.from, build.plan.to);
    let mut numbers = build.random("initial-sequence");
    let (mut sockets, mut sites) = (Vec::new(), Vec::new());
    let addresses = build.addresses(from).zip(build.addresses(to));
    for (index, (link, (own, other))) in build.links.iter().zip(addresses).enumerate() {
        let config = RcpConfig::from_tcp(flow.tcp_on(*link));
        let buffer = config.receive_buffer.as_u64();
        // Windows close when the application does not read.
        let config = Arc::new(RcpConfig { consume_on_arrival: false, ..config });
        let [sender, receiver] = ends(index).map(|number| {
            let mut end = RcpEndpoint::new(number, &config, Some(0), &mut numbers);
            (end.setup.config, end.setup.ends) = (Arc::clone(&config), false);
            end.setup.sends = number == ends(index)[0];
            end
        });
        let [source, sink] = ends(index).map(|number| build.end(number as u32));
        sites.push(Site::routed(build.flow, (source, own), (sink, other)));
        sites.push(Site::routed(build.flow, (sink, other), (source, own)));
        let (records, rate_of) = (VecDeque::new(), build.data_direction(*link));
        sockets.push(Socket { sender, receiver, records, buffer, addresses: [own, other], rate_of });
    }
    let record_bytes = u32::from(flow.tcp.mss);
    let mut sender = Sender::new(flow.policy, sockets.len().max(1), record_bytes);
    sender.give(build.bytes().unwrap_or(crate::flows::application::ENDLESS));
    let striped = StripedOverRcp {
        sockets,
        sender,
        receiver: Receiver::new(flow.resequencing_buffer.as_u64()),
        finite: build.bytes().is_some(),
        estimate_every: flow.estimate_every,
        estimate_at: None,
        next_mark: u64::MAX,
        host: to,
        data_packets: 0,
        found_buffer_nearly_full: 0,
    };
    build.built(striped, sites)
}

impl Socket {
    /// Room for what the sending application writes; none before the connection is there.
    fn room(&self) -> u64 {
        match &self.sender.end {
            RcpEnd::Sender(sender) if sender.state() == SenderState::Established => {
                (2 * self.buffer).saturating_sub(sender.stream_written() - sender.stream_purged())
            }
            _ => 0,
        }
    }

    /// Whether what has arrived and was not read takes three quarters of the buffer.
    fn is_nearly_full(&self) -> bool {
        matches!(&self.receiver.end, RcpEnd::Receiver(receiver) if receiver.bytes_held() * 4 >= self.buffer * 3)
    }
}

/// The connections as the receiving application sees them.
struct View<'a, 'b> {
    sockets: &'a mut [Socket],
    context: &'a mut FlowContext<'b>,
}

impl Sockets for View<'_, '_> {
    fn count(&self) -> usize {
        self.sockets.len()
    }

    fn peek(&self, socket: usize) -> Option<RecordHeader> {
        let socket = &self.sockets[socket];
        let RcpEnd::Receiver(receiver) = &socket.receiver.end else { return None };
        let record = socket.records.front()?;
        (receiver.bytes_readable() >= record.record_bytes()).then_some(*record)
    }
}

impl StripedOverRcp {
    /// Both applications do what they can.
    fn serve(&mut self, context: &mut FlowContext<'_>) {
        self.write(context);
        let before = self.receiver.delivered();
        let mut view = View { sockets: &mut self.sockets, context };
        self.receiver.run(&mut view, |view, Read { socket, header, .. }| {
            let socket = &mut view.sockets[socket];
            socket.records.pop_front();
            let read = |receiver: &mut prismux_rcp::Receiver, _| receiver.read(header.record_bytes());
            socket.receiver.with_receiver(view.context, read);
        });
        let delivered = self.receiver.delivered();
        if delivered > before && delivered >= self.next_mark {
            self.next_mark = context.progress(delivered);
        }
    }

    /// The sending application writes records as long as connections take them.
    fn write(&mut self, context: &mut FlowContext<'_>) {
        while let Some(write) = self.sender.poll_write(|socket| self.sockets[socket].room()) {
            let socket = &mut self.sockets[write.socket];
            socket.records.push_back(write.header);
            socket.sender.write(context, write.header.record_bytes());
        }
        if self.finite && self.sender.is_done() {
            for socket in &mut self.sockets {
                socket.sender.finish(context);
            }
        }
    }

    /// Tells the sending application the true rates of the links.
    fn estimate(&mut self, context: &mut FlowContext<'_>) {
        let rate = |socket: &Socket| {
            let link = &context.network.ports[socket.rate_of.index()].link;
            link.rate().map_or(1e12, |rate| rate.as_bps() as f64)
        };
        let rates: Vec<f64> = self.sockets.iter().map(rate).collect();
        self.sender.estimate(&rates);
        self.estimate_at = self.estimate_every.map(|every| context.now() + every);
        if let Some(at) = self.estimate_at {
            context.wake(0, at);
        }
    }

    fn end_mut(&mut self, end: usize) -> &mut RcpEndpoint {
        let socket = &mut self.sockets[end / 2];
        if end == ends(end / 2)[0] { &mut socket.sender } else { &mut socket.receiver }
    }
}

impl Flow for StripedOverRcp {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.next_mark = context.first_mark();
        self.estimate(context);
        for socket in &mut self.sockets {
            socket.receiver.open(context);
        }
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        for socket in &mut self.sockets {
            socket.receiver.abort(context);
        }
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some((packet, offset)) = RcpContent::take(context, &arrival) else { return };
        let _: Notes = self.end_mut(end).receive(context, &packet, offset, false);
        if end == ends(end / 2)[1] && packet.payload_bytes > 0 {
            self.data_packets += 1;
            self.found_buffer_nearly_full += u64::from(self.sockets[end / 2].is_nearly_full());
        }
        self.serve(context);
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        if self.estimate_at.is_some_and(|at| at <= context.now()) {
            self.estimate(context);
        }
        self.end_mut(end).fire(context);
        self.serve(context);
    }

    fn delivered_bytes(&self) -> u64 {
        self.receiver.delivered()
    }

    /// By the names of their access links.
    fn pipes(&self, names: &PipeNames<'_>) -> Named<PipeResult> {
        let line = |(index, socket): (usize, &Socket)| {
            let [own, other] = socket.addresses;
            (names.of(own, other, index), result(socket))
        };
        self.sockets.iter().enumerate().map(line).collect()
    }

    fn counters(&self, _: Instant) -> Vec<(NodeId, &'static str, u64)> {
        vec![
            (self.host, "data_packets", self.data_packets),
            (self.host, "found_buffer_nearly_full", self.found_buffer_nearly_full),
        ]
    }
}

fn result(socket: &Socket) -> PipeResult {
    match (&socket.sender.end, &socket.receiver.end) {
        (RcpEnd::Sender(sender), RcpEnd::Receiver(receiver))
            if receiver.pipe().state() != PipeState::SynSent =>
        {
            let received = receiver.bytes_received_in_order();
            pipe_result(sender.stream_written(), received, &receiver.pipe().metrics())
        }
        _ => PipeResult::default(),
    }
}
