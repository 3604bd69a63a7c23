//! The lender's side: who has asked, and what the owner has said.
use super::message::{Answer, Ask, KEY_BYTES};
use crate::allowance::Allowance;
use crate::{Datagram, Transmit};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// Asks that are kept, and of these by one address: strangers cannot fill the desk without end.
const MAX_ASKS: usize = 16;
const MAX_ASKS_OF_ONE: usize = 2;
/// One that is not repeated is forgotten: undecided, and decided.
const UNDECIDED_FOR: Duration = Duration::from_secs(60);
const DECIDED_FOR: Duration = Duration::from_secs(600);
/// The same ask is answered no more often than this.
const ANSWER_EVERY: Duration = Duration::from_millis(500);

/// What becomes of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The owner has not decided.
    Waiting,
    /// The owner lends the uplink.
    Granted,
    /// The owner does not.
    Refused,
    /// Too many others ask.
    Full,
}

impl Verdict {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Waiting => 0,
            Self::Granted => 1,
            Self::Refused => 2,
            Self::Full => 3,
        }
    }

    pub(super) const fn of_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Waiting),
            1 => Some(Self::Granted),
            2 => Some(Self::Refused),
            3 => Some(Self::Full),
            _ => None,
        }
    }
}

/// An ask that lies on the desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What is asked for.
    pub ask: Ask,
    /// From where.
    pub from: IpAddr,
    /// What the owner has said.
    pub verdict: Verdict,
    heard_at: Instant,
    answer_at: Instant,
}

/// Takes asks, and answers with what the owner has decided. It decides nothing itself.
#[derive(Debug)]
pub struct Desk {
    name: String,
    key: [u8; KEY_BYTES],
    asks: Vec<Asked>,
    allowance: Allowance,
    ignored: u64,
    out: VecDeque<Transmit>,
    events: VecDeque<Asked>,
}

impl Desk {
    /// A desk of the lender with this name and public key.
    pub fn new(name: &str, key: [u8; KEY_BYTES]) -> Self {
        let (asks, out, events) = (Vec::new(), VecDeque::new(), VecDeque::new());
        Self { name: name.into(), key, asks, allowance: Allowance::full(), ignored: 0, out, events }
    }

    /// Datagrams that were no asks, and asks for which there was no room.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Who has asked lately, in the order in which they came.
    pub fn asks(&mut self, now: Instant) -> &[Asked] {
        self.forget(now);
        &self.asks
    }

    /// What the owner says to each ask of which `is_meant` is true; how many they were.
    pub fn decide(&mut self, now: Instant, is_granted: bool, is_meant: impl Fn(&Ask) -> bool) -> usize {
        self.forget(now);
        let mut count = 0;
        for asked in self.asks.iter_mut().filter(|asked| is_meant(&asked.ask)) {
            asked.verdict = if is_granted { Verdict::Granted } else { Verdict::Refused };
            // The next time that it is asked, whenever that is.
            asked.answer_at = now;
            count += 1;
        }
        count
    }

    fn forget(&mut self, now: Instant) {
        self.asks.retain(|asked| {
            let patience = if asked.verdict == Verdict::Waiting { UNDECIDED_FOR } else { DECIDED_FOR };
            now.saturating_since(asked.heard_at) < patience
        });
    }

    /// What is to be said to an ask, if anything.
    fn verdict(&mut self, now: Instant, ask: Ask, from: IpAddr) -> Option<Verdict> {
        self.forget(now);
        if let Some(asked) = self.asks.iter_mut().find(|asked| asked.from == from && asked.ask == ask) {
            asked.heard_at = now;
            let is_due = now >= asked.answer_at;
            if is_due {
                asked.answer_at = now + ANSWER_EVERY;
            }
            return is_due.then_some(asked.verdict);
        }
        let by_one = self.asks.iter().filter(|asked| asked.from == from).count();
        if self.asks.len() >= MAX_ASKS || by_one >= MAX_ASKS_OF_ONE {
            self.ignored += 1;
            return self.allowance.take(now).then_some(Verdict::Full);
        }
        let asked =
            Asked { ask, from, verdict: Verdict::Waiting, heard_at: now, answer_at: now + ANSWER_EVERY };
        self.asks.push(asked.clone());
        self.events.push_back(asked);
        Some(Verdict::Waiting)
    }

    fn answer(&mut self, to: SocketAddr, nonce: u64, verdict: Verdict) {
        let answer = Answer { nonce, verdict, key: self.key, name: self.name.clone() };
        if let Ok(bytes) = answer.emit() {
            self.out.push_back(Transmit { to, bytes });
        }
    }
}

impl Endpoint for Desk {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = Asked;

    fn handle_input(&mut self, now: Instant, input: Datagram<'_>) {
        let Ok((nonce, ask)) = Ask::parse(input.bytes) else {
            self.ignored += 1;
            return;
        };
        if let Some(verdict) = self.verdict(now, ask, input.from.ip()) {
            self.answer(input.from, nonce, verdict);
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.pop_front()
    }

    fn poll_event(&mut self) -> Option<Asked> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }
}

#[cfg(test)]
mod tests;
