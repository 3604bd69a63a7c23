//! The near end: numbered packets into blocks, blocks into repairs.
use crate::code::ErasureCode;
use crate::protection::Protection;
use crate::repair::{MAX_BLOCK_PACKETS, RepairHeader};
use alloc::vec::Vec;
use core::convert::Infallible;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// The form of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncoderConfig {
    /// Packets of a full block, at most [`MAX_BLOCK_PACKETS`].
    pub block_packets: usize,
    /// A block that is not full by then is repaired as it is.
    pub max_delay: Duration,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self { block_packets: 16, max_delay: Duration::from_millis(10) }
    }
}

/// A numbered packet goes into the tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent<P> {
    /// Its number.
    pub number: SeqNumber,
    /// The packet, as it is to be had back.
    pub packet: P,
}

/// A block that is complete, and its repairs. The host gives them the numbers behind the block's, sends them, and
/// nothing numbered in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<S> {
    /// What stands before each repair.
    pub header: RepairHeader,
    /// The repairs.
    pub symbols: Vec<S>,
}

/// The near end of a link whose packets are protected.
#[derive(Debug)]
pub struct Encoder<C: ErasureCode> {
    config: EncoderConfig,
    code: C,
    protection: Protection,
    first: SeqNumber,
    began: Instant,
    packets: Vec<C::Packet>,
}

impl<C: ErasureCode> Encoder<C> {
    /// An encoder that protects nothing yet.
    pub fn new(config: EncoderConfig, code: C) -> Self {
        let block_packets = config.block_packets.clamp(1, MAX_BLOCK_PACKETS);
        Self {
            config: EncoderConfig { block_packets, ..config },
            code,
            protection: Protection::default(),
            first: SeqNumber(0),
            began: Instant::ZERO,
            packets: Vec::with_capacity(block_packets),
        }
    }

    /// Protects like this from the next block on. A block that has begun is forgotten when that is not at all.
    pub fn protect(&mut self, protection: Protection) {
        self.protection = protection;
        if protection.is_off() {
            self.packets.clear();
        }
    }

    /// Whether packets are wanted.
    pub fn is_on(&self) -> bool {
        !self.protection.is_off()
    }

    /// Number of the first packet of the block that is open.
    pub fn open_from(&self) -> Option<SeqNumber> {
        (!self.packets.is_empty()).then_some(self.first)
    }

    fn next(&self) -> Option<Instant> {
        match self.packets.len() {
            0 => None,
            full if full >= self.config.block_packets => Some(self.began),
            _ => Some(self.began + self.config.max_delay),
        }
    }

    fn close(&mut self) -> Option<Block<C::Symbol>> {
        let packets = core::mem::take(&mut self.packets);
        let symbols = self.code.encode(&packets, self.protection.repairs(packets.len()));
        let counts = (u8::try_from(packets.len()).ok()?, u8::try_from(symbols.len()).ok()?);
        self.packets = packets;
        self.packets.clear();
        let header = RepairHeader { first: self.first, packets: counts.0, repairs: counts.1 };
        (!symbols.is_empty()).then_some(Block { header, symbols })
    }
}

impl<C: ErasureCode> Endpoint for Encoder<C> {
    type Input<'a> = Sent<C::Packet>;
    type Transmit = Block<C::Symbol>;
    type Event = Infallible;

    fn handle_input(&mut self, now: Instant, sent: Sent<C::Packet>) {
        if !self.is_on() {
            return;
        }
        // Something else was numbered in between: what came before it stays without repairs.
        if self.first + self.packets.len() as u32 != sent.number {
            self.packets.clear();
        }
        if self.packets.is_empty() {
            (self.first, self.began) = (sent.number, now);
        }
        self.packets.push(sent.packet);
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Block<C::Symbol>> {
        self.next().filter(|&at| at <= now)?;
        self.close()
    }

    fn poll_event(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.next().map(|at| Deadline { at, why: "repairs" })
    }
}
