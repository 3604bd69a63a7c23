//! The sending application: which record goes to which socket.
use crate::record::RecordHeader;
use alloc::vec;
use alloc::vec::Vec;

/// How the socket for the next record is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Write to a socket until it would block, then go on to the next: knows nothing of rates.
    Unaware,
    /// Deal records in proportion to estimated rates, and wait for the socket whose turn it is.
    Smart,
}

impl Policy {
    /// Every policy there is.
    pub const ALL: [Self; 2] = [Self::Unaware, Self::Smart];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unaware => "unaware",
            Self::Smart => "smart",
        }
    }
}

/// A record to write, and the socket for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The socket to write to.
    pub socket: usize,
    /// The record's header, which goes first.
    pub header: RecordHeader,
    /// Offset in the application's stream of the payload.
    pub stream_offset: u64,
}

/// The sending application: cuts its stream into records and chooses their sockets.
#[derive(Debug, Clone)]
pub struct Sender {
    policy: Policy,
    payload_bytes: u32,
    /// Handed over by the application, and cut into records so far.
    given: u64,
    cut: u64,
    next_number: u64,
    /// The socket whose turn it is.
    turn: usize,
    /// Smart: estimated rates, and what each socket is ahead of its share (in records, weighted).
    rates: Vec<f64>,
    served: Vec<f64>,
}

impl Sender {
    /// Over `sockets` sockets with records of `record_bytes`, header included: the segment size, so that none is split.
    ///
    /// # Panics
    /// Without sockets, or with records that have no room for payload.
    pub fn new(policy: Policy, sockets: usize, record_bytes: u32) -> Self {
        assert!(
            sockets > 0 && record_bytes as usize > RecordHeader::WIRE_BYTES,
            "there is a place to write to"
        );
        Self {
            policy,
            payload_bytes: record_bytes - RecordHeader::WIRE_BYTES as u32,
            given: 0,
            cut: 0,
            next_number: 0,
            turn: 0,
            rates: vec![1.0; sockets],
            served: vec![0.0; sockets],
        }
    }

    /// Bytes that the application adds to the stream.
    pub fn give(&mut self, bytes: u64) {
        self.given = self.given.saturating_add(bytes);
    }

    /// Everything given has been written to sockets.
    pub fn is_done(&self) -> bool {
        self.cut == self.given
    }

    /// Bytes of the application's stream written to sockets so far.
    pub const fn written(&self) -> u64 {
        self.cut
    }

    /// New estimates of the sockets' rates, in any unit. What was written cannot be taken back. Estimates that are not
    /// positive numbers count as very slow.
    pub fn estimate(&mut self, rates: &[f64]) {
        let fastest = rates.iter().copied().filter(|rate| rate.is_finite()).fold(0.0, f64::max);
        for (own, &rate) in self.rates.iter_mut().zip(rates) {
            let floor = fastest.max(1e-9) * 1e-3;
            *own = if rate.is_finite() { rate.max(floor) } else { floor };
        }
        self.served.fill(0.0);
    }

    /// The next record to write, if its socket has room for all of it; `room` tells for every socket. Call until
    /// `None`.
    pub fn poll_write(&mut self, room: impl Fn(usize) -> u64) -> Option<Write> {
        if self.is_done() {
            return None;
        }
        let payload_bytes = u64::from(self.payload_bytes).min(self.given - self.cut) as u32;
        let header = RecordHeader { number: self.next_number, payload_bytes };
        let fits = |socket: usize| room(socket) >= header.record_bytes();
        let socket = match self.policy {
            Policy::Unaware => {
                let count = self.rates.len();
                (0..count).map(|step| (self.turn + step) % count).find(|&socket| fits(socket))?
            }
            Policy::Smart => Some(self.least_served()).filter(|&socket| fits(socket))?,
        };
        self.turn = socket;
        self.served[socket] += 1.0 / self.rates[socket];
        let stream_offset = self.cut;
        self.cut += u64::from(payload_bytes);
        self.next_number += 1;
        Some(Write { socket, header, stream_offset })
    }

    /// Deficit round robin by record: the socket that is furthest behind its share once it gets one more.
    fn least_served(&self) -> usize {
        let after = |socket: usize| self.served[socket] + 1.0 / self.rates[socket];
        (1..self.rates.len()).fold(0, |best, socket| if after(socket) < after(best) { socket } else { best })
    }
}

#[cfg(test)]
mod tests;
