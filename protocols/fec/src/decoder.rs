//! The far end: packets and repairs that came, and from them those that did not.
use crate::code::{ErasureCode, ReceivedBlock};
use crate::repair::RepairHeader;
use crate::window::Window;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::convert::Infallible;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// Blocks that wait for more, at most.
const MAX_BLOCKS: usize = 8;
/// Packets are kept until so many have come since the last repair.
const KEPT_AFTER_REPAIR: u32 = 2048;

/// Something numbered came out of the tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrived<P, S> {
    /// A packet.
    Packet {
        /// Its number.
        number: SeqNumber,
        /// As it is to be had back.
        packet: P,
    },
    /// A repair.
    Repair {
        /// Its number.
        number: SeqNumber,
        /// The block it belongs to.
        header: RepairHeader,
        /// What it carries.
        symbol: S,
    },
}

/// A packet that did not come, or not yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered<P> {
    /// Its number.
    pub number: SeqNumber,
    /// The packet.
    pub packet: P,
}

/// What a decoder has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecoderCounters {
    /// Repairs that came.
    pub repairs: u64,
    /// Packets that were recovered.
    pub recovered_packets: u64,
    /// Packets that came after they had been recovered.
    pub late_packets: u64,
    /// Blocks whose repairs contradict their packets.
    pub contradictions: u64,
}

/// A block of which a repair came, and not yet all packets.
#[derive(Debug)]
struct Pending<S> {
    header: RepairHeader,
    symbols: Vec<(usize, S)>,
}

/// The far end of a link whose packets are protected.
#[derive(Debug)]
pub struct Decoder<C: ErasureCode> {
    code: C,
    window: Window<C::Packet>,
    /// Packets to keep before there must be another repair.
    to_keep: u32,
    pending: VecDeque<Pending<C::Symbol>>,
    recovered: VecDeque<Recovered<C::Packet>>,
    counters: DecoderCounters,
}

impl<C: ErasureCode> Decoder<C> {
    /// A decoder to which nothing came.
    pub fn new(code: C) -> Self {
        Self {
            code,
            window: Window::new(),
            to_keep: 0,
            pending: VecDeque::new(),
            recovered: VecDeque::new(),
            counters: DecoderCounters::default(),
        }
    }

    /// What has been counted.
    pub const fn counters(&self) -> &DecoderCounters {
        &self.counters
    }

    /// Whether packets are kept: from the first repair on, until none comes for a long time. Before that nothing need
    /// be copied.
    pub const fn wants_packets(&self) -> bool {
        self.to_keep > 0
    }

    /// The packet with `number` comes: whether it has been recovered before, so that it is not needed any more. Copies
    /// of it are no longer known.
    pub fn is_late(&mut self, number: SeqNumber) -> bool {
        let is_late = self.window.get_mut(number).is_some_and(|kept| core::mem::take(&mut kept.is_recovered));
        self.counters.late_packets += u64::from(is_late);
        is_late
    }

    fn packet(&mut self, number: SeqNumber, packet: C::Packet) {
        self.to_keep = self.to_keep.saturating_sub(1);
        if !self.window.is_recent(number) {
            return;
        }
        if self.window.get(number).is_some() {
            return;
        }
        self.window.keep(number, packet, false);
        if let Some(index) = self.pending.iter().position(|block| block.has(number)) {
            self.complete(index);
        }
    }

    fn repair(&mut self, number: SeqNumber, header: RepairHeader, symbol: C::Symbol) {
        let Some(place) = header.index_of(number) else { return };
        if !self.window.is_recent(header.first) {
            return;
        }
        self.counters.repairs += 1;
        self.to_keep = KEPT_AFTER_REPAIR;
        let index = match self.pending.iter().position(|block| block.header == header) {
            Some(index) => index,
            None => {
                if self.pending.len() >= MAX_BLOCKS {
                    self.pending.pop_front();
                }
                self.pending.push_back(Pending { header, symbols: Vec::new() });
                self.pending.len() - 1
            }
        };
        if let Some(block) = self.pending.get_mut(index)
            && block.symbols.iter().all(|(known, _)| *known != place)
        {
            block.symbols.push((place, symbol));
        }
        self.complete(index);
    }

    /// Recovers the packets of a block if enough of it is there.
    fn complete(&mut self, index: usize) {
        let Some(block) = self.pending.get(index) else { return };
        let RepairHeader { first, packets, repairs } = block.header;
        let numbers = (0..u32::from(packets)).map(|offset| first + offset);
        let mut received = ReceivedBlock {
            packet_count: usize::from(packets),
            repair_count: usize::from(repairs),
            packets: numbers
                .enumerate()
                .filter_map(|(place, number)| Some((place, &self.window.get(number)?.packet)))
                .collect(),
            symbols: Vec::new(),
        };
        let missing = received.packet_count - received.packets.len();
        if missing > block.symbols.len() {
            return;
        }
        received.symbols =
            block.symbols.iter().take(missing).map(|(place, symbol)| (*place, symbol)).collect();
        let found = if missing == 0 { Vec::new() } else { self.code.decode(&received) };
        let is_whole = found.len() == missing;
        self.pending.remove(index);
        if !is_whole {
            return self.counters.contradictions += 1;
        }
        for (place, packet) in found {
            let number = first + place as u32;
            self.counters.recovered_packets += 1;
            self.window.keep(number, packet.clone(), true);
            self.recovered.push_back(Recovered { number, packet });
        }
    }
}

impl<S> Pending<S> {
    fn has(&self, number: SeqNumber) -> bool {
        u8::try_from(number.distance_from(self.header.first)).is_ok_and(|place| place < self.header.packets)
    }
}

impl<C: ErasureCode> Endpoint for Decoder<C> {
    type Input<'a> = Arrived<C::Packet, C::Symbol>;
    type Transmit = Recovered<C::Packet>;
    type Event = Infallible;

    fn handle_input(&mut self, _now: Instant, arrived: Arrived<C::Packet, C::Symbol>) {
        match arrived {
            Arrived::Packet { number, packet } => self.packet(number, packet),
            Arrived::Repair { number, header, symbol } => self.repair(number, header, symbol),
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant) -> Option<Recovered<C::Packet>> {
        self.recovered.pop_front()
    }

    fn poll_event(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }
}
