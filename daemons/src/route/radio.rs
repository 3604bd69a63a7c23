//! What a routing daemon sends by: an interface of this host, or an air that a lab works out.
use super::counters::Drops;
use prismux_linux::packet::PacketBuf;
use prismux_routing::NextHop;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::ethernet::MacAddress;
use serde::Serialize;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

/// Where a packet stands in an interface queue that knows kinds of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// A message of the routing protocol.
    Routing,
    /// An acknowledgement of TCP without data.
    Acknowledgement,
    /// Everything else.
    Normal,
}

/// A packet for neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// Whom it is for.
    pub to: NextHop,
    /// What goes first.
    pub priority: Priority,
    /// What it is counted for on an air that is worked out: its length, unless the protocol's settings say otherwise.
    pub counted_bytes: u32,
    /// The packet, IP header first.
    pub packet: &'a [u8],
}

/// Who has sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The neighbour with this address.
    Host(Ipv4Addr),
    /// An interface whose host is not known.
    Interface(MacAddress),
}

/// What a radio tells of.
#[derive(Debug, Clone)]
pub enum Heard {
    /// It works from now on. Nothing comes before this.
    Ready,
    /// A packet for this host, or for all.
    Received(Sender, PacketBuf),
    /// A packet of the first neighbour for the second.
    Overheard([Ipv4Addr; 2], PacketBuf),
    /// A neighbour did not take this packet: it no longer answers.
    NotDelivered(Ipv4Addr, PacketBuf),
    /// A packet for a neighbour that no longer answers, which waited behind that.
    TakenBack(Ipv4Addr, PacketBuf),
}

/// What a routing daemon sends by.
pub trait Radio {
    /// What is to be watched for packets; [`Radio::read`] knows each by its place.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// One batch of packets.
    ///
    /// # Errors
    /// When there is no radio any more.
    fn read(&mut self, index: usize, now: Instant, drops: &mut Drops) -> io::Result<()>;

    /// What has been heard, in order.
    fn poll_heard(&mut self) -> Option<Heard>;

    /// Sends a packet, or puts it into a queue.
    fn send(&mut self, now: Instant, packet: Outgoing<'_>, drops: &mut Drops);

    /// A packet of a neighbour has told whose an interface is.
    fn learn(&mut self, _now: Instant, _interface: MacAddress, _address: Ipv4Addr) {}

    /// This host's kernel has handed this packet over.
    fn note_taken(&mut self, _packet: &[u8]) {}

    /// The routing protocol has dropped this packet.
    fn note_dropped(&mut self, _reason: DropReason, _packet: &[u8]) {}

    /// When something is due; `None` for no timer.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Does what is due.
    fn expire(&mut self, _now: Instant, _drops: &mut Drops) {}

    /// What is known of neighbours, for the status page.
    fn neighbours(&self, _now: Instant) -> Option<Vec<NeighbourReport>> {
        None
    }
}

/// A neighbour on the status page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeighbourReport {
    /// Its address.
    pub address: Ipv4Addr,
    /// That of its interface, where it is known.
    pub interface: Option<String>,
    /// "reachable", "stale" or "asked".
    pub state: &'static str,
}
