//! The agent of whoever looks for services: multicast convergence (RFC 2608, section 6.3).
use super::{Body, DEFAULT_SCOPE, Datagram, GROUP, MAX_BYTES, Message, PORT, ServiceRequest, Transmit};
use crate::convergence::Convergence;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// `CONFIG_RETRY` of section 13: how long the first answers are waited for, and twice as long each time after.
const RETRY: Duration = Duration::from_secs(2);
/// Hosts that a request names as heard: so many fit, whatever their addresses.
const MAX_RESPONDERS: usize = 64;
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
    convergence: Convergence<Found>,
    out: Option<Transmit>,
}

impl UserAgent {
    /// Asks for `service_type` from `now` on. `number`, by which answers are known, is to be one that nobody can guess.
    pub fn new(now: Instant, service_type: &str, number: u16) -> Self {
        Self {
            service_type: service_type.to_string(),
            number,
            responders: Vec::new(),
            convergence: Convergence::new(now, RETRY),
            out: None,
        }
    }

    /// Whether all have been heard who will be.
    pub const fn has_ended(&self) -> bool {
        self.convergence.has_ended()
    }

    /// Datagrams that answered nothing that was asked, and services beyond what is told of.
    pub const fn ignored(&self) -> u64 {
        self.convergence.ignored()
    }

    /// Requests that have been sent.
    pub const fn requests(&self) -> u32 {
        self.convergence.requests()
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
            self.convergence.note_news();
        }
        for entry in entries {
            self.convergence.take(from.ip(), Found { from, url: entry.url, lifetime_s: entry.lifetime_s });
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
        if !is_answer {
            self.convergence.ignore();
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.convergence.is_due(now) {
            self.out = Some(Transmit { to: SocketAddr::new(GROUP.into(), PORT), bytes: self.request() });
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.take()
    }

    fn poll_event(&mut self) -> Option<Found> {
        self.convergence.poll_event()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.convergence.deadline()
    }
}

#[cfg(test)]
mod tests;
