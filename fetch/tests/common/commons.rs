//! Members of a community, the origin, and the links between them: an uplink for each member, and a LAN.
//!
//! ```text
//!   origin ── uplink, 15 ms ── member ─┬─ LAN, 100 Mbit/s, 0.5 ms
//!          ── uplink, 15 ms ── member ─┘
//! ```
use super::shelf::{Bytes, content, entropy, identity, key};
use prismux_community::contents::Reason;
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_fetch::client::PathSpec;
use prismux_fetch::member::{
    CommunitySecret, Member, MemberConfig, MemberCounters, MemberError, MemberEvent, Received, Store,
};
use prismux_fetch::pieces::{PieceHasher, listed_file};
use prismux_fetch::server::{self, Lookup, Object, Objects, Server, ServerConfig, Unreadable};
use prismux_r2cp::policy::Cost;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub const SECRET: &str = "the secret of these members";
const UPLINK: usize = 0;
const LAN: usize = 1;
const LAN_RATE: Rate = Rate::from_mbps(100);
/// Queues hold so much.
const QUEUE: Duration = Duration::from_millis(100);

/// What a member does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Honest,
    /// It gives other bytes than it has.
    Lies,
}

fn origin_address() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 4717))
}

fn uplink_address(member: usize) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1 + member as u8], 5000))
}

fn lan_address(member: usize) -> SocketAddr {
    SocketAddr::from(([192, 168, 7, 1 + member as u8], 4718))
}

/// The origin's file and the list of its pieces.
struct Origin {
    file: Arc<Bytes>,
    list: Arc<Bytes>,
    has_lists: Rc<Cell<bool>>,
}

impl Objects for Origin {
    fn find(&mut self, path: &str) -> Lookup {
        let object = match listed_file(path) {
            Some("object") if self.has_lists.get() => &self.list,
            None if path == "object" => &self.file,
            _ => return Lookup::Refused(prismux_fetch::handshake::Refusal::NotFound),
        };
        Lookup::Ready(Arc::clone(object) as Arc<dyn Object>)
    }
}

/// Where a member's bytes lie.
struct Kept {
    bytes: Arc<Mutex<Vec<u8>>>,
    lies: Arc<AtomicBool>,
}

impl Store for Kept {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        let (start, bytes) = (offset as usize, self.bytes.lock().expect("no panic"));
        buffer.copy_from_slice(bytes.get(start..start + buffer.len()).ok_or(Unreadable)?);
        if self.lies.load(Ordering::Relaxed) {
            buffer.iter_mut().for_each(|byte| *byte ^= 1);
        }
        Ok(())
    }
}

/// One member, what it has, and what it has told.
struct Host {
    member: Option<Member>,
    secret: CommunitySecret,
    begins_at: Instant,
    bytes: Arc<Mutex<Vec<u8>>>,
    lies: Arc<AtomicBool>,
    leftover: Vec<u32>,
    /// How often each byte's piece was stored.
    stored: BTreeMap<u64, usize>,
    events: Vec<MemberEvent>,
    complete_at: Option<Instant>,
    is_cut: bool,
    uplink: Rate,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Port {
    Origin,
    Uplink(usize),
    Lan(usize),
}

pub struct Commons {
    pub now: Instant,
    pub content: Vec<u8>,
    origin: Server<Origin>,
    has_lists: Rc<Cell<bool>>,
    hosts: Vec<Host>,
    /// Until when each port is busy with what it receives (uplinks) or sends (LAN).
    busy: BTreeMap<Port, Instant>,
    air: BTreeMap<(Instant, u64), (Port, SocketAddr, Vec<u8>)>,
    sent: u64,
    seed: u64,
}

impl Commons {
    /// Members with these uplinks, which share a file of `bytes` bytes.
    pub fn new(bytes: usize, uplinks: &[Rate], seed: u64) -> Self {
        let file = content(bytes, seed);
        let mut hasher = PieceHasher::new(bytes as u64).expect("short");
        hasher.update(&file);
        let list = hasher.finish();
        let object = |bytes: &[u8]| Arc::new(Bytes { bytes: bytes.to_vec(), claimed: identity(bytes) });
        let has_lists = Rc::new(Cell::new(true));
        let shelf = Origin { file: object(&file), list: object(&list), has_lists: Rc::clone(&has_lists) };
        let origin = Server::new(key(0), ServerConfig::default(), shelf, entropy(seed, "origin"));
        let host = |uplink: &Rate| Host {
            member: None,
            secret: CommunitySecret::new(SECRET).expect("long enough"),
            begins_at: Instant::ZERO,
            bytes: Arc::new(Mutex::new(vec![0; bytes])),
            lies: Arc::default(),
            leftover: Vec::new(),
            stored: BTreeMap::new(),
            events: Vec::new(),
            complete_at: None,
            is_cut: false,
            uplink: *uplink,
        };
        Self {
            now: Instant::ZERO,
            content: file,
            origin,
            has_lists,
            hosts: uplinks.iter().map(host).collect(),
            busy: BTreeMap::new(),
            air: BTreeMap::new(),
            sent: 0,
            seed,
        }
    }

    fn begin(&mut self, index: usize) {
        let others = (0..self.hosts.len()).filter(|other| *other != index);
        let path = PathSpec {
            link: UPLINK,
            address: origin_address(),
            key: key(0).public(),
            object: "object".to_string(),
            cost: Cost(0),
        };
        let config = MemberConfig {
            origin: vec![path],
            neighbour_link: LAN,
            neighbours: others.map(lan_address).collect(),
            secret: self.hosts[index].secret.clone(),
            digest: None,
            max_size: None,
            give_up_after: Duration::from_secs(60),
        };
        let entropy = entropy(self.seed, &format!("member {index}"));
        self.hosts[index].member = Some(Member::new(config, entropy, self.now));
        self.drain(index);
    }

    /// From now on member `index` behaves so.
    pub fn become_of(&mut self, index: usize, manner: Manner) {
        self.hosts[index].lies.store(manner == Manner::Lies, Ordering::Relaxed);
    }

    /// Member `index` begins with another secret.
    pub fn restart_with(&mut self, index: usize, secret: CommunitySecret) {
        self.hosts[index].secret = secret;
    }

    pub fn hold_back(&mut self, index: usize, until: Instant) {
        self.hosts[index].begins_at = until;
    }

    /// The member's uplink carries nothing any more.
    pub fn cut(&mut self, index: usize) {
        self.hosts[index].is_cut = true;
    }

    pub fn forget_lists(&mut self) {
        self.has_lists.set(false);
    }

    /// An earlier attempt of member `index` has left `pieces`, with one byte wrong.
    pub fn leave_behind(&mut self, index: usize, pieces: &[u32], wrong: usize) {
        let host = &mut self.hosts[index];
        let mut bytes = host.bytes.lock().expect("no panic");
        bytes.copy_from_slice(&self.content);
        bytes[wrong] ^= 1;
        host.leftover = pieces.to_vec();
    }

    /// Member `index` is no more.
    pub fn kill(&mut self, index: usize) {
        self.hosts[index].member = None;
        self.hosts[index].begins_at = Instant::from_secs(1_000_000);
    }

    pub fn counters(&self, index: usize) -> MemberCounters {
        self.hosts[index].member.as_ref().map(Member::counters).unwrap_or_default()
    }

    pub fn events(&self, index: usize) -> &[MemberEvent] {
        &self.hosts[index].events
    }

    pub fn failure(&self, index: usize) -> Option<&MemberError> {
        self.hosts[index].events.iter().find_map(|event| match event {
            MemberEvent::Failed(why) => Some(why),
            _ => None,
        })
    }

    /// Whether member `index` has left member `other` for this reason.
    pub fn left(&self, index: usize, other: usize, why: Reason) -> bool {
        self.hosts[index].events.contains(&MemberEvent::Left(lan_address(other), why))
    }

    /// How long member `index` took, from its own start.
    pub fn took(&self, index: usize) -> Duration {
        let host = &self.hosts[index];
        host.complete_at.expect("it is complete").saturating_since(host.begins_at)
    }

    /// Member `index` has every byte, each stored once.
    pub fn is_whole(&self, index: usize) {
        let host = &self.hosts[index];
        assert_eq!(self.failure(index), None);
        assert!(host.complete_at.is_some(), "{:?}", self.counters(index));
        assert!(*host.bytes.lock().expect("no panic") == self.content, "bytes differ");
        assert!(host.stored.values().all(|times| *times == 1), "{:?}", host.stored);
    }

    fn dispatch(&mut self, from: Port, to: Port, sender: SocketAddr, bytes: Vec<u8>) {
        let is_cut = |port: Port| matches!(port, Port::Uplink(index) if self.hosts[index].is_cut);
        if is_cut(from) || is_cut(to) {
            return;
        }
        let (port, rate, delay) = match (from, to) {
            (Port::Lan(_), _) => (from, LAN_RATE, Duration::from_micros(500)),
            (_, Port::Uplink(index)) => (to, self.hosts[index].uplink, Duration::from_millis(15)),
            _ => (from, LAN_RATE, Duration::from_millis(15)),
        };
        let free_at = self.busy.get(&port).map_or(self.now, |at| (*at).max(self.now));
        if free_at - self.now > QUEUE {
            return;
        }
        let leaves_at = free_at + rate.transmission_time(ByteCount::new(bytes.len() as u64 + 28));
        self.busy.insert(port, leaves_at);
        self.sent += 1;
        self.air.insert((leaves_at + delay, self.sent), (to, sender, bytes));
    }

    fn drain_origin(&mut self) {
        while let Some(transmit) = self.origin.poll_transmit(self.now) {
            let to = (0..self.hosts.len()).find(|index| uplink_address(*index) == transmit.to);
            let bytes = self.origin.datagram().to_vec();
            if let Some(to) = to {
                self.dispatch(Port::Origin, Port::Uplink(to), origin_address(), bytes);
            }
        }
    }

    fn drain(&mut self, index: usize) {
        let Some(mut member) = self.hosts[index].member.take() else { return };
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut member, self.now) {
            match output {
                Output::Transmit(transmit) if transmit.link == UPLINK => {
                    let bytes = member.datagram().to_vec();
                    self.dispatch(Port::Uplink(index), Port::Origin, uplink_address(index), bytes);
                }
                Output::Transmit(transmit) => {
                    let to = (0..self.hosts.len()).find(|other| lan_address(*other) == transmit.to);
                    let bytes = member.datagram().to_vec();
                    if let Some(to) = to {
                        self.dispatch(Port::Lan(index), Port::Lan(to), lan_address(index), bytes);
                    }
                }
                Output::Event(event) => {
                    self.note(index, &mut member, event);
                    // To begin is a mutation: what follows is drained too.
                    drain = Drain::new();
                }
            }
        }
        self.hosts[index].member = Some(member);
    }

    fn note(&mut self, index: usize, member: &mut Member, event: MemberEvent) {
        let host = &mut self.hosts[index];
        match &event {
            MemberEvent::Identified(_) => {
                let store = Kept { bytes: Arc::clone(&host.bytes), lies: Arc::clone(&host.lies) };
                member.begin(self.now, Arc::new(store), |piece| host.leftover.contains(&piece));
            }
            MemberEvent::Piece { offset, bytes } => {
                let start = *offset as usize;
                host.bytes.lock().expect("no panic")[start..start + bytes.len()].copy_from_slice(bytes);
                *host.stored.entry(*offset).or_default() += 1;
                return;
            }
            MemberEvent::Complete => host.complete_at = Some(self.now),
            _ => {}
        }
        host.events.push(event);
    }

    /// Lets the next thing happen; false if nothing ever will.
    fn step(&mut self) -> bool {
        let starts = self.hosts.iter().filter(|host| host.member.is_none()).map(|host| host.begins_at);
        let timers = self.hosts.iter().filter_map(|host| host.member.as_ref()?.poll_timeout());
        let timers = timers.chain(self.origin.poll_timeout()).map(|deadline| deadline.at);
        let arrival = self.air.keys().next().map(|(at, _)| *at);
        let Some(next) = timers.chain(starts).chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        for index in 0..self.hosts.len() {
            if self.hosts[index].member.is_none() && self.hosts[index].begins_at <= self.now {
                self.begin(index);
            }
        }
        if arrival.is_some_and(|at| at <= self.now) {
            if let Some((_, (to, from, bytes))) = self.air.pop_first() {
                self.arrive(to, from, &bytes);
            }
            return true;
        }
        if expire(&mut self.origin, self.now) {
            self.drain_origin();
        }
        for index in 0..self.hosts.len() {
            if self.hosts[index].member.as_mut().is_some_and(|member| expire(member, self.now)) {
                self.drain(index);
            }
        }
        true
    }

    fn arrive(&mut self, to: Port, from: SocketAddr, bytes: &[u8]) {
        let (index, link, local) = match to {
            Port::Origin => {
                let received = server::Received { from, local: origin_address(), ecn: Ecn::NotEct, bytes };
                self.origin.handle_input(self.now, received);
                return self.drain_origin();
            }
            Port::Uplink(index) => (index, UPLINK, uplink_address(index)),
            Port::Lan(index) => (index, LAN, lan_address(index)),
        };
        if let Some(member) = &mut self.hosts[index].member {
            member.handle_input(self.now, Received { link, from, local, ecn: Ecn::NotEct, bytes });
            self.drain(index);
        }
    }

    pub fn run_until(&mut self, mut done: impl FnMut(&Self) -> bool) {
        let mut steps = 0;
        while !done(self) {
            steps += 1;
            assert!(steps < 2_000_000, "time stands still at {:?}", self.now);
            assert!(self.now < Instant::from_secs(600), "ten minutes have passed");
            assert!(self.step(), "nothing will happen any more");
        }
    }

    /// Until every member that lives is complete or has failed.
    pub fn run(&mut self) {
        self.run_until(|commons| {
            let is_done = |host: &Host| {
                host.complete_at.is_some()
                    || host.events.iter().any(|event| matches!(event, MemberEvent::Failed(_)))
                    || host.member.is_none() && host.begins_at > Instant::from_secs(600)
            };
            commons.hosts.iter().all(is_done)
        });
    }
}
