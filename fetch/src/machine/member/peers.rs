//! Who else is there: what neighbours announce, and what is announced to them.
//!
//! An announcement is believed when its proof is right and it repeats the number of this member's own run: then it is
//! no old one. Whoever has the secret and is new is answered at once, so that it can repeat ours.
use super::secret::CommunitySecret;
use crate::digest::Digest;
use crate::key::PublicKey;
use prismux_community::contents::{ANNOUNCEMENT, Announcement, NeighbourId, PieceSet};
use prismux_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// What has changed is told after this, with all that changes meanwhile.
const CHANGE_PAUSE: Duration = Duration::from_millis(50);
/// What has not changed is told again after this.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Who has been believed at an address is forgotten there after this.
const FORGET: Duration = Duration::from_secs(3);
/// Most neighbours. Of more, whoever has not been heard for longest makes room, if that is long.
const MAX_PEERS: usize = 64;
const MAKES_ROOM_AFTER: Duration = Duration::from_secs(30);

/// Announcements that were not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnnouncementCounters {
    /// Without the right proof, or making no sense.
    pub forged: u64,
    /// Older than what was heard.
    pub replayed: u64,
    /// Of other files.
    pub other_files: u64,
    /// Of more neighbours than are remembered.
    pub crowded: u64,
}

/// A neighbour that has been believed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) id: NeighbourId,
    pub(super) key: PublicKey,
    pub(super) address: SocketAddr,
    number: u64,
    heard_at: Instant,
}

/// What has been heard from an address.
struct Address {
    run: u64,
    /// When an announcement from there was last believed.
    believed_at: Option<Instant>,
}

pub(super) struct Peers {
    secret: CommunitySecret,
    own_key: PublicKey,
    run: u64,
    root: Digest,
    number: u64,
    /// Whom announcements go to.
    addresses: BTreeMap<SocketAddr, Option<Address>>,
    believed: BTreeMap<[u8; 32], Peer>,
    next_id: u32,
    announced_at: Option<Instant>,
    has_changed: bool,
    leaving: VecDeque<(SocketAddr, Vec<u8>)>,
    counters: AnnouncementCounters,
}

impl Peers {
    /// `run` is a number that nobody can guess.
    pub(super) fn new(
        secret: CommunitySecret,
        own_key: PublicKey,
        run: u64,
        root: Digest,
        neighbours: &[SocketAddr],
    ) -> Self {
        Self {
            secret,
            own_key,
            run,
            root,
            number: 0,
            addresses: neighbours.iter().map(|address| (*address, None)).collect(),
            believed: BTreeMap::new(),
            next_id: 0,
            announced_at: None,
            has_changed: true,
            leaving: VecDeque::new(),
            counters: AnnouncementCounters::default(),
        }
    }

    /// Whether a datagram is an announcement, as far as its first byte says.
    pub(super) fn is_announcement(bytes: &[u8]) -> bool {
        bytes.first() == Some(&ANNOUNCEMENT)
    }

    pub(super) const fn counters(&self) -> AnnouncementCounters {
        self.counters
    }

    pub(super) fn peer(&self, id: NeighbourId) -> Option<&Peer> {
        self.believed.values().find(|peer| peer.id == id)
    }

    /// Reads an announcement: who is heard, and what it says, if that is to be believed.
    pub(super) fn hear(
        &mut self,
        now: Instant,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Option<(NeighbourId, Announcement)> {
        let proven = self.secret.verify(bytes).and_then(|bytes| Announcement::parse(bytes).ok());
        let Some(announcement) = proven else {
            self.counters.forged += 1;
            return None;
        };
        if announcement.root != self.root.0 {
            self.counters.other_files += 1;
            return None;
        }
        if announcement.key == self.own_key.0 {
            // It has listed itself.
            self.addresses.remove(&from);
            return None;
        }
        let is_fresh = announcement.echo == self.run;
        self.note_address(now, from, announcement.run, is_fresh);
        if !is_fresh {
            return None;
        }
        if !self.believed.contains_key(&announcement.key) && !self.make_room(now) {
            self.counters.crowded += 1;
            return None;
        }
        let next_id = &mut self.next_id;
        let peer = self.believed.entry(announcement.key).or_insert_with(|| {
            *next_id += 1;
            let key = PublicKey(announcement.key);
            Peer { id: NeighbourId(*next_id), key, address: from, number: 0, heard_at: now }
        });
        if announcement.number <= peer.number {
            self.counters.replayed += 1;
            return None;
        }
        (peer.number, peer.address, peer.heard_at) = (announcement.number, from, now);
        Some((peer.id, announcement))
    }

    /// Whether there is room for one more that is believed.
    fn make_room(&mut self, now: Instant) -> bool {
        if self.believed.len() < MAX_PEERS {
            return true;
        }
        let oldest = self.believed.iter().min_by_key(|(_, peer)| peer.heard_at);
        let silent = oldest.filter(|(_, peer)| peer.heard_at + MAKES_ROOM_AFTER <= now).map(|(key, _)| *key);
        silent.is_some_and(|key| self.believed.remove(&key).is_some())
    }

    /// Notes which run speaks from an address. An old announcement takes nobody's place who was believed there lately.
    fn note_address(&mut self, now: Instant, from: SocketAddr, run: u64, is_fresh: bool) {
        if !self.addresses.contains_key(&from) && self.addresses.len() >= MAX_PEERS {
            return self.counters.crowded += 1;
        }
        let known = self.addresses.entry(from).or_default();
        let lately = known.as_ref().and_then(|known| known.believed_at).filter(|at| *at + FORGET > now);
        if !is_fresh && lately.is_some() {
            return;
        }
        self.has_changed |= known.as_ref().is_none_or(|known| known.run != run);
        *known = Some(Address { run, believed_at: if is_fresh { Some(now) } else { None } });
    }

    /// What this member has or takes is other than it was.
    pub(super) const fn change(&mut self) {
        self.has_changed = true;
    }

    /// This member has everything: it is told at once, since it may end now.
    pub(super) const fn change_at_last(&mut self) {
        self.announced_at = None;
    }

    /// When something is to be announced.
    pub(super) fn announce_at(&self) -> Instant {
        let pause = if self.has_changed { CHANGE_PAUSE } else { HEARTBEAT };
        self.announced_at.map_or(Instant::ZERO, |at| at + pause)
    }

    /// Announces, if it is time.
    pub(super) fn announce(&mut self, now: Instant, held: &PieceSet, claims: &[u32]) {
        if self.announce_at() > now {
            return;
        }
        self.announced_at = Some(now);
        self.has_changed = false;
        if held.count() == 0 {
            // Of an empty file nobody needs anything.
            return;
        }
        for (address, known) in &self.addresses {
            self.number += 1;
            let announcement = Announcement {
                run: self.run,
                echo: known.as_ref().map_or(0, |known| known.run),
                number: self.number,
                key: self.own_key.0,
                root: self.root.0,
                claims: claims.to_vec(),
                held: held.clone(),
            };
            let mut bytes = Vec::new();
            announcement.emit(&mut bytes);
            self.secret.sign(&mut bytes);
            self.leaving.push_back((*address, bytes));
        }
    }

    /// The next announcement to send.
    pub(super) fn next_announcement(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.leaving.pop_front()
    }
}

#[cfg(test)]
mod tests;
