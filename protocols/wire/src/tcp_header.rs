//! The TCP header as a value.
use crate::seq::SeqNumber;
use core::{fmt, ops};

/// Control bits of the TCP header (RFC 9293 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// True when all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Without the bits of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl ops::BitOr for TcpFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl ops::BitOrAssign for TcpFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (0x02, 'S'),
            (0x10, '.'),
            (0x01, 'F'),
            (0x04, 'R'),
            (0x08, 'P'),
            (0x20, 'U'),
            (0x40, 'E'),
            (0x80, 'W'),
        ];
        for (bit, name) in names {
            if self.0 & bit != 0 {
                write!(f, "{name}")?;
            }
        }
        Ok(())
    }
}

/// A block of the SACK option (RFC 2018): sequence numbers `[start, end)` have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: SeqNumber,
    /// The sequence number just after the block.
    pub end: SeqNumber,
}

/// Up to four SACK blocks, newest first (a DSACK block, RFC 2883, comes before all).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
}

impl SackBlocks {
    /// The most blocks an option can hold (option space of 40 bytes).
    pub const MAX: usize = 4;
    /// No blocks.
    pub const EMPTY: Self =
        Self { blocks: [SackBlock { start: SeqNumber(0), end: SeqNumber(0) }; 4], count: 0 };

    /// Adds a block if there is room; says whether there was.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = block;
        self.count += 1;
        true
    }

    /// Keeps the first `count` blocks.
    pub fn truncate(&mut self, count: usize) {
        let count = count.min(usize::from(self.count));
        // Unused places stay zero: equality and hashing look at all of them.
        self.blocks.iter_mut().skip(count).for_each(|block| *block = SackBlock::default());
        self.count = count as u8;
    }

    /// The blocks, newest first.
    pub fn as_slice(&self) -> &[SackBlock] {
        self.blocks.get(..usize::from(self.count)).unwrap_or(&self.blocks)
    }

    /// True without blocks.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|b| (b.start.0, b.end.0))).finish()
    }
}

/// Timestamps option (RFC 7323).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock echoed.
    pub echo: u32,
}

/// PRISM loss report (PRISM section VI; layout in `docs/protocols/prism.md`): one lost sequence number
/// and how much of the window the sender should keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LossReport {
    /// First sequence number of the lost segment.
    pub lost: SeqNumber,
    /// The link that lost it, as numbered by the proxy.
    pub link: u8,
    /// Reserved; bit 0 set on a repeated report.
    pub flags: u8,
    /// Keep factor p: the window becomes `p x cwnd`, `p = 1 - B_i / (2 sum B)`.
    pub keep: KeepFactor,
}

/// The part of its window that a sender keeps, in 65,536ths: a fraction below 1 in Q0.16, as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeepFactor(pub u16);

impl KeepFactor {
    /// Half, the least that a loss report may state.
    pub const HALF: Self = Self(0x8000);

    /// What a sender keeps when it gives up half of `part` of `whole` (`1 - part / (2 whole)`, to the nearest); `None`
    /// where `part` is none of it.
    pub fn less_half_of(part: u64, whole: u64) -> Option<Self> {
        if part == 0 || whole == 0 {
            return None;
        }
        let (part, whole) = (u128::from(part.min(whole)), u128::from(whole));
        let given_up = ((part << 16) + whole - 1) / (2 * whole);
        Some(Self(u16::try_from(0x1_0000 - given_up).unwrap_or(u16::MAX)))
    }

    /// The part of a window of `bytes` that is kept, to the nearest byte.
    pub const fn of(self, bytes: u64) -> u64 {
        (((bytes as u128 * self.0 as u128) + 0x8000) >> 16) as u64
    }
}

/// Handoff notice of TCP-HO (layout in `docs/protocols/tcp-ho.md`): the host that receives has moved to another link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HandoffNotice {
    /// The host's estimate of the new link's bandwidth, in kbit/s; 0 when it has none.
    pub bandwidth_kbps: u32,
}

/// Delivery order of TCP-DOOR (layout in `docs/protocols/tcp-door.md`): in which order segments left. Without a number
/// and a flag, as in a SYN, it says that the sender understands the option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeliveryOrder {
    /// ACK duplication sequence number (ADSN): how many acknowledgements with the same number left before this one,
    /// modulo 256.
    pub adsn: Option<u8>,
    /// TCP packet sequence number (TPSN): how many data packets left before this one, retransmissions included, modulo
    /// 65,536.
    pub tpsn: Option<u16>,
    /// A data packet has arrived after one that left later.
    pub out_of_order: bool,
}

/// The options prismux knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TcpOptions {
    /// Maximum segment size (SYN only).
    pub mss: Option<u16>,
    /// Window scale shift (SYN only, RFC 7323).
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only, RFC 2018).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018, RFC 2883).
    pub sack: SackBlocks,
    /// PRISM loss report (experimental kind 253, id 0x5052; RFC 6994).
    pub loss_report: Option<LossReport>,
    /// TCP-HO handoff notice (experimental kind 253, id 0x484f; RFC 6994).
    pub handoff: Option<HandoffNotice>,
    /// TCP-DOOR delivery order (experimental kind 253, id 0x444f; RFC 6994).
    pub delivery_order: Option<DeliveryOrder>,
    /// Explicit loss notification (experimental kind 253, id 0x454c; RFC 6994): what is missing at the acknowledgement
    /// number was lost by the link, not by a queue.
    pub lost_by_link: bool,
}

/// A TCP header, options included, in typed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TcpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first payload byte (or of SYN).
    pub seq: SeqNumber,
    /// Next sequence number expected; valid with [`TcpFlags::ACK`].
    pub ack: SeqNumber,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window as on the wire, before scaling.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: TcpOptions,
}

impl TcpOptions {
    /// Bytes these options take on the wire, padded to a multiple of four, timestamps and SACK aligned as Linux
    /// does (two NOPs before each). Never more than 40 if [`TcpOptions::fits`].
    pub fn wire_bytes(&self) -> usize {
        let mut bytes = 0;
        bytes += if self.mss.is_some() { 4 } else { 0 };
        bytes += if self.window_scale.is_some() { 4 } else { 0 };
        bytes += match (self.timestamps.is_some(), self.sack_permitted) {
            (true, _) => 12, // SACK-permitted takes the place of the two NOPs.
            (false, true) => 4,
            (false, false) => 0,
        };
        bytes += if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() };
        bytes += if self.loss_report.is_some() { 12 } else { 0 };
        bytes += if self.handoff.is_some() { 8 } else { 0 };
        bytes += if self.delivery_order.is_some() { 8 } else { 0 };
        bytes += if self.lost_by_link { 4 } else { 0 };
        bytes
    }

    /// True when the options fit the 40 bytes that a TCP header has for them.
    pub fn fits(&self) -> bool {
        self.wire_bytes() <= 40
    }
}

impl TcpHeader {
    /// Header length on the wire: 20 bytes and the options.
    pub fn wire_bytes(&self) -> usize {
        20 + self.options.wire_bytes()
    }

    /// Length in sequence space of a segment with this header and `payload_bytes` of payload.
    pub fn sequence_length(&self, payload_bytes: u32) -> u32 {
        payload_bytes
            + u32::from(self.flags.contains(TcpFlags::SYN))
            + u32::from(self.flags.contains(TcpFlags::FIN))
    }
}
