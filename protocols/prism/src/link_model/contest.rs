//! A link whose queue others fill: their senders take whatever is left to them, and what arrives says nothing of the
//! share that could be had.
//!
//! Whoever keeps its own queue short beside a sender that fills it until packets are lost gets less and less (as Vegas
//! beside Reno, or Copa without its competitive mode: V. Arun and H. Balakrishnan, NSDI 2018, section 4.2). So while a
//! queue that is not ours never empties, the link is given a window beside what is learned of it, which grows and
//! shrinks as that of one CUBIC sender (RFC 9438): packets that a full queue loses are the sign of a share that others
//! want too.
use prismux_tcp::engine::congestion::cubic_curve::{ALPHA, BETA, CubicCurve};
use prismux_units::{Duration, Instant};

/// Until the first loss the window grows by this share of itself in a round: the link's startup ended at the others'
/// queue, before it had any share.
const CATCH_UP: f64 = 0.125;
/// A window of which less than this share was used says nothing of what the link would carry (RFC 7661 section 4.1).
const USED: f64 = 0.5;
/// The least window, in packets.
const MIN_PACKETS: f64 = 4.0;
/// After so many rounds in which the queue was never short, what is given to the link is cut down for one round,
const LEAST_PATIENCE: u8 = 6;
/// and when so many more have passed and the queue is still there, it is others'. If it is not there any more, jitter
/// or a rate that swings made it, and twice as many rounds are to pass before the next time,
const UNTIL_SURE: u8 = 3;
/// up to so many.
const MOST_PATIENCE: u8 = 96;

/// The window of a link that others fill; all in packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contest {
    /// So many rounds with a queue arouse suspicion.
    patience: u8,
    /// Rounds in a row in which the queue was never short.
    full_rounds: u8,
    /// 0 while the link is not contested.
    window: f64,
    /// How it grows since the last loss, and when that was.
    since_loss: Option<(CubicCurve, Instant)>,
}

/// What a round has shown of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// The queue was never short.
    pub(super) full: bool,
    /// Packets were lost to a full queue.
    pub(super) lost: bool,
    /// Packets that the link was given,
    pub(super) given: f64,
    /// and that were under way at most.
    pub(super) under_way: f64,
    pub(super) round_trip: Duration,
}

impl Default for Contest {
    fn default() -> Self {
        Self { patience: LEAST_PATIENCE, full_rounds: 0, window: 0.0, since_loss: None }
    }
}

impl Contest {
    /// A round is over.
    pub(super) fn on_round(&mut self, now: Instant, shown: Shown) {
        if !shown.full {
            let was_ours = self.full_rounds >= self.patience && !self.is_on();
            let patience = if was_ours { (2 * self.patience).min(MOST_PATIENCE) } else { self.patience };
            *self = Self { patience, ..Self::default() };
            return;
        }
        self.full_rounds = self.full_rounds.saturating_add(1);
        if self.full_rounds < self.patience + UNTIL_SURE {
            return;
        }
        if self.window == 0.0 {
            self.patience = LEAST_PATIENCE;
            self.window = shown.given.max(MIN_PACKETS);
        } else if shown.lost {
            let recent =
                self.since_loss.is_some_and(|(_, at)| now.saturating_since(at) < shown.round_trip * 2);
            if !recent {
                let before = self.window;
                self.window = (BETA * before).max(MIN_PACKETS);
                self.since_loss = Some((CubicCurve::new(before, self.window), now));
            }
        } else if shown.under_way >= USED * self.window {
            self.window = self.grown(now, shown.round_trip).max(self.window);
        }
    }

    /// Whose queue it is shows when less is given to the link for a round.
    pub(super) fn is_suspect(&self) -> bool {
        self.full_rounds == self.patience && !self.is_on()
    }

    /// The queue was short in the last round.
    pub(super) fn is_unlikely(&self) -> bool {
        self.full_rounds == 0
    }

    /// The queue is others'.
    pub(super) fn is_on(&self) -> bool {
        self.window > 0.0
    }

    fn grown(&self, now: Instant, round_trip: Duration) -> f64 {
        let Some((curve, at)) = self.since_loss else { return self.window * (1.0 + CATCH_UP) };
        let elapsed = now.saturating_since(at).as_secs_f64();
        // As Reno would with the same losses on average (RFC 9438 section 4.3).
        let friendly = BETA * curve.w_max() + ALPHA * elapsed / round_trip.as_secs_f64();
        curve.window(elapsed).max(friendly).min(1.5 * self.window)
    }

    /// Packets that may be in flight, whatever has been learned.
    pub(super) fn window(&self) -> f64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::{BETA, Contest, LEAST_PATIENCE, Shown, UNTIL_SURE};
    use prismux_units::{Duration, Instant};

    const ROUND_TRIP: Duration = Duration::from_millis(100);
    /// A link that was given 10 packets and more in the last round.
    const FULL: Shown =
        Shown { full: true, lost: false, given: 10.0, under_way: f64::MAX, round_trip: ROUND_TRIP };

    /// So many rounds with a queue on a link that was given 10 packets; one was lost to it in the last where `lost`.
    fn rounds(contest: &mut Contest, now: &mut Instant, count: usize, lost: bool) {
        for number in 1..=count {
            *now += ROUND_TRIP;
            contest.on_round(*now, Shown { lost: lost && number == count, ..FULL });
        }
    }

    #[test]
    fn a_queue_that_stays_when_less_is_sent_is_others() {
        let (mut contest, mut now) = (Contest::default(), Instant::ZERO);
        rounds(&mut contest, &mut now, LEAST_PATIENCE.into(), false);
        assert!(contest.is_suspect() && !contest.is_on());
        rounds(&mut contest, &mut now, UNTIL_SURE.into(), false);
        assert!(contest.is_on() && !contest.is_suspect());
        assert_eq!(contest.window(), 10.0);
    }

    #[test]
    fn a_queue_that_goes_when_less_is_sent_is_ours_and_asked_about_half_as_often() {
        let (mut contest, mut now) = (Contest::default(), Instant::ZERO);
        for times in [1, 2, 4, 8] {
            rounds(&mut contest, &mut now, usize::from(LEAST_PATIENCE) * times - 1, false);
            assert!(!contest.is_suspect(), "{times}");
            rounds(&mut contest, &mut now, 1, false);
            assert!(contest.is_suspect(), "{times}");
            contest.on_round(now, Shown { full: false, ..FULL });
            assert!(!contest.is_on());
        }
    }

    #[test]
    fn the_window_catches_up_until_the_first_loss_and_is_then_that_of_cubic() {
        let (mut contest, mut now) = (Contest::default(), Instant::ZERO);
        rounds(&mut contest, &mut now, usize::from(LEAST_PATIENCE + UNTIL_SURE) + 20, false);
        let before = contest.window();
        assert!(before > 100.0, "doubled three times: {before}");
        rounds(&mut contest, &mut now, 1, true);
        assert_eq!(contest.window(), BETA * before);
        // Half the way up before K, where it rises steeply, and little about K = cbrt(0.3 * window / 0.4) seconds.
        let inflection = libm::cbrt((1.0 - BETA) * before / 0.4);
        rounds(&mut contest, &mut now, (inflection * 5.0) as usize, false);
        let halfway = contest.window();
        assert!(halfway > 0.93 * before && halfway < before, "{halfway} {before}");
        rounds(&mut contest, &mut now, (inflection * 5.0) as usize, false);
        assert!((contest.window() / before - 1.0).abs() < 0.01, "{} {before}", contest.window());
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let (mut contest, mut now) = (Contest::default(), Instant::ZERO);
        rounds(&mut contest, &mut now, usize::from(LEAST_PATIENCE + UNTIL_SURE), false);
        for _ in 0..20 {
            now += ROUND_TRIP;
            contest.on_round(now, Shown { under_way: 4.0, ..FULL });
        }
        assert_eq!(contest.window(), 10.0);
    }

    #[test]
    fn losses_of_one_overflow_are_one_sign() {
        let (mut contest, mut now) = (Contest::default(), Instant::ZERO);
        rounds(&mut contest, &mut now, usize::from(LEAST_PATIENCE + UNTIL_SURE) + 20, false);
        rounds(&mut contest, &mut now, 1, true);
        let after = contest.window();
        rounds(&mut contest, &mut now, 1, true);
        assert_eq!(contest.window(), after);
    }
}
