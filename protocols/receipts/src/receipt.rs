//! A receipt, and its form on the wire.
//!
//! Integers are varints (RFC 9000 section 16), others big-endian:
//!
//! | field | bytes |
//! |---|---|
//! | flags: bit 0, congestion counts follow; bit 1, a count of recovered packets; the others are zero | 1 |
//! | epoch | 4 |
//! | highest number received | 4 |
//! | the receipt's own number | varint |
//! | when it was written: microseconds since the epoch began | varint |
//! | counts of the codepoints ECT(0), ECT(1), CE, if flagged | 3 varints |
//! | packets that repairs gave back (forward error correction), if flagged | varint |
//! | ranges besides the first | varint |
//! | first range: numbers below the highest that it reaches down to | varint |
//! | each further range: gap and length, as in a QUIC ACK frame (RFC 9000 section 19.3.1) | 2 varints |
//! | arrivals | varint |
//! | each arrival, the latest first: its number below the one before (the first: below the highest), zigzag | varint |
//! | and microseconds before the one before (the first: before the receipt was written) | varint |
use crate::varint;
use alloc::vec::Vec;
use core::fmt;
use prismux_units::Duration;
use prismux_wire::SeqNumber;

/// Bytes of the control message around a receipt: magic, version, kind and tag.
pub const MESSAGE_BYTES: u32 = 22;
/// Most ranges of a receipt.
pub const MAX_RANGES: usize = 128;
/// Most arrivals of a receipt.
pub const MAX_ARRIVALS: usize = 64;

const HAS_ECN: u8 = 1;
const HAS_RECOVERED: u8 = 2;
/// Numbers are compared modulo 2^32: ranges that span more mean nothing.
const MAX_SPAN: u64 = 1 << 31;
/// Times are below this many microseconds.
const MAX_MICROS: u64 = 1 << 50;

/// Numbers `first..=last` have been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// The lowest.
    pub first: SeqNumber,
    /// The highest.
    pub last: SeqNumber,
}

/// When a packet came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its number.
    pub number: SeqNumber,
    /// On the writer's clock, in whole microseconds, since the epoch began.
    pub at: Duration,
}

/// Packets by the congestion codepoint of their outer header, since the epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EcnCounts {
    /// ECN-capable transport, codepoint 0.
    pub ect0: u64,
    /// ECN-capable transport, codepoint 1.
    pub ect1: u64,
    /// Congestion experienced.
    pub ce: u64,
}

/// What the far end of a link says that it received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The agreement in which packets are numbered. Clock, numbers and counts begin anew with each.
    pub epoch: u32,
    /// The receipt's own number: rises by one from receipt to receipt.
    pub number: u64,
    /// When it was written: whole microseconds on the writer's clock since the epoch began.
    pub written_at: Duration,
    /// Congestion marks; `None` as long as there were none.
    pub ecn: Option<EcnCounts>,
    /// Packets, since the epoch began, that are named as received because repairs gave them back and that have not come
    /// themselves: the link lost them, or is late with them.
    pub recovered_packets: u64,
    /// Recent numbers, the highest range first; 1 to [`MAX_RANGES`].
    pub ranges: Vec<NumberRange>,
    /// When some of the packets came that are new since the last receipt, the latest first; at most [`MAX_ARRIVALS`].
    pub arrivals: Vec<Arrival>,
}

/// Why bytes are no receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptError {
    /// The bytes end before the receipt does.
    Truncated,
    /// Bytes follow its end.
    TooLong,
    /// A flag that is not understood.
    UnknownFlags,
    /// More ranges or arrivals than a receipt has.
    TooMany,
    /// Numbers further apart than numbers can be told apart.
    Span,
    /// A time before the epoch began, or 35 years after.
    Time,
}

impl fmt::Display for ReceiptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the receipt is cut short",
            Self::TooLong => "bytes follow the receipt",
            Self::UnknownFlags => "a flag is not understood",
            Self::TooMany => "more ranges or arrivals than a receipt has",
            Self::Span => "the numbers are too far apart",
            Self::Time => "a time before the epoch, or too long after",
        })
    }
}

impl core::error::Error for ReceiptError {}

impl Receipt {
    /// The highest number received.
    pub fn highest(&self) -> SeqNumber {
        self.ranges.first().map_or(SeqNumber(0), |range| range.last)
    }

    /// Writes the receipt behind what is in `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let highest = self.highest();
        let recovered = if self.recovered_packets > 0 { HAS_RECOVERED } else { 0 };
        out.push(recovered | if self.ecn.is_some() { HAS_ECN } else { 0 });
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(&highest.0.to_be_bytes());
        varint::write(out, self.number);
        varint::write(out, self.written_at.as_micros());
        if let Some(EcnCounts { ect0, ect1, ce }) = self.ecn {
            [ect0, ect1, ce].into_iter().for_each(|count| varint::write(out, count));
        }
        if self.recovered_packets > 0 {
            varint::write(out, self.recovered_packets);
        }
        varint::write(out, self.ranges.len().saturating_sub(1) as u64);
        let mut before: Option<SeqNumber> = None;
        for NumberRange { first, last } in &self.ranges {
            if let Some(before) = before {
                varint::write(out, distance(before, *last).saturating_sub(2));
            }
            varint::write(out, distance(*last, *first));
            before = Some(*first);
        }
        varint::write(out, self.arrivals.len() as u64);
        let (mut number, mut at) = (highest, self.written_at);
        for arrival in &self.arrivals {
            let below = i64::from(number.distance_from(arrival.number));
            varint::write(out, varint::zigzag(below));
            varint::write(out, at.as_micros().saturating_sub(arrival.at.as_micros()));
            (number, at) = (arrival.number, arrival.at);
        }
    }

    /// Reads a receipt that fills `bytes`.
    ///
    /// # Errors
    /// [`ReceiptError`]: nothing of it is to be believed.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let mut reader = Reader(bytes);
        let &[flags] = reader.take::<1>()?;
        if flags & !(HAS_ECN | HAS_RECOVERED) != 0 {
            return Err(ReceiptError::UnknownFlags);
        }
        let epoch = u32::from_be_bytes(*reader.take()?);
        let highest = SeqNumber(u32::from_be_bytes(*reader.take()?));
        let number = reader.varint()?;
        let written_at = reader.varint()?;
        if written_at >= MAX_MICROS {
            return Err(ReceiptError::Time);
        }
        let written_at = Duration::from_micros(written_at);
        let ecn = match flags & HAS_ECN {
            0 => None,
            _ => Some(EcnCounts { ect0: reader.varint()?, ect1: reader.varint()?, ce: reader.varint()? }),
        };
        let recovered_packets = if flags & HAS_RECOVERED == 0 { 0 } else { reader.varint()? };
        let ranges = reader.ranges(highest)?;
        let arrivals = reader.arrivals(highest, written_at)?;
        if !reader.0.is_empty() {
            return Err(ReceiptError::TooLong);
        }
        Ok(Self { epoch, number, written_at, ecn, recovered_packets, ranges, arrivals })
    }
}

/// How far `from` lies above `to`; 0 when it does not.
fn distance(from: SeqNumber, to: SeqNumber) -> u64 {
    u64::try_from(from.distance_from(to)).unwrap_or(0)
}

/// The part of a receipt that has not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], ReceiptError> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(ReceiptError::Truncated)?;
        self.0 = tail;
        Ok(head)
    }

    fn varint(&mut self) -> Result<u64, ReceiptError> {
        let (value, rest) = varint::read(self.0).ok_or(ReceiptError::Truncated)?;
        self.0 = rest;
        Ok(value)
    }

    /// A count of at most `max`.
    fn count(&mut self, max: usize) -> Result<usize, ReceiptError> {
        usize::try_from(self.varint()?).ok().filter(|&count| count <= max).ok_or(ReceiptError::TooMany)
    }

    fn ranges(&mut self, highest: SeqNumber) -> Result<Vec<NumberRange>, ReceiptError> {
        let further = self.count(MAX_RANGES - 1)?;
        let mut ranges = Vec::with_capacity(1 + further);
        let (mut last, mut span) = (highest, 0);
        for index in 0..=further {
            if index > 0 {
                let gap = self.within(&mut span, 2)?;
                last = last - gap;
            }
            let length = self.within(&mut span, 0)?;
            let first = last - length;
            ranges.push(NumberRange { first, last });
            last = first;
        }
        Ok(ranges)
    }

    /// A distance, `more` longer than written, that keeps `span` in its limit.
    fn within(&mut self, span: &mut u64, more: u64) -> Result<u32, ReceiptError> {
        let distance = self.varint()? + more;
        *span += distance;
        if *span >= MAX_SPAN {
            return Err(ReceiptError::Span);
        }
        u32::try_from(distance).map_err(|_| ReceiptError::Span)
    }

    fn arrivals(&mut self, highest: SeqNumber, written_at: Duration) -> Result<Vec<Arrival>, ReceiptError> {
        let count = self.count(MAX_ARRIVALS)?;
        let mut arrivals = Vec::with_capacity(count);
        let (mut below, mut micros) = (0_i64, written_at.as_micros());
        for _ in 0..count {
            below = below.saturating_add(varint::unzigzag(self.varint()?));
            let below_highest = u32::try_from(below)
                .ok()
                .filter(|&below| u64::from(below) < MAX_SPAN)
                .ok_or(ReceiptError::Span)?;
            micros = micros.checked_sub(self.varint()?).ok_or(ReceiptError::Time)?;
            arrivals.push(Arrival { number: highest - below_highest, at: Duration::from_micros(micros) });
        }
        Ok(arrivals)
    }
}
