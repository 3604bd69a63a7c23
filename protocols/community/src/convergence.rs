//! Asking all on a link again and again until nobody new answers, as RFC 2608 (section 6.3) calls it: multicast
//! convergence. RFC 6762 (section 5.2) spaces its queries alike.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::IpAddr;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// How long all of it takes at most: `CONFIG_MC_MAX` of RFC 2608, section 13.
const LONGEST: Duration = Duration::from_secs(15);
/// What is told of, at most: whoever answers without end is not listened to without end.
pub(crate) const MAX_FOUND: usize = 256;
/// Of this, by one host: others find room beside one that answers without end.
pub(crate) const MAX_FOUND_AT_ONE: usize = 8;
/// Requests in a row to which nobody new answers, before nobody is expected to: one may have been lost.
const ENOUGH_SILENCES: u32 = 2;

/// When all are asked, and what was found, each once.
#[derive(Debug)]
pub(crate) struct Convergence<F> {
    found: Vec<(IpAddr, F)>,
    events: VecDeque<F>,
    ignored: u64,
    /// Somebody new has answered since the last request.
    has_news: bool,
    requests: u32,
    /// Requests in a row to which nobody new has answered.
    silences: u32,
    wait: Duration,
    /// When all are asked again; `None` when it has ended.
    ask_at: Option<Instant>,
    ends_at: Instant,
}

impl<F: Clone + PartialEq> Convergence<F> {
    /// Asks from `now` on; the first answers are waited for as long as `retry`, and twice as long each time after.
    pub(crate) fn new(now: Instant, retry: Duration) -> Self {
        Self {
            found: Vec::new(),
            events: VecDeque::new(),
            ignored: 0,
            has_news: true,
            requests: 0,
            silences: 0,
            wait: retry,
            ask_at: Some(now),
            ends_at: now + LONGEST,
        }
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.ask_at.is_none()
    }

    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    /// What was no answer, and what was found beyond what is told of.
    pub(crate) const fn ignored(&self) -> u64 {
        self.ignored
    }

    pub(crate) const fn ignore(&mut self) {
        self.ignored += 1;
    }

    /// Somebody new has answered.
    pub(crate) const fn note_news(&mut self) {
        self.has_news = true;
    }

    /// Something was found at `host`; says whether it is told of.
    pub(crate) fn take(&mut self, host: IpAddr, found: F) -> bool {
        if self.found.iter().any(|(_, known)| *known == found) {
            return false;
        }
        let at_one = self.found.iter().filter(|(other, _)| *other == host).count();
        if self.found.len() >= MAX_FOUND || at_one >= MAX_FOUND_AT_ONE {
            self.ignored += 1;
            return false;
        }
        self.found.push((host, found.clone()));
        self.events.push_back(found);
        true
    }

    /// Whether all are to be asked now; otherwise it is too early, or it has ended.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if self.ask_at.is_none_or(|at| now < at) {
            return false;
        }
        self.silences = if self.has_news { 0 } else { self.silences + 1 };
        if self.silences >= ENOUGH_SILENCES || now >= self.ends_at {
            self.ask_at = None;
            return false;
        }
        self.requests += 1;
        self.has_news = false;
        self.ask_at = Some((now + self.wait).min(self.ends_at));
        self.wait = self.wait + self.wait;
        true
    }

    pub(crate) fn poll_event(&mut self) -> Option<F> {
        self.events.pop_front()
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.ask_at.map(|at| Deadline { at, why: "multicast-retry" })
    }
}
