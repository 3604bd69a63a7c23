//! Retries, new keys and signs of life.
use super::Sessions;
use crate::events::{SessionEvent, Transmit};
use crate::peer::PeerId;
use core::net::SocketAddr;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;

/// A new address that has not answered so many times is none.
const MAX_PROBES: u32 = 3;

impl Sessions {
    fn expire(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        let is_past = |since: Option<Instant>, after| since.is_some_and(|since| since + after <= now);
        let is_silent = is_past(peer.unanswered_since, self.limits.no_answer_after());
        let owes_sign = is_past(peer.unsaid_since, self.limits.keepalive_after);
        if is_silent {
            peer.unanswered_since = None;
        }
        if owes_sign {
            peer.unsaid_since = None;
        }
        if peer.forget_old_keys(now, &self.limits) {
            self.rename(id);
        }
        if is_silent {
            self.call(now, id);
        }
        if owes_sign {
            self.say_alive(now, id);
        }
        self.retry(now, id);
    }

    fn retry(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        let Some(pending) = peer.pending.as_ref().filter(|pending| pending.retry_at <= now) else { return };
        let (began, tries, to) = (pending.began, pending.tries, pending.to);
        let is_lost = now.saturating_since(began) >= self.limits.handshake_give_up;
        if is_lost || (peer.candidate.is_some() && tries >= MAX_PROBES) {
            peer.pending = None;
            peer.candidate = None;
            self.rename(id);
        } else {
            let to = next_place(peer.address, peer.candidate, to);
            self.initiate(now, id, to, (began, tries));
        }
    }
}

/// Where a handshake is tried next: the known address and the new one in turn.
fn next_place(address: Option<SocketAddr>, candidate: Option<SocketAddr>, last: SocketAddr) -> SocketAddr {
    match (address, candidate) {
        (Some(address), Some(candidate)) => {
            if last == candidate {
                address
            } else {
                candidate
            }
        }
        (address, candidate) => address.or(candidate).unwrap_or(last),
    }
}

impl Endpoint for Sessions {
    /// New keys are wanted with this peer: it seems to have lost its own, or nothing has been sent to it yet.
    type Input<'a> = PeerId;
    type Transmit = Transmit;
    type Event = SessionEvent;

    fn handle_input(&mut self, now: Instant, peer: PeerId) {
        self.call(now, peer);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for id in 0..self.peers.len() {
            if self.peers.get(id).and_then(|peer| peer.deadline(&self.limits)).is_some_and(|at| at <= now) {
                self.expire(now, PeerId(id as u16));
            }
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let at = self.peers.iter().filter_map(|peer| peer.deadline(&self.limits)).min()?;
        Some(Deadline { at, why: "session" })
    }
}
