//! How far members are that register: they answer a challenge at once.
use crate::tunnel::Peer;
use prismux_units::{Duration, Instant};

/// Most challenges without an answer that are remembered.
const MAX_CHALLENGED: usize = 256;

/// An answer that takes longer is to another challenge.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(3);

/// Challenges without an answer, and when they went out.
#[derive(Debug, Default)]
pub(super) struct Challenged {
    open: Vec<(Peer, Instant)>,
}

impl Challenged {
    /// A challenge goes to `peer`. The oldest is forgotten when there are too many.
    ///
    /// Where one is on its way already, the first answer is to that: a member that is far calls again meanwhile, as
    /// does one whose call waited for the proxy to start.
    pub fn note(&mut self, now: Instant, peer: Peer) {
        let is_under_way = |at: Instant| now.saturating_since(at) < MAX_ROUND_TRIP;
        if self.open.iter().any(|&(other, at)| other == peer && is_under_way(at)) {
            return;
        }
        self.open.retain(|(other, _)| *other != peer);
        if self.open.len() >= MAX_CHALLENGED {
            self.open.remove(0);
        }
        self.open.push((peer, now));
    }

    /// `peer` has registered: how long its answer took, if it was challenged.
    pub fn answered(&mut self, now: Instant, peer: Peer) -> Option<Duration> {
        let at = self.open.iter().position(|(other, _)| *other == peer)?;
        Some(now.saturating_since(self.open.remove(at).1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Challenged, MAX_CHALLENGED, Peer};
    use prismux_units::{Duration, Instant};

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn a_member_that_calls_again_before_its_answer_is_there_is_no_nearer() {
        let (mut challenged, far) = (Challenged::default(), Peer::gre([192, 0, 2, 1]));
        challenged.note(at(100), far);
        challenged.note(at(390), far);
        assert_eq!(challenged.answered(at(400), far), Some(Duration::from_millis(300)));
        assert_eq!(challenged.answered(at(690), far), None, "it is registered");
    }

    #[test]
    fn a_challenge_that_had_no_answer_long_ago_does_not_count() {
        let (mut challenged, peer) = (Challenged::default(), Peer::gre([192, 0, 2, 1]));
        challenged.note(at(0), peer);
        challenged.note(at(10_000), peer);
        assert_eq!(challenged.answered(at(10_020), peer), Some(Duration::from_millis(20)));
    }

    #[test]
    fn those_who_never_answer_take_no_more_room_than_there_is() {
        let (mut challenged, first) = (Challenged::default(), Peer::gre([192, 0, 2, 1]));
        challenged.note(at(0), first);
        for number in 0..2 * MAX_CHALLENGED {
            challenged.note(at(1), Peer::gre([198, 51, 100 + (number / 256) as u8, number as u8]));
        }
        assert_eq!(challenged.open.len(), MAX_CHALLENGED);
        assert_eq!(challenged.answered(at(2), first), None);
    }
}
