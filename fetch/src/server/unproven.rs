//! Hellos answered although nothing yet shows that their sender is at its address: a few at a time, so that a download
//! begins a round trip sooner. A flood from invented addresses gets cookies.
//!
//! Such an answer is shorter than three times the Hello, the limit of RFC 9000 section 8.1, and data follows only what its
//! receiver has sealed.
use crate::wire::ConnectionId;
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;

/// So many at a time, ...
const MOST: usize = 64;
/// ... each for at most this long.
const TIME: Duration = Duration::from_secs(3);

/// Who has been answered on trust.
#[derive(Debug, Default)]
pub(super) struct Unproven {
    answered: VecDeque<(Instant, Option<ConnectionId>)>,
}

impl Unproven {
    /// Whether one more may be answered. `is_waiting` says whether a session has not been heard yet.
    pub(super) fn has_room(&mut self, now: Instant, is_waiting: impl Fn(ConnectionId) -> bool) -> bool {
        while self.answered.front().is_some_and(|(at, _)| now.saturating_since(*at) > TIME) {
            self.answered.pop_front();
        }
        if self.answered.len() >= MOST {
            self.answered.retain(|(_, session)| session.is_none_or(&is_waiting));
        }
        self.answered.len() < MOST
    }

    /// One was answered, with a session or without.
    pub(super) fn note(&mut self, now: Instant, session: Option<ConnectionId>) {
        self.answered.push_back((now, session));
    }
}
