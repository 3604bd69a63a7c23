//! Several workers: the order of each link, nothing lost by them, and their end.
use crate::network::{Network, SENDER};
use crate::process::{Daemon, PATIENCE, wait_for};
use crate::sealed::{Keys, Said, Tap, start_member_with, start_proxy_with};
use crate::transfer::{Direction, Transfer};
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const MEGABYTE: u64 = 1_000_000;
const WORKERS: &str = "workers = 4\n";
/// Datagrams of each numbered flow.
const DATAGRAMS: u32 = 1500;
const FLOWS: u16 = 8;
/// So many of each flow are sent at once.
const BURST: u32 = 10;
/// So many of twelve thousand may be lost between two namespaces: a busy kernel drops packets between devices that no
/// socket counts, and no worker is to blame for those.
const KERNEL_LOSSES: usize = 6;

/// What workers have been given, and what the deciding thread did by itself: "sent" or "opened".
fn handled(daemon: &Daemon, what: &str) -> u64 {
    let own = daemon.number(&format!("/workers/own_{what}_packets"));
    own + by_workers(daemon, what)
}

fn by_workers(daemon: &Daemon, what: &str) -> u64 {
    let status = daemon.status().expect("the daemon answers");
    let threads = status["workers"]["threads"].as_array().unwrap().iter();
    threads.map(|thread| thread[format!("{what}_packets")].as_u64().unwrap()).sum()
}

/// Workers that have done something.
fn busy(daemon: &Daemon) -> usize {
    let status = daemon.status().expect("the daemon answers");
    let threads = status["workers"]["threads"].as_array().unwrap();
    threads.iter().filter(|thread| thread["batches"].as_u64() > Some(0)).count()
}

/// Whether it is the message of a session that carries something.
fn carries(&(begin, length): &Said) -> bool {
    const EMPTY: usize = 32;
    begin.starts_with(&[4, 0, 0, 0]) && length > EMPTY
}

/// Packets of a link that came behind one with a higher number of the same session.
fn overtaken(said: &[Said]) -> usize {
    let mut highest: HashMap<[u8; 4], u64> = HashMap::new();
    let mut overtaken = 0;
    for (begin, _) in said.iter().filter(|said| carries(said)) {
        let session: [u8; 4] = begin[4..8].try_into().unwrap();
        let number = u64::from_le_bytes(begin[8..].try_into().unwrap());
        let highest = highest.entry(session).or_default();
        overtaken += usize::from(number < *highest);
        *highest = number.max(*highest);
    }
    overtaken
}

/// Flows of numbered datagrams from the sender to the receiver.
struct Numbered {
    flows: Vec<(UdpSocket, UdpSocket)>,
    /// What has arrived, by flow.
    arrived: Vec<Vec<u32>>,
}

impl Numbered {
    fn open(network: &Network) -> Self {
        let address = |port: u16| SocketAddr::from(([10, 77, 0, 2], port));
        let open = |local: SocketAddr| {
            let socket = UdpSocket::bind(local).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let flow = |port: u16| {
            let receiver = network.receiver.enter(|| open(address(port))).unwrap();
            let sender = network.sender.enter(|| open(SocketAddr::from(([10, 1, 0, 1], port)))).unwrap();
            sender.connect(address(port)).unwrap();
            (sender, receiver)
        };
        let flows: Vec<_> = (7000..7000 + FLOWS).map(flow).collect();
        let arrived = flows.iter().map(|_| Vec::new()).collect();
        Self { flows, arrived }
    }

    /// Sends the next ten of each flow.
    fn send(&self, first: u32) {
        for (sender, _) in &self.flows {
            for number in first..first + BURST {
                let mut datagram = [0; 200];
                datagram[..4].copy_from_slice(&number.to_be_bytes());
                sender.send(&datagram).unwrap();
            }
        }
    }

    /// Takes what has arrived, and returns how much that is altogether.
    fn arrived(&mut self) -> usize {
        for ((_, receiver), numbers) in self.flows.iter().zip(&mut self.arrived) {
            let mut buffer = [0; 400];
            while receiver.recv(&mut buffer).is_ok() {
                numbers.push(u32::from_be_bytes(*buffer.first_chunk().unwrap()));
            }
        }
        self.arrived.iter().map(Vec::len).sum()
    }

    /// Waits until no more than so many are under way or lost.
    fn wait_for(&mut self, sent: usize, missing: usize) {
        let deadline = Instant::now() + PATIENCE;
        while sent.saturating_sub(self.arrived()) > missing {
            assert!(Instant::now() < deadline, "of {sent} datagrams {} arrived", self.arrived());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Sends numbered datagrams of several flows to the receiver in bursts, and expects each flow in order and as good as
/// whole. Never are more under way than what the sockets between hold.
fn numbered_datagrams(network: &Network) {
    let mut numbered = Numbered::open(network);
    let burst = usize::from(FLOWS) * BURST as usize;
    let mut sent = 0;
    for first in (0..DATAGRAMS).step_by(BURST as usize) {
        numbered.wait_for(sent, burst + KERNEL_LOSSES);
        numbered.send(first);
        sent += burst;
        std::thread::sleep(Duration::from_millis(4));
    }
    numbered.wait_for(sent, KERNEL_LOSSES);
    for numbers in numbered.arrived {
        assert!(numbers.is_sorted_by(|a, b| a < b), "out of order: {numbers:?}");
    }
}

/// What is played back or forged in bursts, so that workers get it, is refused as by one thread.
fn forged(proxy: &Daemon, tap: &Tap) {
    for reason in ["replayed", "forged"] {
        assert_eq!(proxy.number(&format!("/drops/{reason}")), 0, "{reason}");
    }
    let recorded = tap.recorded();
    let last = recorded.iter().rev().find(|up| up.starts_with(&[4, 0, 0, 0]) && up.len() > 100).unwrap();
    for number in 0..40 {
        let mut changed = last.clone();
        // Numbers that have not been.
        changed[12] = 1;
        changed[8] = number;
        changed[60] ^= 1;
        tap.uplink.send(&changed).unwrap();
        tap.uplink.send(last).unwrap();
    }
    wait_for("all are refused", || {
        (proxy.number("/drops/forged"), proxy.number("/drops/replayed")) == (40, 40)
    });
}

/// Two links, four workers at each end of them, sealed: flows of numbered datagrams, and TCP both ways.
pub fn order() {
    let network = Network::new("workers");
    let keys = Keys::make(&network);
    let proxy = start_proxy_with(&network, &keys, WORKERS);
    let taps = [
        Tap::start(&network.proxy, "10.2.1.1:4800", "10.2.1.1:51820"),
        Tap::start(&network.proxy, "10.2.2.1:4800", "10.2.2.1:51820"),
    ];
    let member = |n: usize| start_member_with(&network, &keys, n, &taps[n - 1].address.to_string(), WORKERS);
    let members = [member(1), member(2)];
    wait_for("both members join", || proxy.links_up().len() == 2);

    numbered_datagrams(&network);
    let downs = |tap: &Tap| tap.said().iter().filter(|said| carries(said)).count() as u64;
    let down = || -> u64 { taps.iter().map(downs).sum() };
    let lost = KERNEL_LOSSES as u64;
    wait_for("all that was handed to workers has left", || handled(&proxy, "sent") <= down() + lost);
    let opened = || -> u64 { members.iter().map(|member| handled(member, "opened")).sum() };
    wait_for("and has been opened", || opened() + lost >= down());
    // A TCP sender that outruns them is another matter: then packets are dropped, and counted.
    assert_eq!(proxy.number("/workers/refused_packets"), 0);
    assert_eq!(proxy.number("/drops/send_buffer_full"), 0);

    Transfer::start(&network, SENDER, Direction::Download, 20 * MEGABYTE, None).finish(20 * MEGABYTE);
    Transfer::start(&network, SENDER, Direction::Upload, 10 * MEGABYTE, None).finish(10 * MEGABYTE);
    for tap in &taps {
        let ups: Vec<Said> = tap.recorded().iter().map(|up| (*up.first_chunk().unwrap(), up.len())).collect();
        let downs = tap.said();
        assert!(downs.iter().filter(|said| carries(said)).count() > 1000, "both links are used");
        assert_eq!((overtaken(&downs), overtaken(&ups)), (0, 0), "packets that were overtaken on their link");
    }
    // The receiver's answers take the way through the first member.
    assert!(members[0].number("/return_packets") > 5000 && busy(&members[0]) >= 1);
    assert!(busy(&proxy) >= 2, "each link has a worker of its own: {:?}", proxy.status());
    // On a busy machine what arrives may come in small pieces, and those the deciding thread opens.
    wait_for("workers open too", || {
        Transfer::start(&network, SENDER, Direction::Download, 10 * MEGABYTE, None).finish(10 * MEGABYTE);
        [&proxy, &members[0], &members[1]].iter().all(|daemon| by_workers(daemon, "opened") > 500)
    });
    forged(&proxy, &taps[0]);
    for daemon in [&proxy, &members[0], &members[1]] {
        for reason in ["send_failed", "malformed_tunnel"] {
            assert_eq!(daemon.number(&format!("/drops/{reason}")), 0, "{reason}");
        }
    }
}

/// A proxy killed in mid-transfer and started again with another number of workers; then one that is asked to end.
pub fn restarts() {
    let network = Network::new("workers-restart");
    let keys = Keys::make(&network);
    let proxy = start_proxy_with(&network, &keys, WORKERS);
    let member = |n: usize| start_member_with(&network, &keys, n, &format!("10.2.{n}.1"), WORKERS);
    let members = [member(1), member(2)];
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 40 * MEGABYTE;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, None);
    wait_for("it is under way", || proxy.number("/counters/data_packets") > 2000);
    proxy.kill();
    let proxy = start_proxy_with(&network, &keys, "workers = 1\n");
    wait_for("both are back", || proxy.links_up().len() == 2);
    transfer.finish(bytes);
    assert!(busy(&proxy) == 1);

    let start = Instant::now();
    proxy.stop();
    members.into_iter().for_each(Daemon::stop);
    assert!(start.elapsed() < Duration::from_secs(20), "workers end with their daemon");
}
