//! Whether a sender is in slow start and answers an ACK over many segments, judged by what it has under way.
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// The flight of a sender in slow start doubles in a round, if it answers an ACK over many segments with twice as many,
/// as Linux does; others bound what an ACK brings (RFC 3465, section 2.3; RFC 9406, section 4.2).
const LEAST_GROWTH: f32 = 1.5;
/// A sender that has this share of what it was allowed under way could not have doubled it.
const LIMITED: f32 = 0.6;
/// So often in a row may that be: links that are being measured take a sender's pace for a moment.
const LIMITED_ROUNDS: u8 = 4;
/// So often in a row may the flight of a sender that is not limited grow less: much of what it sends in answer to a
/// large ACK belongs to the next round.
const SLOW_ROUNDS: u8 = 2;
/// With less under way, ACKs are not grouped: HyStart looks at no window below 16 segments, and short answers need not
/// wait.
pub(crate) const MIN_GROUPED_BYTES: u32 = 16 * 1460;
/// ACKs of a round go out in so many groups: HyStart looks at no round-trip times before it has eight.
const GROUPS: u32 = 5;
/// A group is for no more than this: its sender answers with twice as much at once, which is to fit the queues before
/// the proxy. In a round of more such groups HyStart has its round-trip times, and the sender a large window.
const MAX_GROUP_BYTES: u32 = 400_000;
/// After so many ACKs of a round, whole groups or not, one waits longer for what comes.
const MANY: u8 = 6;

/// A sender that is taken to be in slow start until its flight no longer doubles. A round lasts until what was under
/// way at its beginning is acknowledged, as HyStart counts rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlowStart {
    is_over: bool,
    /// Rounds in a row without growth, by reason.
    limited_rounds: u8,
    slow_rounds: u8,
    /// The present round; `None` before the first.
    round: Option<Round>,
    /// The round before, until the sender has answered its last ACK.
    unjudged: Option<Unjudged>,
    /// How far the sender had come when it had answered the round before that.
    answered_end: Option<SeqNumber>,
}

#[derive(Debug, Clone, Copy)]
struct Round {
    /// Where it began.
    start: SeqNumber,
    /// The number that ends it.
    end: SeqNumber,
    /// Bytes under way at its beginning.
    flight_bytes: u32,
    /// ACKs that left in it.
    acks: u8,
}

/// A round whose last ACK has left.
#[derive(Debug, Clone, Copy)]
struct Unjudged {
    /// When that ACK is answered.
    due: Instant,
    /// Bytes that the round acknowledged.
    acknowledged_bytes: u32,
    /// Whether so much was under way that it could not have doubled.
    limited: bool,
}

/// An ACK with a new number leaves for the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Release {
    pub(crate) now: Instant,
    /// Everything below has arrived.
    pub(crate) number: SeqNumber,
    /// Bytes by which the number rose.
    pub(crate) bytes: u32,
    /// The sender has sent up to this,
    pub(crate) sent_end: SeqNumber,
    /// and so many bytes come in answer to earlier ACKs.
    pub(crate) coming_bytes: u32,
    /// Bytes under way beyond `number`; `flight_limit` is the most there may be.
    pub(crate) flight_bytes: u32,
    pub(crate) flight_limit: Option<u64>,
    /// How long the answer takes.
    pub(crate) upstream: Duration,
}

impl SlowStart {
    /// True until the flight has ceased to double.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_over
    }

    /// The sender is told of a loss.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// Counts an ACK, and ends a round with it.
    pub(crate) fn on_released(&mut self, release: &Release) {
        if self.is_over {
            return;
        }
        if self.unjudged.is_some_and(|round| release.now >= round.due) {
            self.judge(release.sent_end);
        }
        if let Some(round) = &mut self.round
            && release.number.before(round.end)
        {
            round.acks = round.acks.saturating_add(1);
            return;
        }
        // Whoever has not answered the round before by now has little to send.
        self.judge(release.sent_end);
        let acknowledged_bytes =
            self.round.map_or(0, |round| release.number.distance_from(round.start).max(0) as u32);
        let flight_bytes = release.flight_bytes.saturating_add(release.bytes);
        let limited = release.flight_limit.is_some_and(|limit| flight_bytes as f32 > LIMITED * limit as f32);
        let due = release.now + release.upstream;
        self.unjudged = Some(Unjudged { due, acknowledged_bytes, limited });
        // In slow start it answers with twice as much as the ACK is for.
        let flight_bytes = flight_bytes.saturating_add(release.bytes);
        let end = release.sent_end + release.coming_bytes;
        self.round = Some(Round { start: release.number, end, flight_bytes, acks: 1 });
    }

    /// Whether the sender, which has sent up to `sent_end`, answered the last round as in slow start.
    fn judge(&mut self, sent_end: SeqNumber) {
        let Some(round) = self.unjudged.take() else { return };
        if let Some(before) = self.answered_end.replace(sent_end) {
            let sent = sent_end.distance_from(before).max(0) as f32;
            let grows = sent >= LEAST_GROWTH * round.acknowledged_bytes as f32;
            let small = round.acknowledged_bytes < MIN_GROUPED_BYTES;
            match (grows || small, round.limited) {
                (true, _) => (self.limited_rounds, self.slow_rounds) = (0, 0),
                (false, true) => self.limited_rounds += 1,
                (false, false) => self.slow_rounds += 1,
            }
            self.is_over = self.limited_rounds >= LIMITED_ROUNDS || self.slow_rounds >= SLOW_ROUNDS;
        }
    }

    /// Bytes that the ACKs of a whole group are for.
    pub(crate) fn group_bytes(&self) -> u32 {
        self.round.map_or(0, |round| (round.flight_bytes / GROUPS).min(MAX_GROUP_BYTES))
    }

    /// Whether ACKs up to `highest` are a whole group, when the last ACK that went out had the number `released`.
    pub(crate) fn is_group(&self, released: SeqNumber, highest: SeqNumber) -> bool {
        let bytes = highest.distance_from(released).max(0) as u32;
        let ends_round = self.round.is_none_or(|round| !highest.before(round.end));
        ends_round || bytes >= self.group_bytes() && !self.has_sent_many()
    }

    /// Whether so many ACKs left in this round that HyStart will soon have enough of them, where that can be helped.
    pub(crate) fn has_sent_many(&self) -> bool {
        self.round.is_some_and(|round| round.acks >= MANY && round.flight_bytes <= GROUPS * MAX_GROUP_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::{Release, SlowStart};
    use alloc::vec::Vec;
    use prismux_units::{Duration, Instant};
    use prismux_wire::SeqNumber;

    const ROUND_TRIP: Duration = Duration::from_millis(50);

    /// An ACK that leaves as soon as everything up to `number` has arrived, with so much sent since.
    fn release(now: Instant, number: SeqNumber, flight_bytes: u32, flight_limit: Option<u64>) -> Release {
        Release {
            now,
            number,
            bytes: 1460,
            sent_end: number + flight_bytes,
            coming_bytes: 0,
            flight_bytes,
            flight_limit,
            upstream: Duration::from_millis(10),
        }
    }

    /// Rounds in which the sender has so many bytes under way, of at most `limit`, and gets one ACK for all of them;
    /// whether ACKs are grouped at the end of each.
    fn rounds(flights: &[u32], limit: Option<u64>) -> Vec<bool> {
        let (mut slow_start, mut now, mut number) = (SlowStart::default(), Instant::ZERO, SeqNumber(1000));
        let round = |&flight: &u32| {
            number += flight;
            now += ROUND_TRIP;
            let all = release(now, number, 0, limit);
            slow_start.on_released(&Release { bytes: flight, ..all });
            slow_start.is_on()
        };
        flights.iter().map(round).collect()
    }

    #[test]
    fn acks_are_grouped_until_the_flight_has_not_doubled_twice() {
        assert_eq!(
            rounds(&[30_000, 60_000, 120_000, 240_000, 250_000, 260_000, 270_000], None),
            [true, true, true, true, true, false, false]
        );
    }

    #[test]
    fn one_round_without_growth_is_forgotten_when_the_flight_doubles_again() {
        let flights = [30_000, 60_000, 60_000, 120_000, 120_000, 240_000, 240_000, 480_000];
        assert!(rounds(&flights, None).iter().all(|grouped| *grouped));
    }

    #[test]
    fn a_sender_that_bounds_what_an_ack_brings_gets_single_acks_again() {
        // Five groups with eight segments of growth for each at most.
        assert_eq!(
            rounds(&[60_000, 118_000, 176_000, 234_000, 292_000], None),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn links_that_are_being_measured_may_hold_a_sender_up_for_four_rounds() {
        let grouped = rounds(&[30_000, 31_000, 32_000, 33_000, 34_000, 35_000], Some(40_000));
        assert_eq!(grouped, [true, true, true, true, true, false]);
    }

    #[test]
    fn a_large_last_ack_of_a_round_is_judged_when_it_is_answered() {
        let mut slow_start = SlowStart::default();
        let mut now = Instant::ZERO;
        // Each round ends with an ACK over all of it, whose answer takes 10 ms; single ACKs leave at once after it.
        for flight in [40_000, 80_000, 160_000, 320_000] {
            let number = SeqNumber(1000 + flight);
            slow_start.on_released(&Release { sent_end: number, ..release(now, number, flight, None) });
            for _ in 0..3 {
                now += Duration::from_millis(1);
                slow_start
                    .on_released(&Release { sent_end: number, ..release(now, number - 1, flight, None) });
            }
            now += ROUND_TRIP;
            slow_start.on_released(&release(now, number - 1, flight, None));
        }
        assert!(slow_start.is_on());
    }

    #[test]
    fn a_group_is_a_fifth_of_a_round_or_ends_it() {
        let mut slow_start = SlowStart::default();
        let first = Release { bytes: 0, ..release(Instant::ZERO, SeqNumber(1000), 100_000, None) };
        slow_start.on_released(&first);
        let is_group = |released, highest| slow_start.is_group(SeqNumber(released), SeqNumber(highest));
        assert!(!is_group(1000, 20_000) && is_group(1000, 21_000));
        assert!(!is_group(90_000, 100_000) && is_group(90_000, 101_000));
    }

    #[test]
    fn after_six_acks_of_a_round_only_its_end_is_a_group() {
        let mut slow_start = SlowStart::default();
        for ack in 0..6_u32 {
            assert!(ack == 0 || slow_start.is_group(SeqNumber(1000), SeqNumber(50_000)));
            let now = Instant::from_millis(u64::from(ack));
            slow_start.on_released(&release(now, SeqNumber(1000 + ack), 100_000, None));
        }
        assert!(slow_start.has_sent_many());
        assert!(!slow_start.is_group(SeqNumber(1000), SeqNumber(50_000)));
        assert!(slow_start.is_group(SeqNumber(1000), SeqNumber(101_000)));
    }
}
