//! A member of a community that shares contents: it takes a part of a file from its origin over its own uplink, the
//! rest from neighbours that have it, and gives them what it has.
//!
//! An [`Endpoint`], as all machines here. It is made of those that fetch and serve files without neighbours: pieces
//! from the origin come by a [`Download`](crate::client::Download) of the file in which others count as here already,
//! each from a neighbour by a download of an object of its own, and neighbours are answered by a [`Server`]. Which
//! piece comes from whom decides [`Plan`].
//!
//! The origin's list of pieces ([`crate::pieces`]) comes first. A piece is kept and given on only when its hash is the
//! list's; the neighbour that gave another is left. Announcements and the paths of pieces are proven by the
//! community's secret ([`CommunitySecret`]).
//!
//! `peers`: neighbours and announcements. `shelf`: what is given. `lane`: what comes from the origin; `transfer`: what
//! comes from neighbours. `sharing`: all of that, once the file is known. `event`: what the caller is told.
mod event;
mod lane;
mod peers;
mod secret;
mod sharing;
mod shelf;
mod transfer;

pub use event::{MemberCounters, MemberError, MemberEvent, Received};
pub use peers::AnnouncementCounters;
pub use secret::{CommunitySecret, PROOF_BYTES};
pub use shelf::Store;

use crate::client::{self, DownloadConfig, PathSpec, Transmit};
use crate::digest::Digest;
use crate::key::ServerKey;
use crate::machine::LinkUser;
use crate::machine::server::{self, Server, ServerConfig};
use crate::pieces::{self, PieceList};
use peers::Peers;
use prismux_community::contents::{Layout, Plan};
use prismux_endpoint::{Deadline, Endpoint, expire};
use prismux_sealed::Entropy;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::Ecn;
use sharing::Sharing;
use shelf::Shelf;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use transfer::Transfer;

/// Most sessions of neighbours at a time.
const MAX_SESSIONS: usize = 1024;

/// How a member behaves, and among whom.
#[derive(Debug, Clone)]
pub struct MemberConfig {
    /// The file at its origin, over each interface.
    pub origin: Vec<PathSpec>,
    /// The caller's number of the interface towards neighbours.
    pub neighbour_link: usize,
    /// Where neighbours are; others that know the secret may come.
    pub neighbours: Vec<SocketAddr>,
    /// What members of the community know.
    pub secret: CommunitySecret,
    /// The digest that the file must have.
    pub digest: Option<Digest>,
    /// The file may have no more bytes than this.
    pub max_size: Option<ByteCount>,
    /// Nothing new for this long ends it.
    pub give_up_after: Duration,
}

/// How far a member is.
enum Phase {
    /// The list of pieces is under way.
    Listing(Box<Transfer>),
    /// The list is here, the caller has not begun.
    Listed(Arc<PieceList>),
    Sharing(Box<Sharing>),
    Failed,
}

/// One member; see the module's description.
pub struct Member {
    config: MemberConfig,
    entropy: Entropy,
    key: ServerKey,
    run: u64,
    phase: Phase,
    server: Server<Shelf>,
    /// Downloads that have ended and still say so.
    closing: Vec<client::Download>,
    events: VecDeque<MemberEvent>,
    unmatched: u64,
    datagram: Vec<u8>,
}

impl Member {
    /// A member that begins now. On a real network `entropy` comes from the operating system; the key of its server is
    /// made of it, too.
    pub fn new(config: MemberConfig, mut entropy: Entropy, now: Instant) -> Self {
        let key = ServerKey::generate(&mut entropy);
        let server_config = ServerConfig { max_clients: MAX_SESSIONS, ..ServerConfig::default() };
        let own = Entropy::from_seed(entropy.bytes());
        let server = Server::new(key.clone(), server_config, Shelf::default(), own);
        let lists = config
            .origin
            .iter()
            .map(|path| PathSpec { object: pieces::list_path(&path.object), ..path.clone() });
        let lists: Vec<PathSpec> = lists.collect();
        let of_list = DownloadConfig {
            max_size: Some(ByteCount::new(pieces::max_list_bytes())),
            give_up_after: config.give_up_after,
            ..DownloadConfig::default()
        };
        let listing = Transfer::of_object(of_list, &lists, &mut entropy, now);
        Self {
            run: entropy.number().max(1),
            config,
            entropy,
            key,
            phase: Phase::Listing(Box::new(listing)),
            server,
            closing: Vec::new(),
            events: VecDeque::new(),
            unmatched: 0,
            datagram: Vec::new(),
        }
    }

    /// The file is known ([`MemberEvent::Identified`]): its pieces will lie in `store`. `held` says for each piece
    /// whether an earlier attempt has left its bytes there; they are read and used when they are right.
    pub fn begin(&mut self, now: Instant, store: Arc<dyn Store>, held: impl Fn(u32) -> bool) {
        let Phase::Listed(list) = &self.phase else { return };
        let list = Arc::clone(list);
        let draw = self.entropy.number();
        let key = self.key.public();
        let root = list.root();
        let peers = Peers::new(self.config.secret.clone(), key, self.run, root, &self.config.neighbours);
        let mut sharing = Sharing::new(now, Arc::clone(&list), peers, draw);
        sharing.take_what_is_here(now, &*store, held);
        let path = self.config.secret.path_to_pieces(&key, &root);
        self.server.objects_mut().stock(list, store, path, sharing.plan().held().clone());
        self.phase = Phase::Sharing(Box::new(sharing));
        self.settle(now, true);
    }

    /// How the file is cut, once it is known.
    pub fn layout(&self) -> Option<Layout> {
        match &self.phase {
            Phase::Listed(list) => Some(list.layout()),
            Phase::Sharing(sharing) => Some(sharing.list().layout()),
            _ => None,
        }
    }

    /// The bytes of the last transmit.
    pub fn datagram(&self) -> &[u8] {
        &self.datagram
    }

    /// Whether a neighbour is there that has not everything yet.
    pub fn is_needed(&self) -> bool {
        self.plan().is_some_and(Plan::is_needed)
    }

    /// Neighbours that are there.
    pub fn neighbours(&self) -> usize {
        self.plan().map_or(0, |plan| plan.neighbours().count())
    }

    fn plan(&self) -> Option<&Plan> {
        match &self.phase {
            Phase::Sharing(sharing) => Some(sharing.plan()),
            _ => None,
        }
    }

    /// Counters so far.
    pub fn counters(&self) -> MemberCounters {
        let counters = match &self.phase {
            Phase::Sharing(sharing) => sharing.counters(),
            _ => MemberCounters::default(),
        };
        let server = self.server.counters();
        MemberCounters {
            given_bytes: server.sessions.data_bytes,
            refused: server.refused,
            unmatched: self.unmatched,
            ..counters
        }
    }

    /// The user wants no more: servers and neighbours are told.
    pub fn stop(&mut self, now: Instant) {
        match std::mem::replace(&mut self.phase, Phase::Failed) {
            Phase::Listing(listing) => self.closing.push(listing.download),
            Phase::Sharing(mut sharing) => self.closing.extend(sharing.take_downloads()),
            Phase::Listed(_) | Phase::Failed => {}
        }
        for download in &mut self.closing {
            download.abort(now);
        }
        self.server.stop(now);
    }

    fn fail(&mut self, now: Instant, why: MemberError) {
        self.stop(now);
        self.events.push_back(MemberEvent::Failed(why));
    }

    /// What follows from what has come. `is_mutation` is false when only events of transmits are looked for.
    fn settle(&mut self, now: Instant, is_mutation: bool) {
        self.closing.retain(|download| !download.is_over(now));
        match &mut self.phase {
            Phase::Listing(listing) => match listing.take() {
                Some(Ok(bytes)) => self.listed(now, &bytes),
                Some(Err(why)) => self.fail(now, MemberError::NoList(why)),
                None => {}
            },
            Phase::Sharing(sharing) => {
                let outcome = sharing.settle(now, is_mutation, &self.config, &mut self.entropy);
                self.closing.append(&mut sharing.ended);
                for event in std::mem::take(&mut sharing.events) {
                    if let MemberEvent::Piece { offset, .. } = &event {
                        let piece = offset / sharing.list().layout().piece_bytes();
                        self.server.objects_mut().put(piece as u32);
                    }
                    self.events.push_back(event);
                }
                if let Err(why) = outcome {
                    self.fail(now, why);
                }
            }
            Phase::Listed(_) | Phase::Failed => {}
        }
    }

    fn listed(&mut self, now: Instant, bytes: &[u8]) {
        let list = match PieceList::parse(bytes) {
            Ok(list) => Arc::new(list),
            Err(why) => return self.fail(now, MemberError::List(why)),
        };
        let identity = list.identity();
        if let Some(wanted) = self.config.digest.filter(|wanted| *wanted != identity.digest) {
            return self.fail(now, MemberError::Digest { found: identity.digest, wanted });
        }
        let limit = self.config.max_size.map(ByteCount::as_u64);
        if let Some(limit) = limit.filter(|limit| identity.size > *limit) {
            return self.fail(now, MemberError::TooLarge { found: identity.size, limit });
        }
        if let Phase::Listing(listing) = std::mem::replace(&mut self.phase, Phase::Listed(list)) {
            self.closing.push(listing.download);
        }
        self.events.push_back(MemberEvent::Identified(identity));
    }

    /// Downloads, the ended ones last.
    fn downloads(&mut self) -> impl Iterator<Item = &mut client::Download> {
        let (listing, sharing) = match &mut self.phase {
            Phase::Listing(listing) => (Some(&mut listing.download), None),
            Phase::Sharing(sharing) => (None, Some(sharing.downloads())),
            Phase::Listed(_) | Phase::Failed => (None, None),
        };
        listing.into_iter().chain(sharing.into_iter().flatten()).chain(&mut self.closing)
    }

    fn next_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let link = self.config.neighbour_link;
        if let Phase::Sharing(sharing) = &mut self.phase
            && let Some((to, bytes)) = sharing.next_announcement()
        {
            self.datagram = bytes;
            return Some(Transmit { link, to, ecn: Ecn::NotEct });
        }
        if let Some(server::Transmit { to, ecn }) = self.server.poll_transmit(now) {
            self.datagram.clear();
            self.datagram.extend_from_slice(self.server.datagram());
            return Some(Transmit { link, to, ecn });
        }
        let mut sent = std::mem::take(&mut self.datagram);
        let transmit = self.downloads().find_map(|download| {
            let transmit = download.poll_transmit(now)?;
            sent.clear();
            sent.extend_from_slice(download.datagram());
            Some(transmit)
        });
        self.datagram = sent;
        transmit
    }
}

impl LinkUser for Member {
    fn link_is_alive(&self, link: usize) -> bool {
        let downloads = match &self.phase {
            Phase::Listing(listing) => vec![&listing.download],
            Phase::Sharing(sharing) => sharing.all_downloads().collect(),
            Phase::Listed(_) | Phase::Failed => Vec::new(),
        };
        let from_origin = self.config.origin.iter().any(|path| path.link == link);
        !from_origin || downloads.is_empty() || downloads.iter().any(|download| download.link_is_alive(link))
    }

    fn link_down(&mut self, now: Instant, link: usize) {
        self.downloads().for_each(|download| download.link_down(now, link));
        self.settle(now, true);
    }

    fn link_up(&mut self, now: Instant, link: usize) {
        self.downloads().for_each(|download| download.link_up(now, link));
        self.settle(now, true);
    }
}

impl Endpoint for Member {
    type Input<'a> = Received<'a>;
    type Transmit = Transmit;
    type Event = MemberEvent;

    fn handle_input(&mut self, now: Instant, received: Received<'_>) {
        let Received { link, from, local, ecn, bytes } = received;
        let is_near = link == self.config.neighbour_link;
        if is_near && Peers::is_announcement(bytes) {
            if let Phase::Sharing(sharing) = &mut self.phase {
                sharing.hear(now, from, bytes);
            }
            return self.settle(now, true);
        }
        let inside = client::Received { link, from, ecn, bytes };
        if let Some(download) = self.downloads().find(|download| download.is_for(&inside)) {
            download.handle_input(now, inside);
        } else if is_near {
            self.server.handle_input(now, server::Received { from, local, ecn, bytes });
        } else {
            self.unmatched += 1;
        }
        self.settle(now, true);
    }

    fn handle_timeout(&mut self, now: Instant) {
        expire(&mut self.server, now);
        self.downloads().for_each(|download| {
            expire(download, now);
        });
        if let Phase::Sharing(sharing) = &mut self.phase {
            sharing.expire(now);
        }
        self.settle(now, true);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.next_transmit(now).or_else(|| {
            // A close that was sent is an event, and what follows from it may have to be sent.
            self.settle(now, false);
            self.next_transmit(now)
        })
    }

    fn poll_event(&mut self) -> Option<MemberEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let (listing, sharing) = match &self.phase {
            Phase::Listing(listing) => (listing.download.poll_timeout(), None),
            Phase::Sharing(sharing) => (None, sharing.next_deadline(&self.config)),
            Phase::Listed(_) | Phase::Failed => (None, None),
        };
        let closing = self.closing.iter().filter_map(Endpoint::poll_timeout);
        let all = closing.chain(self.server.poll_timeout()).chain(listing).chain(sharing);
        all.min_by_key(|deadline| deadline.at)
    }
}
