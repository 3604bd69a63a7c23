//! Content sharing in the simulator: the machine of `prismux fetch --share`, byte for byte, as a node of its own, each
//! with an uplink towards the origin, and a switch between them.
//!
//! ```text
//!   origin ─ core ─ uplink, 15 ms ─ member ─ switch (100 Mbit/s, 0.5 ms)
//!               └── uplink, 15 ms ─ member ─┘
//! ```
//!
//! Each takes a part from the origin and gives it to the others, so that N members need the time of the file over the
//! sum of their uplinks. Headers take 89 bytes beside 1289 of the file, and two times three round trips come first:
//! for the list of pieces, and the first piece. `cargo test -p prismux-tests --test content_sharing -- --nocapture`
//! prints a table.
#![allow(clippy::disallowed_macros, reason = "a test that prints what it measures")]
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Deadline, Drain, Endpoint, Output, expire};
use prismux_fetch::Entropy;
use prismux_fetch::client::PathSpec;
use prismux_fetch::digest::Digest;
use prismux_fetch::handshake::{Identity, Refusal};
use prismux_fetch::key::ServerKey;
use prismux_fetch::member::{
    self, CommunitySecret, Member, MemberConfig, MemberCounters, MemberEvent, Store,
};
use prismux_fetch::pieces::{PieceHasher, listed_file};
use prismux_fetch::server::{self, Lookup, Object, Objects, Server, ServerConfig, Unreadable};
use prismux_link::{LinkConfig, QueueLimit};
use prismux_r2cp::policy::Cost;
use prismux_simulator::{
    Content, LinkId, Node, NodeContext, NodeId, Plan, Simulation, SimulationOptions, Transit,
};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

const FILE_BYTES: usize = 20_000_000;
const UPLINK: usize = 0;
const LAN: usize = 1;

/// A datagram of the file's machines, as they made it.
#[derive(Debug, Clone)]
struct Sealed {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

impl Content for Sealed {
    fn header_bytes(&self) -> usize {
        self.bytes.len()
    }
    fn emit(&self, bytes: &mut [u8]) {
        bytes[..self.bytes.len()].copy_from_slice(&self.bytes);
    }
}

fn entropy(seed: u64, what: u8) -> Entropy {
    Entropy::from_seed([seed as u8 ^ what.wrapping_mul(31); 32])
}

fn origin_key() -> ServerKey {
    ServerKey::generate(&mut entropy(0, 1))
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

/// The nodes at the addresses.
#[derive(Debug, Clone)]
struct Places {
    origin: NodeId,
    members: Vec<NodeId>,
}

impl Places {
    fn node(&self, address: SocketAddr) -> NodeId {
        let IpAddr::V4(ip) = address.ip() else { panic!("no address of ours") };
        if address == origin_address() { self.origin } else { self.members[usize::from(ip.octets()[3]) - 1] }
    }
}

/// When a node is called next: no call can be taken back, so none is asked for twice.
#[derive(Debug, Default)]
struct Alarm(Option<Instant>);

impl Alarm {
    fn set(&mut self, context: &mut NodeContext<'_>, deadline: Option<Deadline>) {
        let Some(Deadline { at, .. }) = deadline else { return };
        if self.0.is_none_or(|pending| pending <= context.now() || at < pending) {
            self.0 = Some(at);
            context.wake(at);
        }
    }
}

fn let_go(context: &mut NodeContext<'_>, places: &Places, link: LinkId, sealed: Sealed) {
    let packet = context.originate(sealed.clone(), Some(places.node(sealed.to)), 0);
    context.send(link, packet);
}

struct InMemory(Vec<u8>, Identity);

impl InMemory {
    fn new(bytes: Vec<u8>) -> Arc<Self> {
        let identity = Identity { size: bytes.len() as u64, digest: Digest::of(&bytes[..]).unwrap() };
        Arc::new(Self(bytes, identity))
    }
}

impl Object for InMemory {
    fn identity(&self) -> Identity {
        self.1
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        let start = offset as usize;
        buffer.copy_from_slice(self.0.get(start..start + buffer.len()).ok_or(Unreadable)?);
        Ok(())
    }
    fn is_unchanged(&self) -> bool {
        true
    }
}

/// The file and the list of its pieces.
struct OriginShelf([Arc<InMemory>; 2]);

impl Objects for OriginShelf {
    fn find(&mut self, path: &str) -> Lookup {
        let [file, list] = &self.0;
        match listed_file(path) {
            Some("file") => Lookup::Ready(Arc::clone(list) as Arc<dyn Object>),
            None if path == "file" => Lookup::Ready(Arc::clone(file) as Arc<dyn Object>),
            _ => Lookup::Refused(Refusal::NotFound),
        }
    }
}

/// `prismux serve` as a node.
struct OriginNode {
    server: Server<OriginShelf>,
    places: Places,
    link: LinkId,
    alarm: Alarm,
}

impl OriginNode {
    fn drain(&mut self, context: &mut NodeContext<'_>) {
        while let Some(transmit) = self.server.poll_transmit(context.now()) {
            let (from, to, bytes) = (origin_address(), transmit.to, self.server.datagram().to_vec());
            let_go(context, &self.places, self.link, Sealed { from, to, bytes });
        }
        self.alarm.set(context, self.server.poll_timeout());
    }
}

impl fmt::Debug for OriginNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OriginNode")
    }
}

impl Node for OriginNode {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let Some(Sealed { from, to, bytes }) = context.take(&packet) else { return context.discard(packet) };
        let received = server::Received { from, local: to, ecn: Ecn::NotEct, bytes: &bytes };
        self.server.handle_input(context.now(), received);
        self.drain(context);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        expire(&mut self.server, context.now());
        self.drain(context);
    }
}

struct Kept(Arc<Mutex<Vec<u8>>>);

impl Store for Kept {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        let (start, bytes) = (offset as usize, self.0.lock().unwrap());
        buffer.copy_from_slice(bytes.get(start..start + buffer.len()).ok_or(Unreadable)?);
        Ok(())
    }
}

/// `prismux fetch --share` as a node.
struct MemberNode {
    config: MemberConfig,
    index: usize,
    seed: u64,
    member: Option<Member>,
    places: Places,
    links: [LinkId; 2],
    kept: Arc<Mutex<Vec<u8>>>,
    complete_at: Option<Instant>,
    alarm: Alarm,
}

impl MemberNode {
    fn drain(&mut self, context: &mut NodeContext<'_>) {
        let now = context.now();
        let Some(member) = &mut self.member else { return };
        let mut drain = Drain::new();
        while let Some(output) = drain.next(member, now) {
            match output {
                Output::Transmit(transmit) => {
                    let own = [uplink_address(self.index), lan_address(self.index)][transmit.link];
                    let sealed = Sealed { from: own, to: transmit.to, bytes: member.datagram().to_vec() };
                    let_go(context, &self.places, self.links[transmit.link], sealed);
                    continue;
                }
                Output::Event(MemberEvent::Identified(_)) => {
                    member.begin(now, Arc::new(Kept(Arc::clone(&self.kept))), |_| false);
                }
                Output::Event(MemberEvent::Piece { offset, bytes }) => {
                    let start = offset as usize;
                    self.kept.lock().unwrap()[start..start + bytes.len()].copy_from_slice(&bytes);
                }
                Output::Event(MemberEvent::Complete) => self.complete_at = Some(now),
                Output::Event(MemberEvent::Failed(why)) => panic!("{why}"),
                Output::Event(_) => {}
            }
            drain = Drain::new();
        }
        self.alarm.set(context, member.poll_timeout());
    }

    fn counters(&self) -> MemberCounters {
        self.member.as_ref().map(Member::counters).unwrap()
    }
}

impl fmt::Debug for MemberNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemberNode({})", self.index)
    }
}

impl Node for MemberNode {
    fn start(&mut self, context: &mut NodeContext<'_>) {
        let entropy = entropy(self.seed, 10 + self.index as u8);
        self.member = Some(Member::new(self.config.clone(), entropy, context.now()));
        self.drain(context);
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let Some(Sealed { from, to, bytes }) = context.take(&packet) else { return context.discard(packet) };
        let link = if to == lan_address(self.index) { LAN } else { UPLINK };
        if let Some(member) = &mut self.member {
            let received = member::Received { link, from, local: to, ecn: Ecn::NotEct, bytes: &bytes };
            member.handle_input(context.now(), received);
        }
        self.drain(context);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if let Some(member) = &mut self.member {
            expire(member, context.now());
        }
        self.drain(context);
    }
}

fn content() -> Vec<u8> {
    let mut random = Seed(1).stream("content");
    (0..FILE_BYTES / 8).flat_map(|_| random.next_u64().to_be_bytes()).collect()
}

/// A community in the simulator, whose members have these uplinks.
fn build(file: &Arc<InMemory>, uplinks_mbps: &[u64], seed: u64) -> (Simulation, Vec<NodeId>) {
    let (mut plan, mut options) =
        (Plan::new("sharing", Duration::from_secs(600)), SimulationOptions::checked());
    let link = |mbps: u64, delay_us, queue| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_micros(delay_us))
            .with_queue(QueueLimit::Bytes(ByteCount::new(queue)))
    };
    let (origin, core, switch) = (plan.router("origin"), plan.router("core"), plan.router("switch"));
    let access = plan.symmetric_link("access", [origin, core], link(1000, 100, 10_000_000));
    let names: Vec<String> = (0..uplinks_mbps.len()).map(|index| format!("member{index}")).collect();
    let members: Vec<NodeId> = names.iter().map(|name| plan.router(name)).collect();
    let places = Places { origin, members: members.clone() };
    let mut hasher = PieceHasher::new(file.0.len() as u64).unwrap();
    hasher.update(&file.0);
    let shelf = OriginShelf([Arc::clone(file), InMemory::new(hasher.finish())]);
    let server = Server::new(origin_key(), ServerConfig::default(), shelf, entropy(seed, 2));
    options.forward_by(
        "origin",
        OriginNode { server, places: places.clone(), link: access, alarm: Alarm::default() },
    );
    for (index, &mbps) in uplinks_mbps.iter().enumerate() {
        // A tenth of a second of queue.
        let uplink = link(mbps, 15_000, mbps * 12_500);
        let uplink = plan.symmetric_link(&format!("uplink{index}"), [core, members[index]], uplink);
        let lan = link(100, 500, 1_000_000);
        let lan = plan.symmetric_link(&format!("lan{index}"), [switch, members[index]], lan);
        let neighbours = (0..members.len()).filter(|other| *other != index).map(lan_address).collect();
        let path = PathSpec {
            link: UPLINK,
            address: origin_address(),
            key: origin_key().public(),
            object: "file".to_string(),
            cost: Cost(0),
        };
        let config = MemberConfig {
            origin: vec![path],
            neighbour_link: LAN,
            neighbours,
            secret: CommunitySecret::new("the secret of the community").unwrap(),
            digest: Some(file.1.digest),
            max_size: None,
            give_up_after: Duration::from_secs(60),
        };
        let node = MemberNode {
            config,
            index,
            seed,
            member: None,
            places: places.clone(),
            links: [uplink, lan],
            kept: Arc::new(Mutex::new(vec![0; file.0.len()])),
            complete_at: None,
            alarm: Alarm::default(),
        };
        options.forward_by(&names[index], node);
    }
    (Simulation::from_plan(&plan, Seed(seed), options).unwrap(), members)
}

/// When the last member had everything, and how many copies of the file left the origin.
fn run(file: &Arc<InMemory>, uplinks_mbps: &[u64], seed: u64) -> (f64, f64) {
    let (mut simulation, members) = build(file, uplinks_mbps, seed);
    let node = |simulation: &Simulation, member| {
        let node = simulation.node_as::<MemberNode>(member).unwrap();
        (node.complete_at, node.counters(), *node.kept.lock().unwrap() == file.0)
    };
    let mut until = Instant::ZERO;
    while members
        .iter()
        .any(|member| simulation.node_as::<MemberNode>(*member).unwrap().complete_at.is_none())
    {
        until += Duration::from_millis(500);
        assert!(until < Instant::from_secs(120), "two minutes have passed");
        simulation.run_until(until);
    }
    let (mut last, mut from_origin) = (Instant::ZERO, 0);
    for &member in &members {
        let (complete_at, counters, is_whole) = node(&simulation, member);
        assert!(is_whole, "bytes differ");
        assert_eq!(counters.origin_bytes + counters.neighbour_bytes, FILE_BYTES as u64, "every byte once");
        assert_eq!(counters.plan.wrong, 0);
        last = last.max(complete_at.unwrap());
        from_origin += counters.origin_bytes + counters.wasted_bytes;
    }
    (last.as_secs_f64(), from_origin as f64 / FILE_BYTES as f64)
}

#[test]
fn members_need_the_time_of_the_file_over_the_sum_of_their_uplinks() {
    let file = InMemory::new(content());
    println!("uplinks, Mbit/s     closed form s  measured s   ratio  copies from the origin");
    let communities: [&[u64]; 6] = [&[8], &[8, 8], &[8, 8, 8], &[8, 8, 8, 8], &[16, 4], &[20, 10, 5]];
    for uplinks in communities {
        let sum: u64 = uplinks.iter().sum();
        let ideal = 8e-6 * FILE_BYTES as f64 / sum as f64;
        let (took, copies) = run(&file, uplinks, 1);
        println!("{:18} {ideal:14.2} {took:11.2} {:7.2} {copies:11.2}", format!("{uplinks:?}"), took / ideal);
        // What a download alone over one such link takes too: headers (1.07), handshakes, and CUBIC in a short queue.
        assert!(took < 1.3 * ideal, "{took} s, {ideal} s at best");
        assert!(copies < 1.1, "{copies} copies left the origin");
    }
}
