//! Samples of the delivery rate (draft-ietf-ccwg-bbr section 4.1, draft-cheng-iccrg-delivery-rate-estimation): how
//! much was delivered between the transmission of a segment and its acknowledgement, and in how long.
use crate::engine::delivery::Newest;
use alloc::collections::VecDeque;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// What the connection had achieved when a segment left (P.* of the draft).
#[derive(Debug, Clone, Copy)]
struct Transmission {
    sent_at: Instant,
    end: u64,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    is_app_limited: bool,
}

/// What one acknowledgement says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimate {
    pub(super) prior_delivered: Option<u64>,
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

    /// A segment that ends at `end` leaves, with `in_flight` bytes before it.
    pub(super) fn on_sent(&mut self, now: Instant, end: u64, in_flight: u64) {
        if in_flight == 0 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        self.transmissions.push_back(Transmission {
            sent_at: now,
            end,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            is_app_limited: self.app_limited_until > 0,
        });
    }

    /// There is nothing to send though there is room, with `in_flight` bytes on the way.
    pub(super) fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Bytes taken for lost since the last call, when there have been `lost_ever`.
    pub(super) fn newly_lost(&mut self, lost_ever: u64) -> u64 {
        let newly = lost_ever.saturating_sub(self.lost);
        self.lost = lost_ever;
        newly
    }

    /// Takes what an acknowledgement reports. An interval shorter than `min_rtt` says nothing: its ACKs came in a
    /// bunch.
    pub(super) fn on_delivery(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Option<Newest>,
        min_rtt: Option<Duration>,
    ) -> Estimate {
        if bytes > 0 {
            self.delivered += bytes;
            self.delivered_at = now;
        }
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let Some(sent) = newest.and_then(|newest| self.find(&newest)) else {
            return Estimate::default();
        };
        self.first_sent_at = sent.sent_at;
        let interval = (sent.sent_at - sent.first_sent_at).max(self.delivered_at - sent.delivered_at);
        let delivered = ByteCount::new(self.delivered - sent.delivered);
        let believable = min_rtt.is_none_or(|minimum| interval >= minimum);
        Estimate {
            prior_delivered: Some(sent.delivered),
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

    fn find(&self, newest: &Newest) -> Option<Transmission> {
        let first = self.transmissions.partition_point(|sent| sent.sent_at < newest.sent_at);
        let same = self.transmissions.range(first..).take_while(|sent| sent.sent_at == newest.sent_at);
        same.copied().find(|sent| sent.end == newest.end)
    }
}
