//! Building what leaves for the sender.
use super::{Control, Pipe, PipeState};
use crate::header::{RcpFlags, RcpHeader, RcpOptions, RequestBlock, RequestBlocks};
use crate::packet::PacketOut;
use core::ops::Range;
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, Timestamps};

/// Blocks that a request has room for.
pub(super) const MAX_BLOCKS: usize = RequestBlocks::MAX;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Everything not yet sent up to this position.
    UpTo(u64),
    /// Exactly the segment that begins here.
    Pull(Range<u64>),
}

impl Pipe {
    /// The handshake, goodbye or reset packet that is due, if any.
    pub fn poll_control(&mut self, now: Instant) -> Option<PacketOut> {
        let control = self.control.take()?;
        Some(self.build_control(now, control))
    }

    /// A request. Everything below `in_order` may be purged.
    pub fn request(&mut self, now: Instant, ask: &Ask, in_order: u64) -> PacketOut {
        self.counters.requests += 1;
        self.in_order = self.in_order.max(in_order);
        let (position, flags) = match ask {
            Ask::UpTo(position) => (*position, RcpFlags::REQ),
            Ask::Pull(range) => (range.start, RcpFlags::REQ | RcpFlags::PUL),
        };
        let mut blocks = RequestBlocks::default();
        let origin = self.peer_initial + 1;
        for range in self.named.name() {
            let (start, end) = (origin + range.start as u32, origin + range.end as u32);
            blocks.push(RequestBlock { start, end });
        }
        if let Ask::Pull(range) = ask {
            self.counters.pulls += 1;
            self.named.note(range.clone());
        }
        // Rounded up: rather too little is purged than too much.
        let distance = position.saturating_sub(in_order).div_ceil(1 << self.distance_shift);
        let options = RcpOptions { timestamps: self.stamp(now), blocks, ..RcpOptions::default() };
        let header = RcpHeader {
            flags,
            window: distance.min(u64::from(u16::MAX)) as u16,
            number: self.number(position),
            proof: RcpHeader::under(self.token, flags),
            options,
        };
        PacketOut::bare(header)
    }

    fn number(&self, position: u64) -> SeqNumber {
        self.peer_initial + 1 + (position as u32)
    }

    fn build_control(&mut self, now: Instant, control: Control) -> PacketOut {
        let ecn = if self.config.ecn { RcpFlags::ECN } else { RcpFlags::NONE };
        let (flags, number) = match control {
            Control::Syn => (RcpFlags::SYN | ecn, self.initial),
            Control::SynAck => {
                let ecn = if self.ecn { RcpFlags::ECN } else { RcpFlags::NONE };
                (RcpFlags::SYN | RcpFlags::ACK | ecn, self.initial)
            }
            Control::Goodbye => (RcpFlags::REQ | RcpFlags::FIN, self.number(self.in_order)),
            Control::Reset => (RcpFlags::REQ | RcpFlags::RST, self.number(self.in_order)),
        };
        let proof = match control {
            Control::Syn => 0,
            Control::SynAck => RcpHeader::acknowledging(self.peer_initial + 1),
            _ => RcpHeader::under(self.token, flags),
        };
        let mut options = RcpOptions::default();
        if flags.contains(RcpFlags::SYN) {
            self.start_opening_timer(now);
            options = RcpOptions {
                mss: Some(self.config.mss),
                window_scale: Some(self.distance_shift),
                timestamps: self.stamp(now),
                // Room for the token: the answer to a SYN is no longer than the SYN.
                token: Some(self.token),
                start: self.in_order,
                ..options
            };
        }
        if matches!(control, Control::Goodbye) {
            self.start_closing_timer(now);
        }
        PacketOut::bare(RcpHeader { flags, window: 0, number, proof, options })
    }

    fn clock(&self, now: Instant) -> u32 {
        let tick = self.config.engine.timestamp_granularity.as_nanos().max(1);
        // Never zero soon after the start: a zero echo means none.
        ((now.as_nanos() / tick) as u32).wrapping_add(1)
    }

    fn stamp(&self, now: Instant) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: self.clock(now), echo: 0 })
    }

    /// Time since the request whose clock `echo` is; `None` for an echo from the future.
    pub(super) fn elapsed(&self, now: Instant, echo: u32) -> Option<Duration> {
        let ticks = self.clock(now).wrapping_sub(echo);
        (ticks < 1 << 31).then(|| self.config.engine.timestamp_granularity * u64::from(ticks))
    }

    /// Says goodbye: everything has arrived.
    pub fn close(&mut self) {
        match self.state {
            PipeState::Established => {
                self.state = PipeState::Closing;
                self.control = Some(Control::Goodbye);
            }
            PipeState::SynSent | PipeState::SynReceived => self.end(super::Ending::Closed),
            PipeState::Closing | PipeState::Closed => {}
        }
    }

    /// Ends the connection at once, with a reset where the sender knows of it.
    pub fn abort(&mut self) {
        let known = matches!(self.state, PipeState::Established | PipeState::Closing);
        if self.state != PipeState::Closed {
            self.end(super::Ending::Closed);
            self.control = known.then_some(Control::Reset);
        }
    }
}
