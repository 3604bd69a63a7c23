//! The agent of whoever looks for services: multicast convergence (RFC 2608, section 6.3).
use super::{Body, DEFAULT_SCOPE, Datagram, GROUP, MAX_BYTES, Message, PORT, ServiceRequest, Transmit};
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// `CONFIG_RETRY` of section 13: how long the first answers are waited for, and twice as long each time after.
const RETRY: Duration = Duration::from_secs(2);
/// `CONFIG_MC_MAX`: how long all of it takes at most.
const LONGEST: Duration = Duration::from_secs(15);
/// Services that are told of, at most: whoever answers without end is not listened to without end.
const MAX_FOUND: usize = 256;
/// Of these, by one host: others find room beside one that answers without end.
const MAX_FOUND_AT_ONE: usize = 8;
/// Hosts that a request names as heard: so many fit, whatever their addresses.
const MAX_RESPONDERS: usize = 64;
/// Requests in a row to which nobody new answers, before nobody is expected to: one may have been lost.
const ENOUGH_SILENCES: u32 = 2;

/// A service that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Who told of it.
    pub from: SocketAddr,
    /// Where it is.
    pub url: String,
    /// Seconds for which it may be remembered.
    pub lifetime_s: u16,
}

/// Looks for services of one type.
#[derive(Debug)]
pub struct UserAgent {
    service_type: String,
    number: u16,
    responders: Vec<IpAddr>,
    found: Vec<Found>,
    ignored: u64,
    events: VecDeque<Found>,
    out: Option<Transmit>,
    /// Somebody new has answered since the last request.
    has_news: bool,
    requests: u32,
    /// Requests in a row to which nobody new has answered.
    silences: u32,
    wait: Duration,
    /// When it asks again; `None` when it has ended.
    ask_at: Option<Instant>,
    ends_at: Instant,
}

impl UserAgent {
    /// Asks for `service_type` from `now` on. `number`, by which answers are known, is to be one that nobody can guess.
    pub fn new(now: Instant, service_type: &str, number: u16) -> Self {
        Self {
            service_type: service_type.to_string(),
            number,
            responders: Vec::new(),
            found: Vec::new(),
            ignored: 0,
            events: VecDeque::new(),
            out: None,
            has_news: true,
            requests: 0,
            silences: 0,
            wait: RETRY,
            ask_at: Some(now),
            ends_at: now + LONGEST,
        }
    }

    /// Whether all have been heard who will be.
    pub const fn has_ended(&self) -> bool {
        self.ask_at.is_none()
    }

    /// Datagrams that answered nothing that was asked, and services beyond what is told of.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Requests that have been sent.
    pub const fn requests(&self) -> u32 {
        self.requests
    }

    /// The request, with those who need not answer again.
    fn request(&self) -> Vec<u8> {
        let responders: Vec<String> = self.responders.iter().map(ToString::to_string).collect();
        let request = ServiceRequest {
            previous_responders: responders.join(","),
            service_type: self.service_type.clone(),
            scopes: DEFAULT_SCOPE.to_string(),
            ..ServiceRequest::default()
        };
        let body = Body::ServiceRequest(request);
        Message { number: self.number, is_multicast: true, has_overflowed: false, body }.emit()
    }

    /// Whether it was an answer.
    fn heard(&mut self, from: SocketAddr, message: Message) -> bool {
        let Body::ServiceReply { error: 0, entries } = message.body else { return false };
        if message.number != self.number || self.has_ended() {
            return false;
        }
        if !self.responders.contains(&from.ip()) && self.responders.len() < MAX_RESPONDERS {
            self.responders.push(from.ip());
            self.has_news = true;
        }
        for entry in entries {
            let found = Found { from, url: entry.url, lifetime_s: entry.lifetime_s };
            if self.found.contains(&found) {
                continue;
            }
            let at_one = self.found.iter().filter(|other| other.from.ip() == from.ip()).count();
            if self.found.len() >= MAX_FOUND || at_one >= MAX_FOUND_AT_ONE {
                self.ignored += 1;
                continue;
            }
            self.found.push(found.clone());
            self.events.push_back(found);
        }
        true
    }
}

impl Endpoint for UserAgent {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = Found;

    fn handle_input(&mut self, _now: Instant, input: Datagram<'_>) {
        let is_answer = input.bytes.len() <= MAX_BYTES
            && Message::parse(input.bytes).is_ok_and(|message| self.heard(input.from, message));
        self.ignored += u64::from(!is_answer);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.ask_at.is_none_or(|at| now < at) {
            return;
        }
        self.silences = if self.has_news { 0 } else { self.silences + 1 };
        if self.silences >= ENOUGH_SILENCES || now >= self.ends_at {
            self.ask_at = None;
            return;
        }
        self.out = Some(Transmit { to: SocketAddr::new(GROUP.into(), PORT), bytes: self.request() });
        self.requests += 1;
        self.has_news = false;
        self.ask_at = Some((now + self.wait).min(self.ends_at));
        self.wait = self.wait + self.wait;
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.take()
    }

    fn poll_event(&mut self) -> Option<Found> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.ask_at.map(|at| Deadline { at, why: "multicast-retry" })
    }
}

#[cfg(test)]
mod tests;
