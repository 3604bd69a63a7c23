//! The asker's side: it asks again until the lender's owner has decided.
use super::desk::Verdict;
use super::message::{Answer, Ask, KEY_BYTES, Malformed};
use crate::{Datagram, Transmit};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// How often it asks: slower than a desk answers, and often enough that a lost datagram costs little.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// What the lender has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What its owner has decided; [`Verdict::Granted`] and [`Verdict::Refused`] are final.
    pub verdict: Verdict,
    /// The lender's name.
    pub name: String,
}

/// Asks one lender, whose key it knows.
#[derive(Debug)]
pub struct Asker {
    lender: SocketAddr,
    key: [u8; KEY_BYTES],
    nonce: u64,
    request: Vec<u8>,
    last: Option<Verdict>,
    ignored: u64,
    ask_at: Option<Instant>,
    out: Option<Transmit>,
    events: VecDeque<Outcome>,
}

impl Asker {
    /// Asks the lender with this key from `now` on. `nonce` is to be one that nobody can guess.
    ///
    /// # Errors
    /// An ask that makes no sense.
    pub fn new(
        now: Instant,
        lender: (SocketAddr, [u8; KEY_BYTES]),
        ask: &Ask,
        nonce: u64,
    ) -> Result<Self, Malformed> {
        let ((lender, key), request, events) = (lender, ask.emit(nonce)?, VecDeque::new());
        Ok(Self { lender, key, nonce, request, last: None, ignored: 0, ask_at: Some(now), out: None, events })
    }

    /// Datagrams that were no answers of this lender.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Whether the lender's owner has decided.
    pub const fn has_ended(&self) -> bool {
        self.ask_at.is_none()
    }

    fn heard(&mut self, input: Datagram<'_>) -> Option<()> {
        let answer = Answer::parse(input.bytes).ok()?;
        let is_the_lenders = (input.from, answer.nonce, answer.key) == (self.lender, self.nonce, self.key);
        if !is_the_lenders || self.has_ended() {
            return None;
        }
        if self.last.replace(answer.verdict) != Some(answer.verdict) {
            self.events.push_back(Outcome { verdict: answer.verdict, name: answer.name });
        }
        if matches!(answer.verdict, Verdict::Granted | Verdict::Refused) {
            self.ask_at = None;
        }
        Some(())
    }
}

impl Endpoint for Asker {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = Outcome;

    fn handle_input(&mut self, _now: Instant, input: Datagram<'_>) {
        self.ignored += u64::from(self.heard(input).is_none());
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.ask_at.is_some_and(|at| now >= at) {
            self.ask_at = Some(now + ASK_EVERY);
            self.out = Some(Transmit { to: self.lender, bytes: self.request.clone() });
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.take()
    }

    fn poll_event(&mut self) -> Option<Outcome> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.ask_at.map(|at| Deadline { at, why: "ask-again" })
    }
}

#[cfg(test)]
mod tests;
