//! Whether a receipt can be true.
use super::records::Records;
use crate::receipt::Receipt;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// The far clock counts whole microseconds, and may run fast.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(1);

/// Why a receipt changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It belongs to another agreement.
    OtherEpoch,
    /// It came before.
    Repeated,
    /// It names packets that have not been sent.
    NeverSent,
    /// It was written before one with a lower number, or tells of arrivals before that.
    TimeRunsBackwards,
    /// It tells the arrival of a packet that it does not name, or that had not been sent so long.
    Contradiction,
}

/// A receipt that may be true, with positions for numbers.
#[derive(Debug)]
pub(super) struct Believed {
    /// The highest first.
    pub ranges: Vec<RangeInclusive<u64>>,
    /// The latest first.
    pub arrivals: Vec<(u64, Duration)>,
    /// No later receipt has come before it.
    pub is_news: bool,
}

/// Judges a receipt that arrives at `now`, after the one that `latest` tells number and time of.
pub(super) fn judge(
    receipt: &Receipt,
    epoch: u32,
    latest: Option<(u64, Duration)>,
    records: &Records,
    now: Instant,
) -> Result<Believed, Refusal> {
    if receipt.epoch != epoch {
        return Err(Refusal::OtherEpoch);
    }
    let is_news = latest.is_none_or(|(number, _)| receipt.number > number);
    if latest.is_some_and(|(number, _)| receipt.number == number) {
        return Err(Refusal::Repeated);
    }
    let next = records.next();
    let position = |number: SeqNumber| {
        let position = number.unwrap_near(SeqNumber(0), next).ok_or(Refusal::NeverSent)?;
        if position < next { Ok(position) } else { Err(Refusal::NeverSent) }
    };
    let mut ranges = Vec::with_capacity(receipt.ranges.len());
    for range in &receipt.ranges {
        let (first, last) = (position(range.first)?, position(range.last)?);
        if first > last {
            return Err(Refusal::NeverSent);
        }
        ranges.push(first..=last);
    }
    let mut arrivals = Vec::with_capacity(receipt.arrivals.len());
    for arrival in &receipt.arrivals {
        let position = position(arrival.number)?;
        let is_named = ranges.iter().any(|range| range.contains(&position));
        let waited = receipt.written_at.saturating_sub(arrival.at).saturating_sub(CLOCK_TOLERANCE);
        let was_sent = records.get(position).is_none_or(|record| record.sent_at + waited <= now);
        if !is_named || !was_sent {
            return Err(Refusal::Contradiction);
        }
        arrivals.push((position, arrival.at));
    }
    if let Some((_, written_at)) = latest.filter(|_| is_news) {
        let earliest = receipt.arrivals.last().map_or(receipt.written_at, |arrival| arrival.at);
        if receipt.written_at < written_at || earliest < written_at {
            return Err(Refusal::TimeRunsBackwards);
        }
    }
    Ok(Believed { ranges, arrivals, is_news })
}
