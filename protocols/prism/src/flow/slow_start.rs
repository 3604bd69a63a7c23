//! Whether a sender is in slow start and answers an ACK over many segments, judged by what it has under way.
use prismux_wire::SeqNumber;

/// The flight of a sender in slow start doubles in a round, if it answers an ACK over many segments with twice as many,
/// as Linux does; others bound what an ACK brings (RFC 3465, section 2.3; RFC 9406, section 4.2).
const LEAST_GROWTH: f32 = 1.5;
/// A sender that has this share of what it was allowed under way could not have doubled it.
const LIMITED: f32 = 0.6;
/// So often in a row may that be: links that are being measured take a sender's pace for a moment.
const PATIENCE: u8 = 4;
/// With less under way, ACKs are not grouped: HyStart looks at no window below 16 segments, and short answers need not
/// wait.
pub(crate) const MIN_GROUPED_BYTES: u32 = 16 * 1460;
/// ACKs of a round go out in so many groups: HyStart looks at no round-trip times before it has eight.
const GROUPS: u32 = 5;

/// A sender that is taken to be in slow start until its flight no longer doubles. A round lasts until what was under
/// way at its beginning is acknowledged, as HyStart counts rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlowStart {
    is_over: bool,
    limited_rounds: u8,
    /// The number that ends the present round; `None` before the first.
    round_end: Option<SeqNumber>,
    /// Bytes under way at its beginning.
    flight_bytes: u32,
}

impl SlowStart {
    /// True until the flight has ceased to double.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_over
    }

    /// The sender learns that everything below `number` has arrived; it has sent up to `sent_end`, and has
    /// `flight_bytes` of at most `flight_limit` under way.
    pub(crate) fn on_released(
        &mut self,
        number: SeqNumber,
        sent_end: SeqNumber,
        flight_bytes: u32,
        flight_limit: Option<u64>,
    ) {
        if self.is_over || self.round_end.is_some_and(|end| number.before(end)) {
            return;
        }
        let grows = (flight_bytes as f32) >= LEAST_GROWTH * self.flight_bytes as f32;
        let limited = flight_limit.is_some_and(|limit| flight_bytes as f32 > LIMITED * limit as f32);
        self.limited_rounds = if limited && !grows { self.limited_rounds + 1 } else { 0 };
        let small = flight_bytes < MIN_GROUPED_BYTES;
        self.is_over = !(grows || limited || small) || self.limited_rounds >= PATIENCE;
        (self.round_end, self.flight_bytes) = (Some(sent_end), flight_bytes);
    }

    /// Whether ACKs up to `highest` are a whole group, when the last ACK that went out had the number `released`.
    pub(crate) fn is_group(&self, released: SeqNumber, highest: SeqNumber) -> bool {
        let bytes = highest.distance_from(released).max(0) as u32;
        bytes >= self.flight_bytes / GROUPS || self.round_end.is_none_or(|end| !highest.before(end))
    }
}

#[cfg(test)]
mod tests {
    use super::SlowStart;
    use alloc::vec::Vec;
    use prismux_wire::SeqNumber;

    /// Rounds at whose ends so many bytes are under way, of at most `limit`; whether ACKs are still grouped after each.
    fn rounds(flights: &[u32], limit: Option<u64>) -> Vec<bool> {
        let (mut slow_start, mut number) = (SlowStart::default(), SeqNumber(1000));
        let after_round = |&flight: &u32| {
            slow_start.on_released(number, number + flight, flight, limit);
            number += flight;
            slow_start.is_on()
        };
        flights.iter().map(after_round).collect()
    }

    #[test]
    fn acks_are_grouped_while_the_flight_doubles() {
        assert_eq!(
            rounds(&[30_000, 60_000, 120_000, 240_000, 250_000], None),
            [true, true, true, true, false]
        );
    }

    #[test]
    fn a_sender_that_bounds_what_an_ack_brings_gets_single_acks_again() {
        // Five groups with eight segments of growth for each at most.
        assert_eq!(rounds(&[60_000, 118_000, 176_000], None), [true, true, false]);
    }

    #[test]
    fn links_that_are_being_measured_may_hold_a_sender_up_for_four_rounds() {
        let grouped = rounds(&[30_000, 31_000, 32_000, 33_000, 34_000], Some(40_000));
        assert_eq!(grouped, [true, true, true, true, false]);
    }

    #[test]
    fn a_group_is_a_fifth_of_a_round_or_ends_it() {
        let mut slow_start = SlowStart::default();
        slow_start.on_released(SeqNumber(1000), SeqNumber(101_000), 100_000, None);
        let is_group = |released, highest| slow_start.is_group(SeqNumber(released), SeqNumber(highest));
        assert!(!is_group(1000, 20_000) && is_group(1000, 21_000));
        assert!(!is_group(90_000, 100_000) && is_group(90_000, 101_000));
    }
}
