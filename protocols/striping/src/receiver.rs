//! The receiving application: which socket to read, and what can be delivered.
use crate::record::RecordHeader;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The sockets as the receiving application sees them.
pub trait Sockets {
    /// How many sockets there are.
    fn count(&self) -> usize;

    /// Header of the next record in socket `socket`, once the whole record can be read, without reading it
    /// (`MSG_PEEK`).
    fn peek(&self, socket: usize) -> Option<RecordHeader>;
}

/// A record to read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The socket to read from.
    pub socket: usize,
    /// The record at its head.
    pub header: RecordHeader,
    /// True: deliver it to the application at once; then take [`Receiver::poll_deliver`]. False: keep it.
    pub in_order: bool,
}

/// The receiving application: puts the records of all sockets in order.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// Number of the next record to deliver.
    next: u64,
    /// Early records: number to payload length.
    early: BTreeMap<u64, u32>,
    held_bytes: u64,
    buffer_bytes: u64,
    delivered_bytes: u64,
    /// The socket to look at first, so that none starves.
    turn: usize,
    /// Times that a socket with an early record had to be left alone.
    pub peeks: u64,
    /// Records that had been delivered before: a peer that repeats numbers.
    pub repeated: u64,
}

impl Receiver {
    /// With room for `buffer_bytes` of early records; with none, only what is in order is ever read.
    pub fn new(buffer_bytes: u64) -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
            held_bytes: 0,
            buffer_bytes,
            delivered_bytes: 0,
            turn: 0,
            peeks: 0,
            repeated: 0,
        }
    }

    /// Bytes of the stream delivered in order.
    pub const fn delivered(&self) -> u64 {
        self.delivered_bytes
    }

    /// Bytes held because records before them are missing.
    pub const fn held(&self) -> u64 {
        self.held_bytes
    }

    /// The next record to read: any while the buffer has room; once it is full, only one that is next in order (peek
    /// mode). Call until `None`, and take [`Receiver::poll_deliver`] after each.
    pub fn poll_read(&mut self, sockets: &impl Sockets) -> Option<Read> {
        let count = sockets.count();
        for socket in (0..count).map(|step| (self.turn + step) % count) {
            let Some(header) = sockets.peek(socket) else { continue };
            if header.number < self.next || self.early.contains_key(&header.number) {
                // It is taken out of the way and goes nowhere.
                self.repeated += 1;
                return Some(Read { socket, header, in_order: false });
            }
            if header.number == self.next {
                self.turn = socket;
                self.next += 1;
                self.delivered_bytes += u64::from(header.payload_bytes);
                return Some(Read { socket, header, in_order: true });
            }
            if self.held_bytes + u64::from(header.payload_bytes) <= self.buffer_bytes {
                self.turn = (socket + 1) % count;
                self.held_bytes += u64::from(header.payload_bytes);
                self.early.insert(header.number, header.payload_bytes);
                return Some(Read { socket, header, in_order: false });
            }
            self.peeks += 1;
        }
        None
    }

    /// The next record held that is in order now; call until `None`.
    pub fn poll_deliver(&mut self) -> Option<RecordHeader> {
        let payload_bytes = self.early.remove(&self.next)?;
        let header = RecordHeader { number: self.next, payload_bytes };
        self.next += 1;
        self.held_bytes -= u64::from(payload_bytes);
        self.delivered_bytes += u64::from(payload_bytes);
        Some(header)
    }

    /// Reads and delivers all that can be; `read` takes a record off its socket.
    pub fn run<S: Sockets>(
        &mut self,
        sockets: &mut S,
        mut read: impl FnMut(&mut S, Read),
    ) -> Vec<RecordHeader> {
        let mut delivered = Vec::new();
        while let Some(found) = self.poll_read(sockets) {
            read(sockets, found);
            if found.in_order {
                delivered.push(found.header);
            }
            delivered.extend(core::iter::from_fn(|| self.poll_deliver()));
        }
        delivered
    }
}

#[cfg(test)]
mod tests;
