//! The agent of whoever offers services (RFC 2608, section 8.1).
use super::{
    Allowance, Body, DEFAULT_SCOPE, Datagram, MAX_BYTES, Malformed, Message, ServiceRequest, Transmit,
    UrlEntry, has,
};
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;

/// Asked for, any agent says that it is there.
const AGENT_TYPE: &str = "service:service-agent";

/// An error of section 7: signatures that this agent does not make.
const AUTHENTICATION_UNKNOWN: u16 = 5;
/// An error of section 7: no scope in common.
const SCOPE_NOT_SUPPORTED: u16 = 4;

/// What is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// As "service:member.prismux".
    pub service_type: String,
    /// Where it is.
    pub url: String,
    /// Seconds for which others may remember it.
    pub lifetime_s: u16,
}

/// Answers requests for its services.
#[derive(Debug)]
pub struct ServiceAgent {
    addresses: Vec<IpAddr>,
    services: Vec<Service>,
    out: VecDeque<Transmit>,
    allowance: Allowance,
    refused: u64,
}

impl ServiceAgent {
    /// An agent at these addresses of its host, the first of which it gives as its own, in the scope "DEFAULT".
    pub fn new(addresses: Vec<IpAddr>, services: Vec<Service>) -> Self {
        Self { addresses, services, out: VecDeque::new(), allowance: Allowance::full(), refused: 0 }
    }

    /// What is offered from now on.
    pub fn offer(&mut self, services: Vec<Service>) {
        self.services = services;
    }

    /// Datagrams that were no requests, or more than are answered.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    fn answer(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> Result<(), Malformed> {
        let message = Message::parse(bytes)?;
        let Body::ServiceRequest(request) = &message.body else { return Ok(()) };
        if self.has_answered(request) {
            return Ok(());
        }
        let Some(body) = self.body(request).filter(|body| !message.is_multicast || is_good_news(body)) else {
            return Ok(());
        };
        if !self.allowance.take(now) {
            self.refused += 1;
            return Ok(());
        }
        let answer = Message { number: message.number, is_multicast: false, has_overflowed: false, body };
        self.out.push_back(Transmit { to: from, bytes: answer.emit() });
        Ok(())
    }

    /// Whoever asks has heard this agent already.
    fn has_answered(&self, request: &ServiceRequest) -> bool {
        self.addresses.iter().any(|own| has(&request.previous_responders, &own.to_string()))
    }

    /// What there is to say; `None` for nothing.
    fn body(&self, request: &ServiceRequest) -> Option<Body> {
        let is_for_agents = request.service_type.eq_ignore_ascii_case(AGENT_TYPE);
        let error = |error| Some(Body::ServiceReply { error, entries: Vec::new() });
        if !request.security_index.is_empty() {
            return error(AUTHENTICATION_UNKNOWN);
        }
        // Agents may be asked for without a scope.
        let is_in_scope = has(&request.scopes, DEFAULT_SCOPE) || (is_for_agents && request.scopes.is_empty());
        if !is_in_scope {
            return error(SCOPE_NOT_SUPPORTED);
        }
        if is_for_agents {
            let url = alloc::format!("{AGENT_TYPE}://{}", self.addresses.first()?);
            return Some(Body::AgentAdvert { url, scopes: DEFAULT_SCOPE.to_string() });
        }
        // Services have no attributes, so none has those of a filter.
        let offered = self.services.iter().filter(|_| request.predicate.is_empty());
        let wanted = offered.filter(|service| is_a(&service.service_type, &request.service_type));
        let entry = |service: &Service| UrlEntry { lifetime_s: service.lifetime_s, url: service.url.clone() };
        Some(Body::ServiceReply { error: 0, entries: wanted.map(entry).collect() })
    }
}

/// A request to all is answered by those alone who have something to offer (section 8.1).
fn is_good_news(body: &Body) -> bool {
    match body {
        Body::ServiceReply { error, entries } => *error == 0 && !entries.is_empty(),
        _ => true,
    }
}

/// Whether a service is of the wanted type; "service:printer" are those of "service:printer:lpr" too (section 4.1).
fn is_a(own: &str, wanted: &str) -> bool {
    let is_equal = own.eq_ignore_ascii_case(wanted);
    is_equal
        || own.split_at_checked(wanted.len()).is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(wanted) && rest.starts_with(':') && !wanted.is_empty()
        })
}

impl Endpoint for ServiceAgent {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = core::convert::Infallible;

    fn handle_input(&mut self, now: Instant, input: Datagram<'_>) {
        let is_too_long = input.bytes.len() > MAX_BYTES;
        if is_too_long || self.answer(now, input.from, input.bytes).is_err() {
            self.refused += 1;
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.pop_front()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }
}

#[cfg(test)]
mod tests;
