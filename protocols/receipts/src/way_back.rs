//! Which way a member sends what receivers send: over its own link, or, while that is silent, through a neighbour that
//! still reaches the proxy.
//!
//! Receivers leave through one member, so that a download over several links stands still with the link of that one.
//! A member that knows others nearby asks its proxy for an answer when receivers send and nothing has come from the
//! proxy for a moment. While the proxy does not answer, a neighbour whose own link works takes the packets. A packet
//! that came from a neighbour is never handed on to another.
//!
//! Nothing is asked while packets come from the proxy, or while receivers send nothing. A member that the proxy does
//! not know is as one whose link is silent; its registration asks.
#[cfg(test)]
mod tests;

use crate::liveness::Liveness;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// With nothing from the proxy for so long while receivers send, it is asked.
const QUIET: Duration = Duration::from_millis(60);
/// Time between questions to a proxy that owes an answer: one may be lost.
const REPEAT: Duration = Duration::from_millis(50);
/// Time between questions to neighbours while they may be needed.
const NEIGHBOUR_INTERVAL: Duration = Duration::from_millis(200);
/// Neighbours are asked so long before an answer of the proxy is overdue: they are near.
const NEIGHBOUR_LEAD: Duration = Duration::from_millis(60);
/// A neighbour that has not answered for so long is not used.
const NEIGHBOUR_PATIENCE: Duration = Duration::from_millis(500);
/// So long after a receiver's last packet, questions go on.
const ACTIVE_FOR: Duration = Duration::from_secs(2);
/// So long after it a silence is forgotten: the next packet finds out anew.
const FORGET_AFTER: Duration = Duration::from_secs(10);
/// Questions whose time is remembered, for the round trip.
const MAX_ASKED: usize = 8;

/// A question that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// To the proxy: do packets pass?
    Proxy {
        /// Rises from question to question.
        number: u64,
    },
    /// To a neighbour: does the proxy answer you?
    Neighbour {
        /// Its index.
        index: usize,
        /// Rises from question to question.
        number: u64,
    },
}

/// What has become of the member's own link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayBackEvent {
    /// The proxy does not answer over it.
    Silent,
    /// It does again.
    Answers,
}

/// Which way a member's packets take. Neighbours have indices from 0, the preferred one first.
#[derive(Debug)]
pub struct WayBack {
    own: Liveness,
    is_registered: bool,
    /// When something last came from the proxy.
    heard_at: Instant,
    /// When a receiver last sent something, or a neighbour asked.
    used_at: Option<Instant>,
    /// When questions of late to the proxy were asked, by number.
    asked: VecDeque<(u64, Instant)>,
    next_question: Instant,
    neighbours: Vec<Neighbour>,
    next_round: Instant,
    /// The neighbour to be asked next in this round.
    place: usize,
    /// The number of the round.
    round: u64,
    events: VecDeque<WayBackEvent>,
}

/// A neighbour.
#[derive(Debug, Clone, Copy, Default)]
struct Neighbour {
    answered_at: Option<Instant>,
}

impl WayBack {
    /// For a member with so many neighbours, which the proxy knows. Its questions have numbers above `first`: an answer
    /// to those of an earlier life counts for nothing.
    pub fn new(neighbours: usize, first: u64) -> Self {
        Self {
            own: Liveness::by_probes(first),
            is_registered: true,
            heard_at: Instant::ZERO,
            used_at: None,
            asked: VecDeque::with_capacity(MAX_ASKED),
            next_question: Instant::ZERO,
            neighbours: vec![Neighbour::default(); neighbours],
            next_round: Instant::ZERO,
            place: neighbours,
            round: first,
            events: VecDeque::new(),
        }
    }

    /// Something came from the proxy.
    pub fn heard(&mut self, now: Instant) {
        self.heard_at = now;
        self.own.heard();
    }

    /// The round trip to the proxy, as otherwise known.
    pub fn measured(&mut self, rtt: Duration) {
        self.own.measured(rtt);
    }

    /// Packets for the proxy are about to be sent: whether, and through which neighbour.
    pub fn way(&mut self, now: Instant) -> Option<usize> {
        self.note_use(now);
        if !self.own.is_silent() {
            return None;
        }
        let answers = |neighbour: &Neighbour| {
            neighbour.answered_at.is_some_and(|at| now.saturating_since(at) <= NEIGHBOUR_PATIENCE)
        };
        self.neighbours.iter().position(answers)
    }

    /// A neighbour asks: whether the proxy answers this member. It finds out if nothing tells.
    pub fn asked(&mut self, now: Instant) -> bool {
        self.note_use(now);
        !self.own.is_silent()
    }

    fn note_use(&mut self, now: Instant) {
        if !self.is_active_at(now) {
            // What was heard before the quiet time says nothing, and nothing was owed in it.
            self.heard_at = now;
        }
        self.used_at = Some(now);
    }

    /// Whether a question is worth it that is due at `at`.
    fn is_active_at(&self, at: Instant) -> bool {
        self.used_at.is_some_and(|used_at| at.saturating_since(used_at) <= ACTIVE_FOR)
    }

    /// The proxy has answered a question.
    pub fn answered(&mut self, now: Instant, number: u64) {
        if let Some((_, at)) = self.asked.iter().find(|(asked, _)| *asked == number) {
            self.own.measured(now.saturating_since(*at));
        }
        self.heard(now);
        if self.own.answered(number) {
            self.events.push_back(WayBackEvent::Answers);
        }
    }

    /// The proxy does not know this member, or not any more.
    pub fn unregistered(&mut self, now: Instant) {
        self.is_registered = false;
        if self.own.fall_silent(now) {
            self.events.push_back(WayBackEvent::Silent);
        }
    }

    /// The proxy has registered this member anew: it answers.
    pub fn registered(&mut self, now: Instant) {
        self.is_registered = true;
        self.heard(now);
        if self.own.is_silent() {
            self.own.end_silence();
            self.events.push_back(WayBackEvent::Answers);
        }
    }

    /// A neighbour has answered the question with this number: the proxy answers it. Only the latest counts.
    pub fn neighbour_answered(&mut self, now: Instant, index: usize, number: u64) {
        if let Some(neighbour) = self.neighbours.get_mut(index).filter(|_| number == self.round) {
            neighbour.answered_at = Some(now);
        }
    }

    /// Whether the proxy does not answer over the member's own link.
    pub fn is_silent(&self) -> bool {
        self.own.is_silent()
    }

    /// The next question that is due; the link is silent if an answer is overdue.
    pub fn poll_question(&mut self, now: Instant) -> Option<Question> {
        if self.own.is_overdue(now) && self.own.fall_silent(now) {
            self.events.push_back(WayBackEvent::Silent);
        }
        self.poll_proxy(now).or_else(|| self.poll_neighbour(now))
    }

    fn poll_proxy(&mut self, now: Instant) -> Option<Question> {
        if !self.is_registered {
            return None;
        }
        if self.own.is_silent() {
            if self.used_at.is_none_or(|at| now.saturating_since(at) > FORGET_AFTER) {
                self.own.end_silence();
                return None;
            }
            let number = self.own.poll_probe(now)?;
            return Some(self.ask(now, number));
        }
        self.question_at().filter(|at| *at <= now)?;
        self.next_question = now + REPEAT;
        self.own.sent(now);
        let number = self.own.next_number();
        Some(self.ask(now, number))
    }

    fn ask(&mut self, now: Instant, number: u64) -> Question {
        if self.asked.len() == MAX_ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back((number, now));
        Question::Proxy { number }
    }

    /// When the proxy is to be asked again, while receivers send and its link is not silent.
    fn question_at(&self) -> Option<Instant> {
        let at = (self.heard_at + QUIET).max(self.next_question);
        (!self.own.is_silent() && self.is_active_at(at)).then_some(at)
    }

    /// Neighbours are asked in rounds, while they may be needed.
    fn poll_neighbour(&mut self, now: Instant) -> Option<Question> {
        if self.place == self.neighbours.len() {
            self.round_at().filter(|at| *at <= now)?;
            (self.place, self.round) = (0, self.round.wrapping_add(1));
            self.next_round = now + NEIGHBOUR_INTERVAL;
        }
        let index = self.place;
        self.place += 1;
        (index < self.neighbours.len()).then_some(Question::Neighbour { index, number: self.round })
    }

    fn round_at(&self) -> Option<Instant> {
        let needed_at = match self.own.is_silent() {
            true => Instant::ZERO,
            false => Instant::ZERO + self.own.overdue_at()?.saturating_since(Instant::ZERO + NEIGHBOUR_LEAD),
        };
        let at = self.next_round.max(needed_at);
        self.is_active_at(at).then_some(at)
    }

    /// What has become of the link.
    pub fn poll_event(&mut self) -> Option<WayBackEvent> {
        self.events.pop_front()
    }

    /// When [`WayBack::poll_question`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let probe = self.own.deadline().filter(|_| self.own.is_silent() && self.is_registered);
        [self.question_at(), probe, self.own.overdue_at(), self.round_at()].into_iter().flatten().min()
    }
}
