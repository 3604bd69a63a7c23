//! Who offers a service on one link, by one family of addresses (RFC 6762 sections 6, 8 and 10).
use super::message::{answer, emit, is_query, parse};
use super::service::{Invalid, Records, Service};
use super::{Allowance, Datagram, PORT, Transmit, group};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};
use simple_dns::{Packet, Question, ResourceRecord};

/// Seconds for which one who knows nothing of multicast DNS may remember an answer (section 6.7).
const LEGACY_TTL_S: u32 = 10;
/// A service is told of unasked so often, at this distance (section 8.3).
const ANNOUNCEMENTS: u8 = 2;
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// Nothing is said to all more often than this (section 6).
const MULTICAST_EVERY: Duration = Duration::from_secs(1);
/// Answers to all wait for 20 to 120 ms, lest all that have one send it at once (section 6).
const LEAST_DELAY_MS: u64 = 20;
const DELAYS_MS: u64 = 101;

/// Answers queries for one service.
#[derive(Debug)]
pub struct Responder {
    records: Records,
    group: SocketAddr,
    /// Announcements to come, and when the next is due.
    announcements: u8,
    announce_at: Instant,
    delay: Duration,
    /// When all are told what somebody has asked for.
    answer_at: Option<Instant>,
    /// Of that answer: somebody has asked for types of services.
    is_browsed: bool,
    told_all_at: Option<Instant>,
    out: VecDeque<Transmit>,
    allowance: Allowance,
    refused: u64,
}

/// Which records somebody asks for.
struct Asked<'a> {
    answers: Vec<&'a ResourceRecord<'static>>,
    is_browsed: bool,
}

impl Responder {
    /// Tells of `service` from `now` on, to the IPv6 group or the IPv4 group.
    ///
    /// # Errors
    /// Names or attributes that do not fit records.
    pub fn new(now: Instant, service: &Service, is_ipv6: bool) -> Result<Self, Invalid> {
        let records = service.records()?;
        // Another one for each instance, without dice.
        let spread: u64 = service.instance.bytes().map(u64::from).sum();
        Ok(Self {
            records,
            group: SocketAddr::new(group(is_ipv6), PORT),
            announcements: ANNOUNCEMENTS,
            announce_at: now,
            delay: Duration::from_millis(LEAST_DELAY_MS + spread % DELAYS_MS),
            answer_at: None,
            is_browsed: false,
            told_all_at: None,
            out: VecDeque::new(),
            allowance: Allowance::full(),
            refused: 0,
        })
    }

    /// Datagrams that were no messages, or more than are answered.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Says that the service ends: nobody is to remember it (section 10.1). Nothing is said after that.
    pub fn end(&mut self) {
        (self.announcements, self.answer_at) = (0, None);
        let forgotten = |record: &ResourceRecord<'static>| ResourceRecord { ttl: 0, ..record.clone() };
        let answers = self.records.service.iter().map(forgotten).collect();
        self.tell_all(answers);
    }

    fn tell_all(&mut self, answers: Vec<ResourceRecord<'_>>) {
        let mut packet = answer(0);
        packet.answers = answers;
        self.out.extend(emit(&packet).map(|bytes| Transmit { to: self.group, bytes }));
    }

    fn asked(&mut self, now: Instant, from: SocketAddr, packet: &Packet<'_>) {
        let Some(asked) = self.records.asked(packet) else { return };
        // A resolver that does not listen to the group, as a one-shot query's (section 6.7).
        let is_legacy = from.port() != PORT;
        let is_for_one = is_legacy || packet.questions.iter().all(|question| question.unicast_response);
        if is_for_one {
            let bytes = self.records.answer(packet, &asked, is_legacy);
            if !self.allowance.take(now) {
                self.refused += 1;
                return;
            }
            self.out.extend(bytes.map(|bytes| Transmit { to: from, bytes }));
            return;
        }
        self.is_browsed |= asked.is_browsed;
        let earliest = self.told_all_at.map_or(now, |at| at + MULTICAST_EVERY);
        self.answer_at.get_or_insert((now + self.delay).max(earliest));
    }
}

impl Records {
    /// What is asked for and not known yet; `None` for nothing.
    fn asked(&self, packet: &Packet<'_>) -> Option<Asked<'_>> {
        let is_of = |question: &Question<'_>, record: &ResourceRecord<'_>| {
            question.qname == record.name
                && record.match_qtype(question.qtype)
                && record.match_qclass(question.qclass)
        };
        let is_asked = |record: &&ResourceRecord<'static>| {
            // Who remembers it for half its time and longer need not be told (section 7.1).
            let is_known = |known: &ResourceRecord<'_>| {
                known.name == record.name && known.rdata == record.rdata && known.ttl >= record.ttl / 2
            };
            packet.questions.iter().any(|question| is_of(question, record))
                && !packet.answers.iter().any(is_known)
        };
        let answers: Vec<_> = self.all().filter(is_asked).collect();
        let is_browsed = answers.iter().any(|record| record.name == self.browse.name);
        (!answers.is_empty()).then_some(Asked { answers, is_browsed })
    }

    fn all(&self) -> impl Iterator<Item = &ResourceRecord<'static>> {
        core::iter::once(&self.browse).chain(&self.service)
    }

    /// An answer to one alone, with what it would ask for next (RFC 6763 section 12).
    fn answer(&self, query: &Packet<'_>, asked: &Asked<'_>, is_legacy: bool) -> Option<Vec<u8>> {
        let id = if is_legacy { query.id() } else { 0 };
        let mut packet = answer(id);
        let as_told = |record: &ResourceRecord<'static>| {
            let mut record = record.clone();
            if is_legacy {
                // It would take the bit for a part of the class.
                record.cache_flush = false;
                record.ttl = record.ttl.min(LEGACY_TTL_S);
            }
            record
        };
        if is_legacy {
            packet.questions = query.questions.clone();
            packet.questions.iter_mut().for_each(|question| question.unicast_response = false);
        }
        packet.answers = asked.answers.iter().map(|record| as_told(record)).collect();
        let others = self.service.iter().filter(|record| !asked.answers.contains(record));
        packet.additional_records = others.map(as_told).collect();
        emit(&packet)
    }
}

impl Endpoint for Responder {
    type Input<'a> = Datagram<'a>;
    type Transmit = Transmit;
    type Event = core::convert::Infallible;

    fn handle_input(&mut self, now: Instant, input: Datagram<'_>) {
        match parse(input.bytes) {
            Some(packet) if is_query(&packet) => self.asked(now, input.from, &packet),
            // What others answer is their matter.
            Some(_) => {}
            None => self.refused += 1,
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let is_announced = self.announcements > 0 && now >= self.announce_at;
        let is_asked = self.answer_at.is_some_and(|at| now >= at);
        if !is_announced && !is_asked {
            return;
        }
        if is_announced {
            self.announcements -= 1;
            self.announce_at = now + ANNOUNCE_EVERY;
        }
        let mut answers = self.records.service.clone();
        if core::mem::take(&mut self.is_browsed) {
            answers.push(self.records.browse.clone());
        }
        self.answer_at = None;
        self.told_all_at = Some(now);
        self.tell_all(answers);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.out.pop_front()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let announce =
            (self.announcements > 0).then_some(Deadline { at: self.announce_at, why: "announcement" });
        let answer = self.answer_at.map(|at| Deadline { at, why: "multicast-answer" });
        announce.into_iter().chain(answer).min_by_key(|deadline| deadline.at)
    }
}

#[cfg(test)]
mod tests;
