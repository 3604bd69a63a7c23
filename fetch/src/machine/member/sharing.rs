//! A file that is known, in pieces that come and are given on.
use super::MemberConfig;
use super::event::{MemberCounters, MemberError, MemberEvent};
use super::lane::Lane;
use super::peers::Peers;
use super::shelf::Store;
use super::transfer::Transfer;
use crate::client::{Download, DownloadError, PathSpec};
use crate::handshake::Identity;
use crate::pieces::PieceList;
use prismux_community::contents::{NeighbourId, Plan, PlanConfig, PlanEvent, PlanInput, Source};
use prismux_endpoint::{Deadline, Endpoint, expire};
use prismux_r2cp::policy::Cost;
use prismux_sealed::Entropy;
use prismux_units::Instant;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct Sharing {
    list: Arc<PieceList>,
    plan: Plan,
    peers: Peers,
    /// Pieces on their way from the origin.
    lanes: Vec<Lane>,
    /// Those on their way from neighbours.
    transfers: BTreeMap<u32, Transfer>,
    /// Neighbours that the caller knows of.
    joined: BTreeSet<NeighbourId>,
    /// Last time something new came.
    progress_at: Instant,
    counters: MemberCounters,
    /// Downloads that have ended and still have something to say.
    pub(super) ended: Vec<Download>,
    pub(super) events: Vec<MemberEvent>,
}

impl Sharing {
    pub(super) fn new(now: Instant, list: Arc<PieceList>, peers: Peers, draw: u64) -> Self {
        let layout = list.layout();
        let config = PlanConfig::for_pieces_of(layout.piece_bytes());
        Self {
            plan: Plan::new(now, layout.count(), draw, config),
            list,
            peers,
            lanes: Vec::new(),
            transfers: BTreeMap::new(),
            joined: BTreeSet::new(),
            progress_at: now,
            counters: MemberCounters::default(),
            ended: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(super) const fn list(&self) -> &Arc<PieceList> {
        &self.list
    }

    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn counters(&self) -> MemberCounters {
        MemberCounters { plan: self.plan.counters(), announcements: self.peers.counters(), ..self.counters }
    }

    /// Takes the pieces that an earlier attempt has left, as far as they are right, and begins.
    pub(super) fn take_what_is_here(&mut self, now: Instant, store: &dyn Store, held: impl Fn(u32) -> bool) {
        for piece in (0..self.list.layout().count()).filter(|piece| held(*piece)) {
            let range = self.list.layout().range(piece);
            let mut bytes = vec![0; (range.end - range.start) as usize];
            if store.read_at(range.start, &mut bytes).is_ok() && self.list.is_right(piece, &bytes) {
                self.plan.handle_input(now, PlanInput::AlreadyHere(piece));
            }
        }
        self.plan.handle_timeout(now);
    }

    pub(super) fn all_downloads(&self) -> impl Iterator<Item = &Download> {
        let lanes = self.lanes.iter().map(|lane| &lane.download);
        lanes.chain(self.transfers.values().map(|transfer| &transfer.download))
    }

    pub(super) fn downloads(&mut self) -> impl Iterator<Item = &mut Download> {
        let lanes = self.lanes.iter_mut().map(|lane| &mut lane.download);
        lanes.chain(self.transfers.values_mut().map(|transfer| &mut transfer.download))
    }

    /// All downloads, which are no more needed here.
    pub(super) fn take_downloads(&mut self) -> impl Iterator<Item = Download> + use<> {
        let lanes = std::mem::take(&mut self.lanes).into_iter().map(|lane| lane.download);
        lanes.chain(std::mem::take(&mut self.transfers).into_values().map(|transfer| transfer.download))
    }

    pub(super) fn next_announcement(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.peers.next_announcement()
    }

    /// An announcement has come.
    pub(super) fn hear(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let Some((from, announcement)) = self.peers.hear(now, from, bytes) else { return };
        let (held, claims) = (&announcement.held, &announcement.claims[..]);
        self.plan.handle_input(now, PlanInput::Heard { from, held, claims });
        let is_live = self.plan.neighbours().any(|id| id == from);
        if is_live && self.joined.insert(from) {
            self.events.extend(self.peers.peer(from).map(|peer| MemberEvent::Joined(peer.address)));
        }
    }

    pub(super) fn expire(&mut self, now: Instant) {
        expire(&mut self.plan, now);
    }

    pub(super) fn next_deadline(&self, config: &MemberConfig) -> Option<Deadline> {
        let downloads = self.all_downloads().filter_map(Endpoint::poll_timeout);
        let announce = Deadline { at: self.peers.announce_at(), why: "announce" };
        let give_up = Deadline { at: self.progress_at + config.give_up_after, why: "give-up" };
        let give_up = (!self.plan.held().is_whole()).then_some(give_up);
        let all = downloads.chain(self.plan.poll_timeout()).chain(give_up).chain([announce]);
        all.min_by_key(|deadline| deadline.at)
    }

    /// What follows from what has come.
    ///
    /// # Errors
    /// When the file will not be complete.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        is_mutation: bool,
        config: &MemberConfig,
        entropy: &mut Entropy,
    ) -> Result<(), MemberError> {
        self.take_from_lanes(now)?;
        self.take_from_neighbours(now);
        self.follow_plan(now, config, entropy);
        if is_mutation {
            self.peers.announce(now, self.plan.held(), &self.plan.claims());
        }
        let is_silent = now.saturating_since(self.progress_at) >= config.give_up_after;
        if is_silent && !self.plan.held().is_whole() {
            return Err(MemberError::Silence(config.give_up_after));
        }
        Ok(())
    }

    fn take_from_lanes(&mut self, now: Instant) -> Result<(), MemberError> {
        for index in 0..self.lanes.len() {
            let Some(brought) = self.lanes.get_mut(index).map(Lane::take) else { continue };
            if brought.is_new {
                self.progress_at = now;
            }
            for (piece, bytes) in brought.pieces {
                self.take_piece(now, Source::Origin, piece, bytes);
            }
            match brought.failed {
                // Of nobody else the rest could come.
                Some((why @ (DownloadError::NoServer { .. } | DownloadError::Contradiction { .. }), _)) => {
                    return Err(MemberError::Origin(why));
                }
                Some((_, owed)) => {
                    for piece in owed {
                        self.plan.handle_input(now, PlanInput::Failed { from: Source::Origin, piece });
                    }
                }
                None => {}
            }
        }
        self.ended.extend(self.lanes.extract_if(.., |lane| lane.is_over()).map(|lane| lane.download));
        Ok(())
    }

    fn take_from_neighbours(&mut self, now: Instant) {
        let pieces: Vec<u32> = self.transfers.keys().copied().collect();
        for piece in pieces {
            let Some(transfer) = self.transfers.get_mut(&piece) else { continue };
            let before = transfer.received_bytes();
            let outcome = transfer.take();
            let (from, received) = (transfer.from, transfer.received_bytes());
            if received > before {
                self.progress_at = now;
            }
            let Some(outcome) = outcome else { continue };
            self.ended.extend(self.transfers.remove(&piece).map(|transfer| transfer.download));
            match outcome {
                Ok(bytes) => self.take_piece(now, from, piece, bytes),
                Err(_) => {
                    self.counters.wasted_bytes += received;
                    self.plan.handle_input(now, PlanInput::Failed { from, piece });
                }
            }
        }
    }

    fn take_piece(&mut self, now: Instant, from: Source, piece: u32, bytes: Vec<u8>) {
        let is_right = self.list.is_right(piece, &bytes);
        self.plan.handle_input(now, PlanInput::Arrived { from, piece, is_right });
        let length = bytes.len() as u64;
        match from {
            _ if !is_right => return self.counters.wasted_bytes += length,
            Source::Origin => self.counters.origin_bytes += length,
            Source::Neighbour(_) => self.counters.neighbour_bytes += length,
        }
        self.peers.change();
        self.events.push(MemberEvent::Piece { offset: self.list.layout().range(piece).start, bytes });
    }

    fn follow_plan(&mut self, now: Instant, config: &MemberConfig, entropy: &mut Entropy) {
        while let Some(event) = self.plan.poll_event() {
            match event {
                PlanEvent::Ask { from, piece } => self.ask(now, from, piece, config, entropy),
                PlanEvent::Withdraw { piece, .. } => self.withdraw(now, piece),
                PlanEvent::Left(id, why) => {
                    self.joined.remove(&id);
                    self.events.extend(self.peers.peer(id).map(|peer| MemberEvent::Left(peer.address, why)));
                }
                PlanEvent::Complete => {
                    // A lane that did not reach the end of the file waits for nothing any more.
                    self.ended.extend(self.lanes.drain(..).map(|mut lane| {
                        lane.download.abort(now);
                        lane.download
                    }));
                    self.peers.change_at_last();
                    self.events.push(MemberEvent::Complete);
                }
            }
        }
    }

    fn withdraw(&mut self, now: Instant, piece: u32) {
        let from_lane = self.lanes.iter_mut().find_map(|lane| lane.withdraw(now, piece));
        self.counters.wasted_bytes += from_lane.unwrap_or(0);
        if let Some(mut transfer) = self.transfers.remove(&piece) {
            self.counters.wasted_bytes += transfer.received_bytes();
            transfer.download.abort(now);
            self.ended.push(transfer.download);
        }
        self.peers.change();
    }

    fn ask(&mut self, now: Instant, from: Source, piece: u32, config: &MemberConfig, entropy: &mut Entropy) {
        let range = self.list.layout().range(piece);
        let transfer = match from {
            Source::Origin => {
                self.peers.change();
                if self.lanes.iter_mut().any(|lane| lane.extend(now, piece, range.clone())) {
                    return;
                }
                let (identity, after) = (self.list.identity(), config.give_up_after);
                let lane = Lane::new(identity, (piece, range), after, &config.origin, entropy, now);
                return self.lanes.push(lane);
            }
            Source::Neighbour(id) => {
                let (Some(peer), Some(digest)) = (self.peers.peer(id), self.list.hash(piece)) else { return };
                let beginning = config.secret.path_to_pieces(&peer.key, &self.list.root());
                let path = PathSpec {
                    link: config.neighbour_link,
                    address: peer.address,
                    key: peer.key,
                    object: format!("{beginning}{piece}"),
                    cost: Cost(0),
                };
                let identity = Identity { size: range.end - range.start, digest };
                Transfer::from_neighbour(from, identity, config.give_up_after, path, entropy, now)
            }
        };
        self.transfers.insert(piece, transfer);
    }
}
