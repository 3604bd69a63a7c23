//! What no link of a group is below, or above: a scheduler passes over groups in which none can be the best.
use crate::link_model::{LinkModel, MAX_IDLE};
use prismux_units::{Duration, Instant};

/// Packets of a modest connection, one that asks for little beside the others, fill a link to this many times its cap.
pub(crate) const MODEST_FILL: f64 = 1.25;
/// A packet of so many bytes or more is full-sized: a link without room for that much takes none.
const FULL_SIZE_BYTES: u64 = 512;
/// Rounding makes of a bound no more than this too much, in seconds.
const ROUNDING: f64 = 1e-8;

/// When links will have sent what they were given.
#[derive(Debug, Clone, Copy)]
struct Paces {
    /// The first is free at this time, and none is not busy before this one.
    free_at: Instant,
    busy_before: Instant,
}

impl Paces {
    /// Of no link.
    const NONE: Self = Self { free_at: Instant::MAX, busy_before: Instant::MAX };

    fn with(self, model: &LinkModel, in_flight_bytes: u64) -> Self {
        Self {
            free_at: self.free_at.min(model.free_at()),
            busy_before: self.busy_before.min(model.is_busy_before(in_flight_bytes)),
        }
    }
}

/// What no usable link of a group is below, or above.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The links, and those alone that have room for a full-sized packet. Of several bounds that hold each for another
    /// link, one for being free and one for having room, none rules the group out; together they do.
    any: Paces,
    roomy: Paces,
    /// The shortest way, in seconds.
    propagation: f64,
    /// The least time for a byte, and for what is in flight, in seconds.
    per_byte: f64,
    queue: f64,
    /// The most bytes that fit below a cap, and below a modest connection's; any number where a link is empty.
    room: f64,
    modest_room: f64,
    /// The least share of a cap that is filled, and that a byte fills.
    fill: f64,
    per_cap: f64,
}

impl Bounds {
    /// Of no link.
    pub(super) const NONE: Self = Self {
        any: Paces::NONE,
        roomy: Paces::NONE,
        propagation: f64::INFINITY,
        per_byte: f64::INFINITY,
        queue: f64::INFINITY,
        room: f64::NEG_INFINITY,
        modest_room: f64::NEG_INFINITY,
        fill: f64::INFINITY,
        per_cap: f64::INFINITY,
    };

    pub(super) fn with(self, model: &LinkModel, in_flight_bytes: u64) -> Self {
        let in_flight = in_flight_bytes as f64;
        let (cap, rate) = (model.cap_bytes() as f64, model.planning_rate());
        let room = |fill: f64| if in_flight > 0.0 { cap * fill - in_flight } else { f64::INFINITY };
        let is_roomy = room(1.0) >= FULL_SIZE_BYTES as f64;
        Self {
            any: self.any.with(model, in_flight_bytes),
            roomy: if is_roomy { self.roomy.with(model, in_flight_bytes) } else { self.roomy },
            propagation: self.propagation.min(model.min_rtt().map_or(0.0, Duration::as_secs_f64)),
            per_byte: self.per_byte.min(rate.map_or(0.0, f64::recip)),
            queue: self.queue.min(rate.map_or(0.0, |rate| in_flight / rate)),
            room: self.room.max(room(1.0)),
            modest_room: self.modest_room.max(room(MODEST_FILL)),
            fill: self.fill.min(in_flight / cap),
            per_cap: self.per_cap.min(cap.recip()),
        }
    }

    /// No link of the group has room for so many bytes, a modest connection's or another's.
    pub(crate) fn is_full(&self, bytes: u64, modest: bool) -> bool {
        (if modest { self.modest_room } else { self.room }) + 1.0 < bytes as f64
    }

    /// The links below their caps that a packet of so many bytes may find.
    fn below_caps(&self, bytes: u64) -> &Paces {
        if bytes >= FULL_SIZE_BYTES { &self.roomy } else { &self.any }
    }

    /// Every link below its cap with a packet of so many bytes more has enough to do with what it was given lately; as
    /// [`crate::link_model::LinkModel::busy_until`].
    pub(crate) fn is_busy(&self, now: Instant, bytes: u64) -> bool {
        self.below_caps(bytes).busy_before > now
    }

    /// No link is filled to less than this multiple of its cap with so many bytes more.
    pub(crate) fn fill(&self, bytes: u64) -> f64 {
        (self.fill + bytes as f64 * self.per_cap) * (1.0 - ROUNDING)
    }

    /// No link below its cap with so many bytes more would have sent them before this; as
    /// [`crate::link_model::LinkModel::done_with`].
    pub(crate) fn done_with(&self, now: Instant, bytes: u64) -> f64 {
        let free_at = self.below_caps(bytes).free_at;
        let ahead = free_at.saturating_since(now).as_secs_f64();
        let idle = now.saturating_since(free_at).as_secs_f64().min(MAX_IDLE);
        ahead - idle + bytes as f64 * self.per_byte - ROUNDING
    }

    /// On no link a packet of so many bytes arrives before this, in seconds from now.
    pub(crate) fn arrival(&self, now: Instant, bytes: u64) -> f64 {
        let ahead = self.any.free_at.saturating_since(now).as_secs_f64();
        self.propagation + ahead.min(self.queue) + bytes as f64 * self.per_byte - ROUNDING
    }
}
