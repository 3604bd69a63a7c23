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

/// Sends numbered datagrams of several flows to the receiver in bursts, and expects each flow whole and in order.
fn numbered_datagrams(network: &Network) {
    let address = |port: u16| SocketAddr::from(([10, 77, 0, 2], port));
    let open = |local: SocketAddr| {
        let socket = UdpSocket::bind(local).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    };
    let ports = 7000..7000 + FLOWS;
    let receivers: Vec<UdpSocket> =
        network.receiver.enter(|| ports.clone().map(|port| open(address(port))).collect()).unwrap();
    let senders: Vec<UdpSocket> = network
        .sender
        .enter(|| ports.clone().map(|port| open(SocketAddr::from(([10, 1, 0, 1], port)))).collect())
        .unwrap();
    let counting = receivers.into_iter().map(|receiver| {
        std::thread::spawn(move || {
            let numbers = (0..DATAGRAMS).map(|_| {
                let mut buffer = [0; 400];
                receiver.recv(&mut buffer).expect("a datagram is lost");
                u32::from_be_bytes(*buffer.first_chunk().unwrap())
            });
            numbers.collect::<Vec<u32>>()
        })
    });
    let counting: Vec<_> = counting.collect();
    for burst in 0..DATAGRAMS / 10 {
        for (sender, port) in senders.iter().zip(ports.clone()) {
            for number in burst * 10..burst * 10 + 10 {
                let mut datagram = [0; 200];
                datagram[..4].copy_from_slice(&number.to_be_bytes());
                sender.send_to(&datagram, address(port)).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    for flow in counting {
        let numbers = flow.join().unwrap();
        assert!(numbers.iter().copied().eq(0..DATAGRAMS), "out of order: {numbers:?}");
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
    wait_for("all that was handed to workers has left", || handled(&proxy, "sent") == down());
    let opened = || -> u64 { members.iter().map(|member| handled(member, "opened")).sum() };
    wait_for("and has been opened", || opened() >= down());

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
    for daemon in [&proxy, &members[0], &members[1]] {
        assert!(by_workers(daemon, "opened") > 500, "workers open too: {:?}", daemon.status());
    }
    forged(&proxy, &taps[0]);
    for daemon in [&proxy, &members[0], &members[1]] {
        assert_eq!(daemon.number("/workers/refused_packets"), 0);
        for reason in ["send_failed", "send_buffer_full", "malformed_tunnel"] {
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
