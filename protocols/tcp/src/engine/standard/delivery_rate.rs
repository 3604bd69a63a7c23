//! Samples of the delivery rate (draft-ietf-ccwg-bbr section 4.1, draft-cheng-iccrg-delivery-rate-estimation): how
//! much was delivered between the transmission of a segment and its acknowledgement, and in how long.
use crate::engine::congestion::LostSegment;
use crate::engine::delivery::Newest;
use crate::engine::scoreboard::Segment;
use alloc::collections::VecDeque;
use core::ops::Range;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// What the connection had achieved when a segment left (P.* of the draft).
#[derive(Debug, Clone, Copy)]
struct Transmission {
    sent_at: Instant,
    end: u64,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    in_flight: u64,
    lost: u64,
    is_app_limited: bool,
    is_lost: bool,
}

/// What one acknowledgement says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimate {
    pub(super) prior_delivered: Option<u64>,
    pub(super) sent_in_flight: u64,
    pub(super) lost_since: u64,
    pub(super) rate: Option<Rate>,
    pub(super) is_app_limited: bool,
}

/// The connection's variables (C.* of the draft), and a record for each transmission that may still return, oldest
/// first.
#[derive(Debug, Clone, Default)]
pub(super) struct DeliveryRate {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Until so much is delivered the application is the limit; zero when it is not.
    app_limited_until: u64,
    /// Bytes ever taken for lost, as of the last acknowledgement.
    lost: u64,
    transmissions: VecDeque<Transmission>,
}

impl DeliveryRate {
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A segment leaves, with `in_flight` bytes in the network before it, when `lost_ever` were lost.
    pub(super) fn on_sent(&mut self, now: Instant, range: &Range<u64>, in_flight: u64, lost_ever: u64) {
        if in_flight == 0 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        self.transmissions.push_back(Transmission {
            sent_at: now,
            end: range.end,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: in_flight + (range.end - range.start),
            lost: lost_ever,
            is_app_limited: self.app_limited_until > 0,
            is_lost: false,
        });
    }

    /// There is nothing to send though there is room, with `in_flight` bytes on the way.
    pub(super) fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether bytes were lost since the last acknowledgement, when there have been `lost_ever`.
    pub(super) fn is_behind(&self, lost_ever: u64) -> bool {
        lost_ever > self.lost
    }

    /// Bytes taken for lost since the last call, when there have been `lost_ever`.
    pub(super) fn newly_lost(&mut self, lost_ever: u64) -> u64 {
        let newly = lost_ever.saturating_sub(self.lost);
        self.lost = lost_ever;
        newly
    }

    /// What `segment`, taken for lost, says, when `lost_ever` bytes were; `None` where it has said so, or nothing is
    /// known of its transmission.
    pub(super) fn on_lost(&mut self, now: Instant, segment: &Segment, lost_ever: u64) -> Option<LostSegment> {
        let place = self.place(segment.sent_at, segment.end())?;
        let sent = &mut self.transmissions[place];
        if core::mem::replace(&mut sent.is_lost, true) {
            return None;
        }
        Some(LostSegment {
            now,
            bytes: u64::from(segment.length),
            sent_in_flight: sent.in_flight,
            lost_since: lost_ever.saturating_sub(sent.lost),
            is_app_limited: sent.is_app_limited,
            begins_range: true,
        })
    }

    /// Takes what an acknowledgement reports, when `lost_ever` bytes were lost. An interval shorter than `min_rtt` says
    /// nothing: its ACKs came in a bunch.
    pub(super) fn on_delivery(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Option<Newest>,
        min_rtt: Option<Duration>,
        lost_ever: u64,
    ) -> Estimate {
        if bytes > 0 {
            self.delivered += bytes;
            self.delivered_at = now;
        }
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let Some(sent) = newest.and_then(|newest| self.place(newest.sent_at, newest.end)) else {
            return Estimate::default();
        };
        let sent = self.transmissions[sent];
        self.first_sent_at = sent.sent_at;
        let interval = (sent.sent_at - sent.first_sent_at).max(self.delivered_at - sent.delivered_at);
        let delivered = ByteCount::new(self.delivered - sent.delivered);
        let believable = min_rtt.is_none_or(|minimum| interval >= minimum);
        Estimate {
            prior_delivered: Some(sent.delivered),
            sent_in_flight: sent.in_flight,
            lost_since: lost_ever.saturating_sub(sent.lost),
            rate: Rate::from_transfer(delivered, interval).filter(|_| believable),
            is_app_limited: sent.is_app_limited,
        }
    }

    /// Forgets transmissions made before `oldest`, the earliest that is still in flight; all without one.
    pub(super) fn forget_before(&mut self, oldest: Option<Instant>) {
        let Some(oldest) = oldest else { return self.transmissions.clear() };
        while self.transmissions.front().is_some_and(|sent| sent.sent_at < oldest) {
            self.transmissions.pop_front();
        }
    }

    fn place(&self, sent_at: Instant, end: u64) -> Option<usize> {
        let first = self.transmissions.partition_point(|sent| sent.sent_at < sent_at);
        let mut same = self.transmissions.range(first..).take_while(|sent| sent.sent_at == sent_at);
        same.position(|sent| sent.end == end).map(|offset| first + offset)
    }
}
