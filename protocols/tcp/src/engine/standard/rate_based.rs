//! What a rate-based congestion control needs: samples of the delivery rate, and segments that leave at its pacing
//! rate.
use super::Standard;
use super::rates::Rates;
use crate::engine::congestion::{Congestion, CongestionControl, CustomControl, RateSample};
use crate::engine::delivery::Newest;
use crate::engine::interface::{Send, SendLimits};
use alloc::boxed::Box;
use prismux_units::{Duration, Instant};

/// What an acknowledgement brought.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub(super) now: Instant,
    pub(super) bytes: u64,
    pub(super) newest: Option<Newest>,
    pub(super) rtt: Option<Duration>,
    pub(super) pipe_before: u64,
    pub(super) was_limited: bool,
    pub(super) is_marked: bool,
}

impl Standard {
    /// Hands window and rate to a policy from outside.
    pub(crate) fn set_congestion(&mut self, policy: Box<dyn CustomControl>) {
        self.rates = Rates::wanted_by(policy.as_ref());
        self.sender.congestion = Congestion::Custom(policy);
    }

    /// The policy sets the window itself.
    #[inline]
    pub(super) fn is_rate_based(&self) -> bool {
        self.rates.as_ref().is_some_and(|rates| rates.set_window)
    }

    /// The pacer holds back a segment that is ready.
    #[inline]
    pub(super) fn is_held(&mut self, now: Instant) -> bool {
        self.rates.as_mut().is_some_and(|rates| rates.pacer.holds(now))
    }

    /// A transmission is about to be noted.
    #[inline]
    pub(super) fn note_rates(&mut self, now: Instant, send: &Send) {
        if self.rates.is_some() {
            self.pace(now, send);
        }
    }

    #[cold]
    fn pace(&mut self, now: Instant, send: &Send) {
        let in_flight = self.pipe();
        let Some(rates) = &mut self.rates else { return };
        if let Some(rate) = self.sender.congestion.pacing_rate() {
            rates.pacer.on_sent(now, send.length(), rate, self.sender.mss_bytes());
        }
        if rates.set_window {
            rates.delivery.on_sent(now, &send.range, in_flight, self.sender.board.lost_ever());
        }
    }

    /// Nothing leaves: if that is because there is nothing to send, what is measured now is not the path.
    #[cold]
    pub(super) fn note_app_limit(&mut self, limits: &SendLimits) {
        let in_flight = self.pipe();
        let sender = &self.sender;
        let nothing_left = sender.next >= limits.stream_end && sender.board.lost().segments == 0;
        if let Some(rates) = &mut self.rates
            && nothing_left
            && in_flight < sender.window.cwnd
        {
            rates.delivery.note_app_limited(in_flight);
        }
    }

    /// Tells the policy of segments newly taken for lost, before any of them is sent again.
    #[cold]
    pub(super) fn report_losses(&mut self, now: Instant) {
        let Some(rates) = self.rates.as_mut().filter(|rates| rates.set_window) else { return };
        let sender = &mut self.sender;
        let lost_ever = sender.board.lost_ever();
        let (mut index, mut reported_end) = (sender.board.first_lost(), None);
        while let Some(lost) = index {
            let segment = *sender.board.get(lost);
            if let Some(mut report) = rates.delivery.on_lost(now, &segment, lost_ever) {
                report.begins_range = reported_end != Some(segment.start);
                reported_end = Some(segment.end());
                sender.congestion.on_lost(&report, &sender.window);
            }
            index = sender.board.linked_after(lost);
        }
    }

    /// Lets the policy set the window after an ACK.
    #[cold]
    pub(super) fn follow_model(&mut self, context: News) {
        if self.rates.as_ref().is_some_and(|rates| rates.delivery.is_behind(self.sender.board.lost_ever())) {
            self.report_losses(context.now);
        }
        let in_flight = self.pipe();
        let Some(rates) = &mut self.rates else { return };
        let delivery_rate = &mut rates.delivery;
        let sender = &mut self.sender;
        let lost_ever = sender.board.lost_ever();
        let estimate = delivery_rate.on_delivery(
            context.now,
            context.bytes,
            context.newest,
            sender.rtt.min_rtt(),
            lost_ever,
        );
        let sample = RateSample {
            now: context.now,
            delivered: delivery_rate.delivered(),
            newly_delivered: context.bytes,
            newly_marked: if context.is_marked { context.bytes } else { 0 },
            newly_lost: delivery_rate.newly_lost(lost_ever),
            prior_delivered: estimate.prior_delivered,
            sent_in_flight: estimate.sent_in_flight,
            lost_since: estimate.lost_since,
            rate: estimate.rate,
            is_app_limited: estimate.is_app_limited,
            rtt: context.rtt,
            in_flight,
            prior_in_flight: context.pipe_before,
            is_window_limited: context.was_limited,
            phase: sender.phase,
        };
        let oldest = sender.board.oldest_in_flight().map(|index| sender.board.get(index).sent_at);
        delivery_rate.forget_before(oldest);
        sender.congestion.on_rate_sample(&sample, &mut sender.window);
    }
}
