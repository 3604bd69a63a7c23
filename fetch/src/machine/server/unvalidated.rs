//! Hellos answered although nothing yet shows that their sender is at its address: a few at a time, so that a download
//! begins a round trip sooner. A flood from invented addresses gets cookies.
//!
//! Such an answer is shorter than three times the Hello, the limit of RFC 9000 section 8.1, and data follows only
//! what its receiver has sealed.
use crate::wire::ConnectionId;
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;

/// So many at a time.
const MAX_ANSWERED: usize = 64;
/// Each counts for at most this long.
const MAX_TIME: Duration = Duration::from_secs(3);

/// Who has been answered at an address not validated.
#[derive(Debug, Default)]
pub(super) struct Unvalidated {
    answered: VecDeque<(Instant, Option<ConnectionId>)>,
}

impl Unvalidated {
    /// Whether one more may be answered. `is_waiting` says whether a session's client has not been heard of yet.
    pub(super) fn has_room(&mut self, now: Instant, is_waiting: impl Fn(ConnectionId) -> bool) -> bool {
        while self.answered.front().is_some_and(|(at, _)| now.saturating_since(*at) > MAX_TIME) {
            self.answered.pop_front();
        }
        if self.answered.len() >= MAX_ANSWERED {
            self.answered.retain(|(_, session)| session.is_none_or(&is_waiting));
        }
        self.answered.len() < MAX_ANSWERED
    }

    /// One was answered, with a session or without.
    pub(super) fn add(&mut self, now: Instant, session: Option<ConnectionId>) {
        self.answered.push_back((now, session));
    }
}
