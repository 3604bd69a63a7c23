//! The two ends of a connection, as far as the proxy sees them.
use prismux_units::Instant;
use prismux_wire::{FlowKey, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpHeader, TcpOptions, Timestamps};
use std::net::{IpAddr, Ipv4Addr};

/// Payload of each packet.
pub(crate) const PAYLOAD_BYTES: u32 = 1400;

/// What windows are shifted by.
pub(crate) const WINDOW_SHIFT: u8 = 7;

/// One connection, as its sender and its receiver see it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) key: FlowKey,
    pub(crate) next: SeqNumber,
    pub(crate) released: SeqNumber,
    pub(crate) expected: SeqNumber,
    /// Ranges beyond the expected number that have arrived, newest first.
    beyond: Vec<SackBlock>,
}

impl Flow {
    /// The connection of this number, told from others by its receiver.
    pub(crate) fn new(number: u32) -> Self {
        let [_, high, middle, low] = number.to_be_bytes();
        let key = FlowKey {
            source: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
            destination: IpAddr::V4(Ipv4Addr::new(10, high, middle, low)),
            source_port: 443,
            destination_port: 40_000,
            protocol: 6,
        };
        // Anywhere in sequence space, and not twice the same.
        let first = SeqNumber(number.wrapping_mul(2_654_435_761));
        Self { key, next: first, released: first, expected: first, beyond: Vec::new() }
    }

    /// Packets that fit into a window of `window` beside those that wait for their ACK.
    pub(crate) fn room(&self, window: u32) -> u32 {
        window.saturating_sub(self.next.0.wrapping_sub(self.released.0) / PAYLOAD_BYTES)
    }

    /// The SYN takes a place in sequence space.
    pub(crate) fn open(&mut self) {
        self.next += 1;
        self.expected = self.next;
        self.released = self.next;
    }

    /// The sender's SYN.
    pub(crate) fn syn(&self, now: Instant) -> TcpHeader {
        TcpHeader { seq: self.next - 1, ..self.handshake(now, TcpFlags::SYN) }
    }

    /// The receiver's answer to it.
    pub(crate) fn syn_ack(&self, now: Instant) -> TcpHeader {
        let header = self.handshake(now, TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0));
        TcpHeader { seq: SeqNumber(7_000_000), ack: self.next, ..header }
    }

    fn handshake(&self, now: Instant, flags: TcpFlags) -> TcpHeader {
        let mut header = self.header(now, flags);
        header.options.mss = Some(1460);
        header.options.window_scale = Some(WINDOW_SHIFT);
        header.options.sack_permitted = true;
        header
    }

    /// A segment of the sender at the end of what it has sent.
    pub(crate) fn header(&self, now: Instant, flags: TcpFlags) -> TcpHeader {
        let milliseconds = (now.as_nanos() / 1_000_000) as u32;
        TcpHeader {
            source_port: self.key.source_port,
            destination_port: self.key.destination_port,
            seq: self.next,
            ack: SeqNumber(7_000_001),
            flags,
            window: 4000,
            urgent: 0,
            options: TcpOptions {
                timestamps: Some(Timestamps { value: milliseconds, echo: milliseconds }),
                ..TcpOptions::default()
            },
        }
    }

    /// A packet reaches the receiver; says whether it had not come before.
    pub(crate) fn arrived(&mut self, seq: SeqNumber) -> bool {
        let mut block = SackBlock { start: seq, end: SeqNumber(seq.0.wrapping_add(PAYLOAD_BYTES)) };
        let is_within = |other: &SackBlock| !seq.before(other.start) && !block.end.after(other.end);
        if !block.end.after(self.expected) || self.beyond.iter().any(is_within) {
            return false;
        }
        self.beyond.retain(|other| {
            let touches = !other.start.after(block.end) && !block.start.after(other.end);
            if touches {
                block.start = if block.start.after(other.start) { other.start } else { block.start };
                block.end = if block.end.after(other.end) { block.end } else { other.end };
            }
            !touches
        });
        if block.start.after(self.expected) {
            self.beyond.insert(0, block);
        } else {
            self.expected = block.end;
        }
        true
    }

    /// Bytes of what is kept of ranges beyond the expected number.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.beyond.capacity() * size_of::<SackBlock>()
    }

    /// The receiver's ACK, with up to three SACK blocks.
    pub(crate) fn ack(&self, at: Instant) -> TcpHeader {
        self.ack_of(at, None)
    }

    /// The receiver's ACK of a packet that it has already (RFC 2883).
    pub(crate) fn ack_of_duplicate(&self, at: Instant, seq: SeqNumber) -> TcpHeader {
        self.ack_of(at, Some(SackBlock { start: seq, end: seq + PAYLOAD_BYTES }))
    }

    fn ack_of(&self, at: Instant, duplicate: Option<SackBlock>) -> TcpHeader {
        let milliseconds = (at.as_nanos() / 1_000_000) as u32;
        let mut sack = SackBlocks::EMPTY;
        for &block in duplicate.iter().chain(&self.beyond).take(3) {
            sack.push(block);
        }
        TcpHeader {
            source_port: self.key.destination_port,
            destination_port: self.key.source_port,
            seq: SeqNumber(7_000_001),
            ack: self.expected,
            flags: TcpFlags::ACK,
            window: 20_000,
            urgent: 0,
            options: TcpOptions {
                timestamps: Some(Timestamps { value: milliseconds, echo: milliseconds }),
                sack,
                ..TcpOptions::default()
            },
        }
    }
}
