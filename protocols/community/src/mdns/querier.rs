//! Who looks for services by one-shot queries (RFC 6762 section 5.1).
use super::message::{is_answer, parse};
use super::service::{Invalid, address, name_of_type};
use super::{Datagram, PORT, Transmit, group};
use crate::convergence::{Convergence, MAX_FOUND_AT_ONE};
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};
use simple_dns::rdata::{PTR, RData};
use simple_dns::{CLASS, Name, Packet, QCLASS, QTYPE, Question, ResourceRecord, TYPE};

/// How long the first answers are waited for, and twice as long each time after (section 5.2).
const RETRY: Duration = Duration::from_secs(1);

/// A service that was found, at the host that told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub at: SocketAddr,
    /// The name that people see.
    pub instance: String,
    /// Attributes: keys and values that are UTF-8.
    pub text: Vec<(String, String)>,
}

impl Found {
    /// The first attribute with this key, whatever the case (RFC 6763 section 6.4).
    pub fn attribute(&self, key: &str) -> Option<&str> {
        let is_meant = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(key);
        self.text.iter().find(is_meant).map(|(_, value)| value.as_str())
    }
}

/// Looks for services of one type.
#[derive(Debug)]
pub struct Querier {
    service_type: Name<'static>,
    group: SocketAddr,
    id: u16,
    query: Vec<u8>,
    convergence: Convergence<Found>,
    out: Option<Transmit>,
}

impl Querier {
    /// Asks the IPv6 group or the IPv4 group for `service_type`, as "_prismux._udp", from `now` on. `id`, by which
    /// answers are known, is to be one that nobody can guess.
    ///
    /// # Errors
    /// A type that does not fit a name.
    pub fn new(now: Instant, service_type: &str, is_ipv6: bool, id: u16) -> Result<Self, Invalid> {
        let service_type = name_of_type(service_type)?;
        // Nobody is named as known: a liar could name another's instance, which then would be silent.
        let mut packet = Packet::new_query(id);
        let (pointers, internet) = (QTYPE::TYPE(TYPE::PTR), QCLASS::CLASS(CLASS::IN));
        packet.questions.push(Question::new(service_type.clone(), pointers, internet, true));
        let query = packet.build_bytes_vec()?;
        Ok(Self {
            service_type,
            group: SocketAddr::new(group(is_ipv6), PORT),
            id,
            query,
            convergence: Convergence::new(now, RETRY),
            out: None,
        })
    }

    /// Whether all have been heard who will be.
    pub const fn has_ended(&self) -> bool {
        self.convergence.has_ended()
    }

    /// Datagrams that answered nothing that was asked, and services beyond what is told of.
    pub const fn ignored(&self) -> u64 {
        self.convergence.ignored()
    }

    /// Queries that have been sent.
    pub const fn queries(&self) -> u32 {
        self.convergence.requests()
    }

    /// Whether it was an answer.
    fn heard(&mut self, from: SocketAddr, packet: &Packet<'_>) -> bool {
        if !is_answer(packet) || packet.id() != self.id || self.has_ended() {
            return false;
        }
        // A host has few; a message with many is looked at for no longer.
        let instances: Vec<_> =
            packet.answers.iter().filter_map(|record| self.instance(record)).take(MAX_FOUND_AT_ONE).collect();
        let found: Vec<_> = instances.iter().filter_map(|instance| service(packet, from, instance)).collect();
        let is_answer = !found.is_empty();
        for found in found {
            if self.convergence.take(from.ip(), found) {
                self.convergence.note_news();
            }
        }
        is_answer
    }

    /// The instance of the wanted type that this record tells of, if it does.
    fn instance<'a>(&self, record: &'a ResourceRecord<'a>) -> Option<&'a Name<'a>> {
        let RData::PTR(PTR(instance)) = &record.rdata else { return None };
        let is_wanted = record.name == self.service_type && instance.is_subdomain_of(&self.service_type);
        // Without time left it says that the service has ended.
        (is_wanted && record.ttl > 0).then_some(instance)
    }
}

/// What a message says of an instance. A host speaks for itself alone: what it says of other addresses is no service.
fn service(packet: &Packet<'_>, from: SocketAddr, instance: &Name<'_>) -> Option<Found> {
    let records = || packet.answers.iter().chain(&packet.additional_records);
    let own = || records().filter(|record| record.name == *instance);
    let place = own().find_map(|record| match &record.rdata {
        RData::SRV(place) => Some(place),
        _ => None,
    })?;
    let mut addresses = records().filter(|record| record.name == place.target).filter_map(address);
    if place.port == 0 || !addresses.any(|address: IpAddr| address == from.ip()) {
        return None;
    }
    let attributes = own().find_map(|record| match &record.rdata {
        RData::TXT(text) => Some(text),
        _ => None,
    });
    let readable = |(key, value): (&[u8], Option<&[u8]>)| {
        let read = |bytes| core::str::from_utf8(bytes).ok().map(String::from);
        Some((read(key)?, read(value?)?))
    };
    let text = attributes.map(|text| text.iter_raw().filter_map(readable).collect()).unwrap_or_default();
    let label = instance.get_labels().first()?;
    let name = core::str::from_utf8(label.as_ref()).ok()?;
    // The scope of an address is this host's matter, and stays.
    let mut at = from;
    at.set_port(place.port);
    Some(Found { at, instance: name.into(), text })
}

impl Endpoint for Querier {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = Found;

    fn handle_input(&mut self, _now: Instant, input: Datagram<'_>) {
        let is_answer = parse(input.bytes).is_some_and(|packet| self.heard(input.from, &packet));
        if !is_answer {
            self.convergence.ignore();
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.convergence.is_due(now) {
            self.out = Some(Transmit { to: self.group, bytes: self.query.clone() });
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
