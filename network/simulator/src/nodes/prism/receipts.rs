//! Receipts in the network: a number around each packet to a member, and messages from the member.
use super::repairs::{self, Protected, Recovery};
use crate::core::ids::NodeId;
use crate::core::packet::{Content, IPV4_HEADER_BYTES, Transit, UDP_HEADER_BYTES};
use crate::nodes::context::NodeContext;
use prismux_endpoint::{Alarm, Deadline, Endpoint as _, expire};
use prismux_receipts::{
    Arrived, LinkEstimate, LinkMeter, MESSAGE_BYTES, MeterCounters, MeterEvent, Passage, Receipt,
    ReceiptWriter, WriterConfig,
};
use prismux_shared_bottleneck::{Detector, Finding, Passed};
use prismux_units::Instant;
use prismux_wire::gre::SEQUENCE_BYTES;
use prismux_wire::{Ecn, SeqNumber};

/// Nobody begins anew in a simulation.
const EPOCH: u32 = 1;

/// The sequence number in the GRE header of a packet.
#[derive(Debug, Clone, Copy)]
struct Number(SeqNumber);

impl Content for Number {
    fn header_bytes(&self) -> usize {
        SEQUENCE_BYTES
    }

    fn emit(&self, bytes: &mut [u8]) {
        if let Some(room) = bytes.get_mut(..SEQUENCE_BYTES) {
            room.copy_from_slice(&self.0.0.to_be_bytes());
        }
    }
}

/// A receipt on its way to the proxy.
#[derive(Debug, Clone)]
struct Message {
    member: NodeId,
    receipt: Receipt,
    /// As written, with what is around it beside an IP and a UDP header.
    bytes: Vec<u8>,
}

impl Content for Message {
    fn header_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn emit(&self, bytes: &mut [u8]) {
        if let Some(room) = bytes.get_mut(..self.bytes.len()) {
            room.copy_from_slice(&self.bytes);
        }
    }
}

/// A member that writes receipts.
#[derive(Debug)]
pub(super) struct Receipts {
    writer: ReceiptWriter,
    /// Where the proxy sends repairs.
    recovery: Option<Recovery>,
    /// Bytes that the tunnel adds to a packet.
    tunnel_bytes: u32,
    /// Bytes on the link around a receipt.
    around_bytes: u32,
    alarm: Alarm,
}

impl Receipts {
    /// For a member whose tunnel adds `tunnel_bytes` to a packet, and which makes use of repairs if `fec`.
    pub fn new(tunnel_bytes: u32, fec: bool) -> Self {
        let around_bytes = tunnel_bytes + MESSAGE_BYTES;
        let config = WriterConfig { around_bytes, ..WriterConfig::default() };
        let writer = ReceiptWriter::new(config, EPOCH, Instant::ZERO);
        Self { writer, recovery: fec.then(Recovery::new), tunnel_bytes, around_bytes, alarm: Alarm::new() }
    }

    /// A packet has come out of the tunnel: its number is taken off, and noted. What is to go on is pushed to
    /// `onwards`, in this order.
    pub fn arrived(
        &mut self,
        context: &mut NodeContext<'_>,
        proxy: NodeId,
        mut packet: Transit,
        onwards: &mut Vec<Transit>,
    ) {
        let (now, bytes) = (context.now(), packet.size_bytes + self.tunnel_bytes);
        let Some(Number(number)) = context.take_header(&mut packet) else { return onwards.push(packet) };
        if self.recovery.as_mut().is_some_and(|recovery| recovery.is_late(number)) {
            self.writer.came_after_all();
            return context.discard(packet);
        }
        self.writer.handle_input(now, Arrived { number, bytes, ecn: Ecn::NotEct });
        let Some(recovery) = &mut self.recovery else {
            onwards.push(packet);
            return self.write(context, proxy);
        };
        onwards.extend(recovery.arrived(context, number, packet));
        while let Some((number, kept)) = recovery.recovered(context) {
            self.writer.recovered(now, number);
            onwards.push(context.put_back_kept(&kept, kept.packet().destination));
        }
        self.write(context, proxy);
    }

    /// A time has come.
    pub fn timeout(&mut self, context: &mut NodeContext<'_>, proxy: NodeId) {
        if self.alarm.rings(context.now()) {
            self.write(context, proxy);
        }
    }

    fn write(&mut self, context: &mut NodeContext<'_>, proxy: NodeId) {
        let now = context.now();
        while let Some(receipt) = self.writer.poll_transmit(now) {
            let mut bytes =
                vec![0; self.around_bytes.saturating_sub(IPV4_HEADER_BYTES + UDP_HEADER_BYTES) as usize];
            receipt.emit(&mut bytes);
            let message = Message { member: context.node(), receipt, bytes };
            let packet = context.originate(message, Some(proxy), 0);
            context.forward(packet);
        }
        if let Some(at) = self.alarm.set(now, self.writer.poll_timeout()) {
            context.wake(at);
        }
    }
}

/// Positions of packets that a meter takes for lost since it was last asked.
fn lost(meter: &mut LinkMeter) -> Vec<u32> {
    let mut positions = Vec::new();
    while let Some(event) = meter.poll_event() {
        if let MeterEvent::Lost { tag: Some(position), .. } = event {
            positions.push(position);
        }
    }
    positions
}

/// The number by which links are compared.
fn number_of(link: usize) -> u8 {
    u8::try_from(link).unwrap_or(u8::MAX)
}

/// Tells what a meter has learned of its link.
fn compare(detector: &mut Detector, now: Instant, (link, meter): (u8, &mut LinkMeter), lost: usize) {
    detector.lost(link, lost as u64);
    while let Some(passage) = meter.poll_passage() {
        let Passage { sent_at, sent_before_bytes, delay_nanos, queueing_delay } = passage;
        detector.passed(now, link, Passed { sent_at, sent_before_bytes, delay_nanos, queueing_delay });
    }
}

/// What a receipt has told.
pub(super) struct Told {
    /// Number of the link.
    pub link: usize,
    /// What is known of it by now.
    pub estimate: LinkEstimate,
    /// Positions of packets that are lost.
    pub lost: Vec<u32>,
}

/// What a packet was to the meters.
pub(super) enum Taken {
    /// Something else.
    NoReceipt,
    /// A receipt that says nothing.
    Discarded,
    /// A receipt.
    Receipt(Box<Told>),
}

/// The meters of a proxy's links, by number, none where it asks for no receipts; and which of them share a bottleneck.
#[derive(Debug, Default)]
pub(super) struct Meters {
    links: Vec<Metered>,
    bottlenecks: Detector,
}

/// A link that is measured.
#[derive(Debug)]
struct Metered {
    meter: LinkMeter,
    /// Where repairs are sent.
    protected: Option<Protected>,
    /// Repairs that were sent.
    repairs: u64,
}

impl Meters {
    /// For so many links, protected by repairs if `fec`.
    pub fn new(links: usize, fec: bool) -> Self {
        let metered =
            || Metered { meter: LinkMeter::new(EPOCH), protected: fec.then(repairs::protected), repairs: 0 };
        Self { links: (0..links).map(|_| metered()).collect(), bottlenecks: Detector::default() }
    }

    /// Puts a number on a packet for the member of a link, which the proxy calls `position`.
    pub fn number(
        &mut self,
        context: &mut NodeContext<'_>,
        link: usize,
        packet: &mut Transit,
        position: Option<u32>,
    ) {
        let Some(Metered { meter, protected, .. }) = self.links.get_mut(link) else { return };
        let now = context.now();
        let bytes = packet.size_bytes + SEQUENCE_BYTES as u32;
        let number = meter.send(now, bytes, position);
        self.bottlenecks.sent(now, number_of(link), bytes);
        if let Some(protected) = protected {
            protected.sent(now, meter, number, || context.keep_copy(packet));
        }
        context.put_header(packet, Number(number));
    }

    /// Sends the repairs of a link that are due to its `member`, whose tunnel adds `tunnel_bytes`.
    pub fn send_repairs(
        &mut self,
        context: &mut NodeContext<'_>,
        link: usize,
        (member, tunnel_bytes): (NodeId, u32),
    ) {
        let Some(Metered { meter, protected: Some(protected), repairs }) = self.links.get_mut(link) else {
            return;
        };
        repairs::send(context, (protected, meter), (member, tunnel_bytes), |context, meter, packet| {
            let number = meter.send(context.now(), packet.size_bytes + SEQUENCE_BYTES as u32, None);
            context.put_header(packet, Number(number));
            *repairs += 1;
        });
    }

    /// Links to which repairs are due.
    pub fn to_repair(&self, now: Instant) -> Vec<usize> {
        let is_due = |(_, metered): &(usize, &Metered)| {
            metered.protected.as_ref().is_some_and(|protected| protected.is_due(now))
        };
        self.links.iter().enumerate().filter(is_due).map(|(link, _)| link).collect()
    }

    /// Takes a packet in if it is a receipt of one of the `members`: the number of the link that it tells of.
    pub fn take(&mut self, context: &mut NodeContext<'_>, members: &[NodeId], packet: Transit) -> Taken {
        if self.links.is_empty() || context.content::<Message>(&packet).is_none() {
            return Taken::NoReceipt;
        }
        // A damaged message fails its authentication.
        if context.network.pool.get(packet.carried.packet).damaged {
            context.discard(packet);
            return Taken::Discarded;
        }
        let now = context.now();
        if let Some(message) = context.take::<Message>(&packet)
            && let Some(link) = members.iter().position(|member| *member == message.member)
            && let Some(Metered { meter, protected, .. }) = self.links.get_mut(link)
        {
            meter.handle_input(now, &message.receipt);
            let (lost, estimate) = (lost(meter), meter.estimate(now));
            compare(&mut self.bottlenecks, now, (number_of(link), meter), lost.len());
            if let Some(protected) = protected {
                protected.measured(meter, &estimate);
            }
            return Taken::Receipt(Box::new(Told { link, estimate, lost }));
        }
        Taken::Discarded
    }

    /// Judges packets of which nothing was heard for too long: links, and positions of packets that are lost.
    pub fn expire(&mut self, now: Instant) -> Vec<(usize, u32)> {
        let meters = self.links.iter_mut().enumerate().filter_map(|(link, metered)| {
            expire(&mut metered.meter, now).then_some((link, &mut metered.meter))
        });
        meters
            .flat_map(|(link, meter)| lost(meter).into_iter().map(move |position| (link, position)))
            .collect()
    }

    /// When [`Meters::expire`] or [`Meters::to_repair`] has something to do.
    pub fn deadline(&self) -> Option<Deadline> {
        let of = |metered: &Metered| {
            let repairs = metered.protected.as_ref().and_then(Protected::deadline);
            Deadline::earliest(metered.meter.poll_timeout(), repairs)
        };
        self.links.iter().map(of).fold(None, Deadline::earliest)
    }

    /// What is known of the links.
    pub fn estimates(&self, now: Instant) -> impl Iterator<Item = (LinkEstimate, MeterCounters)> {
        self.links.iter().map(move |Metered { meter, .. }| (meter.estimate(now), *meter.counters()))
    }

    /// Which of the first links share a bottleneck.
    pub fn bottlenecks(&self) -> impl Iterator<Item = Finding> {
        self.bottlenecks.findings()
    }

    /// Columns of results; none where there are no receipts.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        if self.links.is_empty() {
            return Vec::new();
        }
        let sum =
            |count: fn(&MeterCounters) -> u64| self.links.iter().map(|of| count(of.meter.counters())).sum();
        let mut columns = vec![
            ("receipts", sum(|counters| counters.receipts)),
            ("receipt_losses", sum(|counters| counters.lost_packets)),
            ("receipt_spurious_losses", sum(|counters| counters.spurious_losses)),
        ];
        if self.links.iter().any(|metered| metered.protected.is_some()) {
            columns.push(("repairs", self.links.iter().map(|metered| metered.repairs).sum()));
            columns.push(("recovered_packets", sum(|counters| counters.recovered_packets)));
        }
        columns
    }
}
