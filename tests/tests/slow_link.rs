//! Downloads over a slow link that loses packets: `fetch` against the simulator's TCP, in virtual time over the same
//! link with the same buffer.
//!
//! On 8 Mbit/s, 60 ms each way, 0.3 % loss any sender that halves (or takes three tenths off) for each loss settles
//! near 1.22 segments / (round trip * sqrt(loss)), 2.1 Mbit/s (M. Mathis et al., 1997), whatever it got in its first
//! ten seconds, when slow start has filled the queue and few packets have been lost. Both must do what such a sender
//! can.
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_fetch::Entropy;
use prismux_fetch::client::{self, Download, DownloadConfig, DownloadEvent, PathSpec, Transport};
use prismux_fetch::digest::Digest;
use prismux_fetch::handshake::Identity;
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{self, Lookup, Object, Objects, Server, ServerConfig, Unreadable};
use prismux_link::{Link, LinkConfig, LossModel, QueueLimit};
use prismux_r2cp::policy::Cost;
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;
use prismux_study::run::{self, RunOptions};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use prismux_wire::Ecn;
use std::net::SocketAddr;
use std::sync::Arc;

const SECONDS: u64 = 60;
const SEEDS: u64 = 6;
/// IPv4 and UDP.
const HEADER_BYTES: u32 = 28;

const BY_TCP: &str = r#"
duration = "60 s"
[nodes]
server = { kind = "host" }
client = { kind = "host" }
[links]
slow = { between = ["server", "client"], rate = "8 Mbit/s", delay = "60 ms", loss = 0.003, queue = "120 kB" }
[flows]
download = { from = "server", to = "client" }
"#;

/// More bytes than come through, all of them zero.
struct Zeros;

impl Object for Zeros {
    fn identity(&self) -> Identity {
        Identity { size: 1 << 30, digest: Digest([0; 32]) }
    }
    fn read_at(&self, _: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        buffer.fill(0);
        Ok(())
    }
    fn is_unchanged(&self) -> bool {
        true
    }
}

struct Shelf;

impl Objects for Shelf {
    fn find(&mut self, _: &str) -> Lookup {
        Lookup::Ready(Arc::new(Zeros))
    }
}

type Wire = Link<(Ecn, Vec<u8>)>;

/// One direction of the link.
fn direction(seed: u64, name: &str) -> Wire {
    let loss = LossModel::Bernoulli(Probability::new(0.003).expect("a chance"));
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::from_millis(60))
        .with_queue(QueueLimit::Bytes(ByteCount::new(120_000)))
        .with_loss(loss);
    Link::new(&config, Seed(seed), name)
}

fn send(link: &mut Wire, now: Instant, ecn: Ecn, datagram: &[u8]) {
    // What finds no room is lost.
    let _ = link.enqueue(now, datagram.len() as u32 + HEADER_BYTES, (ecn, datagram.to_vec()));
}

/// A server, the link, and a download that never ends.
struct Fetch {
    server: Server<Shelf>,
    download: Download,
    down: Wire,
    up: Wire,
    at_server: SocketAddr,
    at_client: SocketAddr,
    received_bytes: u64,
}

impl Fetch {
    fn new(transport: Transport, seed: u64, now: Instant) -> Self {
        let entropy = |index: u8| Entropy::from_seed([seed as u8 * 3 + index; 32]);
        let key = ServerKey::generate(&mut entropy(0));
        let at_server = SocketAddr::from(([192, 0, 2, 1], 4717));
        let object = "object".to_string();
        let path = PathSpec { link: 0, address: at_server, key: key.public(), object, cost: Cost(0) };
        let config = DownloadConfig { transport, ..DownloadConfig::default() };
        Self {
            server: Server::new(key, ServerConfig::default(), Shelf, entropy(1)),
            download: Download::new(config, [path], entropy(2), now),
            down: direction(seed, "down"),
            up: direction(seed, "up"),
            at_server,
            at_client: SocketAddr::from(([198, 51, 100, 1], 5000)),
            received_bytes: 0,
        }
    }

    fn drain(&mut self, now: Instant) {
        while let Some(transmit) = self.server.poll_transmit(now) {
            send(&mut self.down, now, transmit.ecn, self.server.datagram());
        }
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.download, now) {
            match output {
                Output::Transmit(transmit) => send(&mut self.up, now, transmit.ecn, self.download.datagram()),
                Output::Event(DownloadEvent::Received { part, .. }) => {
                    self.received_bytes += part.len() as u64
                }
                Output::Event(_) => {}
            }
        }
    }

    /// Lets the earliest thing happen; when that was.
    fn step(&mut self, now: Instant) -> Instant {
        self.drain(now);
        let deadlines = [self.server.poll_timeout(), self.download.poll_timeout()];
        let deadlines = deadlines.into_iter().flatten().map(|deadline| deadline.at);
        let wakeups = [self.down.next_wakeup(), self.up.next_wakeup()].into_iter().flatten();
        let now = deadlines.chain(wakeups).min().map_or(now, |at| at.max(now));
        expire(&mut self.server, now);
        expire(&mut self.download, now);
        self.drain(now);
        while let Some(arrival) = self.up.poll_delivery(now) {
            let (ecn, bytes) = &arrival.packet;
            let (from, local) = (self.at_client, self.at_server);
            self.server.handle_input(now, server::Received { from, local, ecn: *ecn, bytes });
            self.drain(now);
        }
        while let Some(arrival) = self.down.poll_delivery(now) {
            let (ecn, bytes) = &arrival.packet;
            let from = self.at_server;
            self.download.handle_input(now, client::Received { link: 0, from, ecn: *ecn, bytes });
            self.drain(now);
        }
        now
    }
}

/// Goodput of `fetch`, in Mbit/s.
fn by_fetch(transport: Transport, seed: u64) -> f64 {
    let mut now = Instant::ZERO;
    let mut fetch = Fetch::new(transport, seed, now);
    while now < Instant::from_secs(SECONDS) {
        now = fetch.step(now);
    }
    fetch.received_bytes as f64 * 8e-6 / SECONDS as f64
}

/// Goodput of the simulator's TCP (CUBIC, RACK-TLP), in Mbit/s.
fn by_tcp(seed: u64) -> f64 {
    let file = ScenarioFile::from_text("slow-link.toml", BY_TCP);
    let scenario = file.scenario(None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { seed, ..RunOptions::default() };
    let result = run::run(&scenario, Backend::Sim, &options).unwrap_or_else(|error| panic!("{error}"));
    result.flows["download"].bytes as f64 * 8e-6 / SECONDS as f64
}

#[test]
fn over_a_slow_link_with_losses_fetch_is_as_quick_as_tcp() {
    let mean = |goodput: &(dyn Fn(u64) -> f64 + Sync)| {
        std::thread::scope(|scope| {
            let runs: Vec<_> = (1..=SEEDS).map(|seed| scope.spawn(move || goodput(seed))).collect();
            runs.into_iter().map(|run| run.join().expect("the run ends")).sum::<f64>() / SEEDS as f64
        })
    };
    let tcp = mean(&by_tcp);
    for transport in [Transport::R2cp, Transport::Ptcp] {
        let fetch = mean(&move |seed| by_fetch(transport, seed));
        println!("{transport}: {fetch:.2} Mbit/s, TCP {tcp:.2} Mbit/s; seeds 1 to {SEEDS}, {SECONDS} s each");
        // Its segments are shorter by a tenth, and losses limit segments for each round trip.
        assert!(fetch > 0.8 * tcp, "{transport}: {fetch:.2} Mbit/s, TCP {tcp:.2} Mbit/s");
    }
}
