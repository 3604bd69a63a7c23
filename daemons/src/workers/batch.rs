//! Packets on their way to a worker, and the buffers on their way back.
use prismux_sealed::{Counter, Reserved, SessionKeys};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// The way out of what a socket sends.
pub(crate) struct Exit {
    pub socket: OwnedFd,
    /// For UDP, whose datagrams may leave joined.
    pub is_udp: bool,
    /// The longest datagram.
    pub datagram_bytes: usize,
}

/// Packets of one socket and one lane, in order.
pub(crate) struct Batch {
    pub exit: Arc<Exit>,
    /// Which lane of its socket it belongs to.
    pub lane: usize,
    /// Headers and packets, one behind the other.
    pub bytes: Vec<u8>,
    pub packets: Vec<Packet>,
    /// Keys that packets are sealed under.
    pub keys: Vec<SessionKeys>,
    /// What did not leave.
    pub failures: Vec<Failure>,
    reply: SyncSender<Box<Batch>>,
}

/// One of them.
pub(crate) struct Packet {
    pub to: SocketAddr,
    pub traffic_class: u8,
    /// Where it ends, and how much of it is the tunnel's header.
    pub end: usize,
    pub header_bytes: usize,
    /// The place of its keys, and its number under them.
    pub seal: Option<(usize, Counter)>,
}

/// A packet that did not leave.
pub(crate) struct Failure {
    pub error: io::Error,
    pub to: SocketAddr,
    /// As it would have left.
    pub packet: Vec<u8>,
}

impl Batch {
    pub fn new(exit: Arc<Exit>, lane: usize, reply: SyncSender<Box<Self>>) -> Self {
        let (bytes, packets, keys, failures) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { exit, lane, bytes, packets, keys, failures, reply }
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet as it is.
    pub fn push_plain(&mut self, to: SocketAddr, traffic_class: u8, parts: (&[u8], &[u8])) {
        self.push(to, traffic_class, parts, None);
    }

    /// Adds a packet that is to be sealed.
    pub fn push_sealed(&mut self, reserved: Reserved, to: SocketAddr, class: u8, parts: (&[u8], &[u8])) {
        let Reserved { keys, counter, .. } = reserved;
        if !self.keys.last().is_some_and(|last| last.are_same(&keys)) {
            self.keys.push(keys);
        }
        let place = self.keys.len().saturating_sub(1);
        self.push(to, class, parts, Some((place, counter)));
    }

    fn push(
        &mut self,
        to: SocketAddr,
        traffic_class: u8,
        (header, packet): (&[u8], &[u8]),
        seal: Option<(usize, Counter)>,
    ) {
        self.bytes.extend_from_slice(header);
        self.bytes.extend_from_slice(packet);
        let (end, header_bytes) = (self.bytes.len(), header.len());
        self.packets.push(Packet { to, traffic_class, end, header_bytes, seal });
    }

    /// Says that all of it went nowhere, as where a queue of the kernel is full.
    pub fn refuse(&mut self) {
        for packet in self.packets.drain(..) {
            let error = io::Error::from_raw_os_error(libc::ENOBUFS);
            self.failures.push(Failure { error, to: packet.to, packet: Vec::new() });
        }
        self.clear();
    }

    /// Forgets what has been carried out; what failed stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.packets.clear();
        self.keys.clear();
    }

    /// Goes back to where it came from, unless nobody is there any more.
    pub fn reply(self: Box<Self>) {
        let reply = self.reply.clone();
        let _ = reply.send(self);
    }
}
