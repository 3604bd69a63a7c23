//! Detection: has something arrived after what left later?
//!
//! Both detectors compare with the highest mark seen, not merely the previous one: of what arrives as 10, 8, 9, both
//! the 8 and the 9 are late.
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, TcpHeader};

/// A timestamp older than this orders nothing any more: the peer's clock may have run halfway round (RFC 7323 section
/// 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// The highest timestamp value seen, and when.
#[derive(Debug, Clone, Copy, Default)]
struct Stamp(Option<(u32, Instant)>);

impl Stamp {
    /// Whether `value` left before what came so far; `None` where that cannot be told: nothing to compare with, or the
    /// same tick.
    fn precedes(self, now: Instant, value: Option<u32>) -> Option<bool> {
        let (highest, at) = self.0?;
        let ahead = value?.wrapping_sub(highest) as i32;
        (ahead != 0 && now - at < OUTDATED).then_some(ahead < 0)
    }

    fn take(&mut self, now: Instant, value: Option<u32>) {
        if let Some(value) = value
            && self.precedes(now, Some(value)) != Some(true)
        {
            self.0 = Some((value, now));
        }
    }
}

fn stamp_of(header: &TcpHeader) -> Option<u32> {
    header.options.timestamps.map(|timestamps| timestamps.value)
}

/// D1: the order of acknowledgements.
///
/// Their numbers never fall in the order of sending. Equal numbers are ordered by ADSN, or without it by the peer's
/// timestamps.
#[derive(Debug, Clone, Default)]
pub(crate) struct AckOrder {
    highest: Option<SeqNumber>,
    /// The highest ADSN among those of the highest number.
    repeats: Option<u8>,
    stamp: Stamp,
}

impl AckOrder {
    /// Takes the acknowledgement in a segment. Says whether it is out of order.
    pub(crate) fn is_late(&mut self, now: Instant, header: &TcpHeader) -> bool {
        let stamp = stamp_of(header);
        let repeats = header.options.delivery_order.and_then(|order| order.adsn);
        let ahead = self.highest.map_or(1, |highest| header.ack.distance_from(highest));
        if ahead < 0 {
            return true;
        }
        let before = self.stamp.precedes(now, stamp);
        // A clock that has moved on outweighs a count that may have wrapped.
        let late = ahead == 0
            && before != Some(false)
            && match (self.repeats, repeats) {
                (Some(highest), Some(this)) => (this.wrapping_sub(highest) as i8) < 0,
                _ => before == Some(true),
            };
        if !late {
            self.highest = Some(header.ack);
            self.repeats = repeats;
            self.stamp.take(now, stamp);
        }
        late
    }
}

/// D2: the order of data packets, by TPSN, or without it by the peer's timestamps.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataOrder {
    highest: Option<u16>,
    stamp: Stamp,
}

impl DataOrder {
    /// Takes a segment with payload. Says whether it is out of order.
    pub(crate) fn is_late(&mut self, now: Instant, header: &TcpHeader) -> bool {
        let stamp = stamp_of(header);
        let number = header.options.delivery_order.and_then(|order| order.tpsn);
        let before = self.stamp.precedes(now, stamp);
        let late = before != Some(false)
            && match (self.highest, number) {
                (Some(highest), Some(this)) => (this.wrapping_sub(highest) as i16) < 0,
                _ => before == Some(true),
            };
        if !late {
            self.highest = number;
            self.stamp.take(now, stamp);
        }
        late
    }
}
