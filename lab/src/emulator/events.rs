//! Events of the run as the links see them: what was handed to each, what came out, what went no further.
//!
//! The emulator's thread hands over a header and a time, no more; another thread finds out what the packet is and
//! writes it down, so that recording never delays a packet.
use crate::orders::{Carrier, FIRST_PORT, FlowOrders, Orders};
use prismux_link::{self as link, LinkChange};
use prismux_plan::Link;
use prismux_trace::event::{DropReason, Event, EventSink, PacketSummary, SharedLog};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::gre::{GRE_IN_UDP_PORT, ether_type};
use prismux_wire::ip::protocol;
use prismux_wire::{GreHeader, IpPacket, TcpPacket, UdpPacket};
use std::borrow::Cow;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

/// Bytes kept of each packet: outer IP, UDP and GRE headers, and IP and TCP headers with all options.
const HEAD_BYTES: usize = 128;

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Sent,
    Delivered,
    Dropped(link::DropReason),
}

/// The beginning of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    bytes: [u8; HEAD_BYTES],
    packet_bytes: usize,
}

impl Head {
    pub fn of(packet: &[u8]) -> Self {
        let mut bytes = [0; HEAD_BYTES];
        let kept = packet.len().min(HEAD_BYTES);
        bytes[..kept].copy_from_slice(&packet[..kept]);
        Self { bytes, packet_bytes: packet.len() }
    }
}

/// Something that the emulator saw, in a direction as the carrier counts them.
enum Seen {
    Packet { at: Instant, direction: usize, fate: Fate, head: Head },
    Change { at: Instant, direction: usize, change: LinkChange, up: bool },
}

/// Where the emulator puts what it sees. The writer ends when this is dropped.
#[derive(Debug)]
pub(crate) struct EventFeed {
    seen: Option<Sender<Seen>>,
    writer: Option<JoinHandle<()>>,
}

impl EventFeed {
    /// Starts a writer for the links and flows of a plan.
    ///
    /// # Errors
    /// When the thread that writes cannot be started.
    pub fn start(orders: &Orders<'_>, log: SharedLog) -> std::io::Result<Self> {
        let (seen, received) = mpsc::channel();
        let writer = Writer::new(orders, log);
        let thread = std::thread::Builder::new().name("events".to_owned());
        let writer = thread.spawn(move || writer.run(&received))?;
        Ok(Self { seen: Some(seen), writer: Some(writer) })
    }

    /// A packet had this fate.
    pub fn packet(&self, at: Instant, direction: usize, fate: Fate, head: Head) {
        self.put(Seen::Packet { at, direction, fate, head });
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
    /// Name of each flow, in the order of their ports, and whether its segments say where they belong in the stream.
    flows: Vec<(String, bool)>,
}

impl Writer {
    fn new(orders: &Orders<'_>, log: SharedLog) -> Self {
        let plan = orders.plan;
        let link = |link: &Link| (link.name.clone(), link.ends.map(|end| plan[end].name.clone()));
        // The sequence numbers of MPTCP's subflows are not those of the stream.
        let is_plain = |carrier: &Carrier| matches!(carrier, Carrier::Tcp | Carrier::OwnTcp(_));
        let flow = |orders: &FlowOrders<'_>| (orders.flow.name.clone(), is_plain(&orders.carrier));
        Self {
            log,
            links: plan.links.iter().map(link).collect(),
            flows: orders.flows.iter().map(flow).collect(),
        }
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
                Seen::Packet { fate, head, .. } => {
                    // The parsers want the length that the headers tell.
                    whole.clear();
                    whole.extend_from_slice(&head.bytes[..head.packet_bytes.min(HEAD_BYTES)]);
                    whole.resize(head.packet_bytes, 0);
                    let packet = summary(&self.flows, &whole);
                    match fate {
                        Fate::Sent => Event::PacketSent { link, from, packet },
                        Fate::Delivered => Event::PacketDelivered { link, to, packet },
                        Fate::Dropped(reason) => Event::PacketDropped {
                            at: link,
                            from: Some(from),
                            reason: reason_of(reason),
                            packet,
                        },
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

/// What a packet is: the flow by its port, in or out of a tunnel.
fn summary<'a>(flows: &'a [(String, bool)], packet: &[u8]) -> PacketSummary<'a> {
    let bytes = packet.len() as u32;
    let inner = inner(packet).unwrap_or(packet);
    let flow_of =
        |ports: [u16; 2]| ports.iter().find_map(|port| flows.get(usize::from(port.checked_sub(FIRST_PORT)?)));
    if let Ok(tcp) = TcpPacket::parse(inner)
        && let Some((name, plain)) = flow_of([tcp.header.source_port, tcp.header.destination_port])
    {
        return match plain {
            true => PacketSummary::tcp(Some(name), bytes, &tcp.header, tcp.payload_bytes()),
            false => PacketSummary::opaque(Some(name), bytes),
        };
    }
    let udp = UdpPacket::parse(inner).ok();
    let flow = udp.and_then(|udp| flow_of([udp.header.source_port, udp.header.destination_port]));
    PacketSummary::opaque(flow.map(|(name, _)| name.as_str()), bytes)
}

/// The packet inside a tunnel; `None` without one.
fn inner(packet: &[u8]) -> Option<&[u8]> {
    let ip = IpPacket::parse(packet).ok()?;
    let gre = match ip.header.protocol {
        protocol::GRE => ip.payload(packet),
        protocol::UDP => {
            let udp = UdpPacket::parse(packet).ok()?;
            let ports = [udp.header.source_port, udp.header.destination_port];
            ports.contains(&GRE_IN_UDP_PORT).then(|| udp.payload(packet))?
        }
        _ => return None,
    };
    let (header, length) = GreHeader::parse(gre).ok()?;
    (header.protocol == ether_type::IPV4).then(|| &gre[length..])
}
