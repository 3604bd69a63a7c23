//! What follows from what has come: the object is known, paths are lost or refused, the object is complete.
use super::carrier::{Carrier, CarrierEvent};
use super::event::{DownloadError, DownloadEvent, PathLoss, Rejection};
use super::path::{Path, State};
use super::ptcp::Ptcp;
use super::r2cp::R2cp;
use super::{Download, Transport};
use crate::channel::KIND_BYTES;
use crate::handshake::{Identity, Refusal};
use prismux_endpoint::Endpoint;
use prismux_sealed::Entropy;
use prismux_units::Instant;

/// Servers that do nothing but prepare the object are waited for this many times as long as silent ones.
const PREPARING_TIMEOUTS: u64 = 10;

impl Download {
    /// Path `index` has learnt from its server what the object is. True if it is what all others have.
    pub(super) fn compare(&mut self, now: Instant, index: usize, identity: Identity) -> bool {
        if let Some(problem) = self.problem_of(identity) {
            self.refuse(now, index, problem);
            if let Rejection::OtherServers { found, known } = problem {
                self.contradicted(now, index, (found, known));
            }
            return false;
        }
        if self.identity.is_none() {
            self.begin(now, identity);
            self.believed = Some(self.paths[index].spec.key);
        }
        true
    }

    /// Of two servers one is wrong. Which, a digest would tell; the quicker one is not the more honest.
    fn contradicted(&mut self, now: Instant, index: usize, (found, known): (Identity, Identity)) {
        let Path { spec, .. } = &self.paths[index];
        // A server whose file has changed meanwhile contradicts nobody else.
        if self.config.digest.is_none() && self.believed != Some(spec.key) {
            self.fail(now, DownloadError::Contradiction { server: spec.address, found, known });
        }
    }

    /// Why an object is not the one to be fetched.
    fn problem_of(&self, found: Identity) -> Option<Rejection> {
        let (digest, limit) = (self.config.digest, self.config.max_size.map(|limit| limit.as_u64()));
        match (self.identity, &self.config.resume) {
            (Some(known), _) if known != found => Some(Rejection::OtherServers { found, known }),
            (None, Some((known, _))) if *known != found => {
                Some(Rejection::PartialFile { found, known: *known })
            }
            _ => digest
                .filter(|&wanted| wanted != found.digest)
                .map(|wanted| Rejection::Digest { found: found.digest, wanted })
                .or_else(|| {
                    let limit = limit.filter(|&limit| found.size > limit)?;
                    Some(Rejection::TooLarge { found: found.size, limit })
                }),
        }
    }

    /// The object is known: the connection begins.
    fn begin(&mut self, now: Instant, identity: Identity) {
        let (carrier, held) = match self.config.transport {
            Transport::R2cp => {
                let (carrier, held) = R2cp::begin(now, identity.size, &self.config);
                (Carrier::R2cp(Box::new(carrier)), held)
            }
            Transport::Ptcp => {
                let entropy = Entropy::from_seed(self.entropy.bytes());
                let (carrier, held) = Ptcp::begin(identity.size, &self.config, entropy);
                (Carrier::Ptcp(Box::new(carrier)), held)
            }
        };
        (self.carrier, self.held) = (Some(carrier), held);
        self.identity = Some(identity);
        self.events.push_back(DownloadEvent::Identified(identity));
    }

    /// The path's server refuses. A server that is busy, or cannot read the object now, is asked again later.
    pub(super) fn handle_refusal(&mut self, now: Instant, index: usize, why: Refusal) {
        match why {
            Refusal::Busy | Refusal::Unreadable => self.paths[index].wait_for_place(now, why),
            Refusal::NotFound | Refusal::Malformed => self.refuse(now, index, Rejection::Server(why)),
        }
    }

    /// The path's server prepares the object: that is no silence, but not waited for without end.
    pub(super) fn handle_preparing(&mut self, now: Instant, index: usize) {
        self.paths[index].wait_for_server(now);
        let since = *self.preparing_since.get_or_insert(now);
        if now.saturating_since(since) < self.config.give_up_after * PREPARING_TIMEOUTS {
            self.progress_at = now;
        }
    }

    pub(super) fn refuse(&mut self, now: Instant, index: usize, why: Rejection) {
        self.leave(now, index);
        self.paths[index].state = State::Refused(why);
        self.events.push_back(DownloadEvent::Refused(index, why));
        if self.paths.iter().all(Path::is_refused) {
            self.fail(now, DownloadError::NoServer { paths: self.path_ends() });
        }
    }

    /// The path's session is over; it will be opened again.
    pub(super) fn lose(&mut self, now: Instant, index: usize, why: PathLoss) {
        if self.paths[index].is_leaving {
            return self.closed(now, index);
        }
        let was_open = self.paths[index].is_open();
        self.leave(now, index);
        self.paths[index].wait(now);
        if was_open && self.ended_at.is_none() {
            self.events.push_back(DownloadEvent::Lost(index, why));
        }
    }

    /// What the path's pipe owes comes over others.
    pub(super) fn leave(&mut self, now: Instant, index: usize) {
        let (true, Some(carrier)) = (self.paths[index].is_open(), &mut self.carrier) else { return };
        self.paths[index].past = self.paths[index].past.plus(&carrier.carried(index));
        self.paths[index].state = State::Down;
        carrier.drop_path(now, index);
    }

    /// Takes note of what happened to the connection and its paths; what has to be sent for it leaves with the next
    /// transmits.
    pub(super) fn drain_carrier(&mut self, now: Instant) {
        while let Some(event) = self.carrier.as_mut().and_then(Endpoint::poll_event) {
            match event {
                CarrierEvent::Accepted { offset, part } => {
                    (self.progress_at, self.preparing_since) = (now, None);
                    let in_order = self.carrier.as_ref().map_or(0, Carrier::in_order_bytes);
                    self.delivery.reached(now, in_order);
                    let part = KIND_BYTES + part.start..KIND_BYTES + part.end;
                    self.events.push_back(DownloadEvent::Received { offset, part });
                }
                CarrierEvent::Malformed => self.counters.malformed += 1,
                CarrierEvent::Opened(index) => {
                    self.paths[index].opened();
                    self.events.push_back(DownloadEvent::Opened(index));
                }
                CarrierEvent::Lost(index, why) => self.lose(now, index, why),
                CarrierEvent::Closed(index) if self.paths[index].is_leaving => self.closed(now, index),
                // All pipes close when the object is complete.
                CarrierEvent::Closed(_) => {}
                CarrierEvent::OtherEnd(index) => self.refuse(now, index, Rejection::OtherEnd),
                CarrierEvent::Complete => {
                    self.ended_at.get_or_insert(now);
                    self.events.push_back(DownloadEvent::Complete);
                }
            }
        }
    }
}
