//! Events of the run as the links see them: what was handed to each, what came out, what went no further.
//!
//! The emulator's thread hands over a header and a time, no more; another thread finds out what the packet is and
//! writes it down, so that recording never delays a packet. Only where there is an air too does it look for the number
//! that a packet has had there, or will have.
use crate::orders::Orders;
use crate::packets::{FlowNames, Label, Labelled, Numbering};
use prismux_link::{self as link, LinkChange};
use prismux_plan::{Link, NodeId};
use prismux_trace::event::{DropReason, Event, EventSink, PacketSummary, SharedLog};
use prismux_units::{Duration, Instant, Rate};
use std::borrow::Cow;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

/// Bytes kept of each packet: outer IP, UDP and GRE headers, and IP and TCP headers with all options.
const HEAD_BYTES: usize = 128;

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It leaves its sender's node, before it is sent.
    SetsOut,
    Sent,
    Delivered,
    /// It is at the node that it is for, after it was delivered.
    Arrived,
    /// The same, but damaged on its way.
    Spoilt,
    Dropped(link::DropReason),
}

/// The beginning of a packet.
#[derive(Debug, Clone, Copy)]
struct Head {
    bytes: [u8; HEAD_BYTES],
    packet_bytes: usize,
}

impl Head {
    fn of(packet: &[u8]) -> Self {
        let mut bytes = [0; HEAD_BYTES];
        let kept = packet.len().min(HEAD_BYTES);
        bytes[..kept].copy_from_slice(&packet[..kept]);
        Self { bytes, packet_bytes: packet.len() }
    }
}

/// Something that the emulator saw, in a direction as the carrier counts them.
enum Seen {
    Packet { at: Instant, direction: usize, fate: Fate, head: Head, number: Option<u64> },
    Change { at: Instant, direction: usize, change: LinkChange, up: bool },
}

/// Where the emulator puts what it sees. The writer ends when this is dropped.
#[derive(Debug)]
pub(crate) struct EventFeed {
    seen: Option<Sender<Seen>>,
    writer: Option<JoinHandle<()>>,
    /// Where there is an air.
    numbering: Option<Numbering>,
    /// By direction: the node that sends.
    senders: Vec<usize>,
}

impl EventFeed {
    /// Starts a writer for the links and flows of a plan.
    ///
    /// # Errors
    /// When the thread that writes cannot be started.
    pub fn start(orders: &Orders<'_>, log: SharedLog, numbering: Option<Numbering>) -> std::io::Result<Self> {
        let (seen, received) = mpsc::channel();
        let writer = Writer::new(orders, log);
        let thread = std::thread::Builder::new().name("events".to_owned());
        let writer = thread.spawn(move || writer.run(&received))?;
        let senders = orders.plan.links.iter().flat_map(|link| link.ends.map(NodeId::index)).collect();
        Ok(Self { seen: Some(seen), writer: Some(writer), numbering, senders })
    }

    /// A packet has come out of a node and is given to a direction: what it is.
    pub fn sent(&self, at: Instant, direction: usize, packet: &[u8]) -> Label {
        let leaves = |numbering: &Numbering| numbering.leaves(at, self.senders[direction], packet);
        let (label, sets_out) = self.numbering.as_ref().map(leaves).unwrap_or_default();
        let fates = [sets_out.then_some(Fate::SetsOut), Some(Fate::Sent)];
        fates.into_iter().flatten().for_each(|fate| self.packet(at, direction, fate, (packet, label)));
        label
    }

    /// A packet has passed a direction, and is about to be handed to the node there.
    pub fn delivered(&self, at: Instant, direction: usize, Labelled { packet, label }: &Labelled) {
        let fate = |fate| self.packet(at, direction, fate, (packet, *label));
        fate(Fate::Delivered);
        let receiver = self.senders[direction ^ 1];
        let enters = |numbering: &Numbering| numbering.enters(at, receiver, *label, packet);
        if self.numbering.as_ref().is_some_and(enters) {
            fate(if label.damaged { Fate::Spoilt } else { Fate::Arrived });
        }
    }

    /// A direction has dropped a packet.
    pub fn dropped(
        &self,
        at: Instant,
        direction: usize,
        reason: link::DropReason,
        Labelled { packet, label }: &Labelled,
    ) {
        self.packet(at, direction, Fate::Dropped(reason), (packet, *label));
    }

    fn packet(&self, at: Instant, direction: usize, fate: Fate, (packet, label): (&[u8], Label)) {
        self.put(Seen::Packet { at, direction, fate, head: Head::of(packet), number: label.number });
    }

    /// A direction changed.
    pub fn change(&self, at: Instant, direction: usize, change: LinkChange, up: bool) {
        self.put(Seen::Change { at, direction, change, up });
    }

    fn put(&self, seen: Seen) {
        if let Some(sender) = &self.seen {
            // The writer outlives the sender.
            let _ = sender.send(seen);
        }
    }
}

impl Drop for EventFeed {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.seen = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Names packets and writes them down.
struct Writer {
    log: SharedLog,
    /// Name and ends of each link.
    links: Vec<(String, [String; 2])>,
    flows: FlowNames,
}

impl Writer {
    fn new(orders: &Orders<'_>, log: SharedLog) -> Self {
        let plan = orders.plan;
        let link = |link: &Link| (link.name.clone(), link.ends.map(|end| plan[end].name.clone()));
        Self { log, links: plan.links.iter().map(link).collect(), flows: FlowNames::new(orders) }
    }

    fn run(mut self, seen: &Receiver<Seen>) {
        let mut whole = Vec::new();
        for seen in seen {
            let (Seen::Packet { at, direction, .. } | Seen::Change { at, direction, .. }) = seen;
            let (name, ends) = &self.links[direction / 2];
            let (from, to) = (&ends[direction % 2], &ends[1 - direction % 2]);
            let (link, from, to) = (Cow::Borrowed(&**name), Cow::Borrowed(&**from), Cow::Borrowed(&**to));
            let event = match seen {
                Seen::Change { change, up, .. } => Event::LinkChanged {
                    link,
                    from: Some(from),
                    rate_bps: change.rate.map(Rate::as_bps),
                    delay_ns: change.delay.map(Duration::as_nanos),
                    up,
                },
                Seen::Packet { fate, head, number, .. } => {
                    // The parsers want the length that the headers tell.
                    whole.clear();
                    whole.extend_from_slice(&head.bytes[..head.packet_bytes.min(HEAD_BYTES)]);
                    whole.resize(head.packet_bytes, 0);
                    let packet = PacketSummary { number, ..self.flows.summary(&whole) };
                    match (fate, number) {
                        (Fate::SetsOut, _) => Event::PacketOriginated { node: from, packet },
                        (Fate::Sent, _) => Event::PacketSent { link, from, packet },
                        (Fate::Delivered, _) => Event::PacketDelivered { link, to, packet },
                        (Fate::Dropped(reason), _) => Event::PacketDropped {
                            at: link,
                            from: Some(from),
                            reason: reason_of(reason),
                            packet,
                        },
                        (Fate::Arrived, Some(number)) => Event::PacketArrived { node: to, number },
                        (Fate::Arrived, None) => continue,
                        (Fate::Spoilt, _) => {
                            let reason = DropReason::Corrupted;
                            Event::PacketDropped { at: to, from: None, reason, packet }
                        }
                    }
                }
            };
            self.log.event(at, &event);
        }
    }
}

fn reason_of(reason: link::DropReason) -> DropReason {
    match reason {
        link::DropReason::QueueFull => DropReason::QueueFull,
        link::DropReason::Early => DropReason::QueueEarly,
        link::DropReason::Lost => DropReason::Loss,
        link::DropReason::Down => DropReason::LinkDown,
    }
}
