//! Listening before judging: a daemon that stood still hears what waits before it does what is due.
use prismux_units::{Duration, Instant};

/// A turn that ends so much later than its timer had not been given a processor (a busy machine, a paused one): what
/// arrived meanwhile waits, and nobody is silent or lost who has not been listened to.
const LATE: Duration = Duration::from_millis(20);
/// For no longer than this it then listens before it judges, in which a full socket is read: a flood must not keep
/// timers from running.
const CATCH_UP: Duration = Duration::from_millis(50);
/// So many turns it listens all the same, however slowly a busy machine gives them: they read what an ordinary socket
/// holds.
const LEAST_TURNS: u32 = 8;

/// Whether the loop's turns listen only, and for how long.
#[derive(Debug, Default)]
pub struct CatchUp {
    listening: Option<Listening>,
}

#[derive(Debug)]
struct Listening {
    until: Instant,
    turns_left: u32,
}

impl CatchUp {
    /// Whether timers may run at the end of a turn whose timer was `deadline`. `heard`: whether there was something
    /// to read. `now` is read after that, since what was read, or nothing, may be older than a pause in this turn.
    pub fn may_judge(&mut self, deadline: Option<Instant>, heard: bool, now: Instant) -> bool {
        match &mut self.listening {
            None if deadline.is_some_and(|at| now.saturating_since(at) > LATE) => {
                self.listening = Some(Listening { until: now + CATCH_UP, turns_left: LEAST_TURNS });
                false
            }
            Some(listening) if heard && (now < listening.until || listening.turns_left > 0) => {
                listening.turns_left = listening.turns_left.saturating_sub(1);
                false
            }
            _ => {
                self.listening = None;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CATCH_UP, CatchUp, LATE, LEAST_TURNS};
    use prismux_units::{Duration, Instant};

    const DEADLINE: Instant = Instant::from_nanos(1_000_000_000);

    /// The end of each turn after `DEADLINE` in ms, whether something was read in it, and whether timers may run.
    fn turns(turns: &[(u64, bool, bool)]) {
        let mut catch_up = CatchUp::default();
        for &(ms, heard, judges) in turns {
            let now = DEADLINE + Duration::from_millis(ms);
            assert_eq!(
                catch_up.may_judge(Some(DEADLINE), heard, now),
                judges,
                "turn that ends after {ms} ms"
            );
        }
    }

    #[test]
    fn in_time_timers_run_beside_packets() {
        turns(&[(0, true, true), (1, false, true), (LATE.as_millis(), true, true)]);
        assert!(CatchUp::default().may_judge(None, true, DEADLINE));
    }

    #[test]
    fn after_a_pause_of_six_seconds_all_that_waits_is_heard_first() {
        turns(&[(6000, true, false), (6001, true, false), (6002, true, false), (6003, false, true)]);
    }

    #[test]
    fn a_turn_without_packets_may_have_looked_before_the_pause() {
        turns(&[(6000, false, false), (6001, true, false), (6002, false, true)]);
    }

    #[test]
    fn a_flood_does_not_keep_timers_from_running() {
        let mut flood = vec![(6000, true, false)];
        flood.extend((0..CATCH_UP.as_millis()).map(|ms| (6000 + ms, true, false)));
        let end = 6000 + CATCH_UP.as_millis();
        flood.extend([(end, true, true), (end + 1, true, false)]);
        turns(&flood);
    }

    #[test]
    fn a_machine_that_gives_few_turns_still_reads_what_a_socket_holds() {
        let mut slow = vec![(6000, true, false)];
        slow.extend((0..u64::from(LEAST_TURNS)).map(|turn| (6100 + 100 * turn, true, false)));
        slow.push((8000, true, true));
        turns(&slow);
    }
}
