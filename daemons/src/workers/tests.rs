use super::lanes::Lanes;
use super::{Crew, Done, Worker, Workers, batch::Exit};
use crate::tunnel::Peer;
use prismux_linux::interrupted::uninterrupted;
use std::net::{SocketAddr, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};
use std::time::{Duration, Instant};

fn exit() -> Arc<Exit> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap().into();
    Arc::new(Exit { socket, is_udp: true, datagram_bytes: 1500 })
}

fn receiver() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn push(lanes: &mut Lanes, to: SocketAddr, number: u32) {
    lanes.push_plain(Peer::udp(to), to, 0, (&number.to_be_bytes(), b"packet"));
}

fn number(socket: &UdpSocket) -> u32 {
    let mut buffer = [0; 100];
    let length = uninterrupted(|| socket.recv(&mut buffer)).unwrap();
    assert_eq!(&buffer[4..length], b"packet");
    u32::from_be_bytes(*buffer.first_chunk().unwrap())
}

/// A worker that takes nothing from its queue until it is let go.
fn stuck() -> (Workers, std::sync::mpsc::Sender<()>) {
    let (queue, batches) = sync_channel(64);
    let (let_go, wait) = channel();
    let thread = std::thread::spawn(move || {
        let _ = wait.recv();
        drop(batches);
    });
    let worker = Worker { queue: Some(queue), thread: Some(thread), done: Arc::new(Done::default()) };
    let mut crew = Crew::default();
    crew.workers.push(worker);
    (Workers(Rc::new(crew)), let_go)
}

#[test]
fn a_link_keeps_its_order_whoever_sends() {
    let workers = Workers::start(3).unwrap();
    let mut lanes = Lanes::new(&workers, &exit()).unwrap();
    let (socket, to) = receiver();
    let mut sent = 0;
    // Few go by this thread, many by a worker.
    for size in [1, 30, 2, 64, 5, 9, 1, 1, 20] {
        for _ in 0..size {
            push(&mut lanes, to, sent);
            sent += 1;
        }
        lanes.flush();
    }
    assert!((0..sent).all(|expected| number(&socket) == expected));
    assert_eq!(lanes.failures().count(), 0);
}

#[test]
fn a_daemon_that_ends_has_sent_what_it_handed_over() {
    let workers = Workers::start(1).unwrap();
    let mut lanes = Lanes::new(&workers, &exit()).unwrap();
    let (socket, to) = receiver();
    (0..50).for_each(|number| push(&mut lanes, to, number));
    lanes.flush();
    drop((lanes, workers));
    assert!((0..50).all(|expected| number(&socket) == expected));
}

#[test]
fn a_worker_that_does_not_keep_up_holds_the_others_up_for_a_moment_and_costs_packets() {
    let (workers, let_go) = stuck();
    let mut lanes = Lanes::new(&workers, &exit()).unwrap();
    let (_socket, to) = receiver();
    let start = Instant::now();
    (0..64 * 100).for_each(|number| push(&mut lanes, to, number));
    // 84 batches found no room: one wait for all of them.
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(workers.0.refused_packets.get(), 84 * 64);
    let failures: Vec<_> = lanes.failures().collect();
    assert_eq!(failures.len(), 84 * 64);
    assert!(failures.iter().all(|failure| failure.error.raw_os_error() == Some(libc::ENOBUFS)));
    drop(let_go);
}

#[test]
fn without_its_worker_a_link_is_served_by_the_deciding_thread() {
    let (workers, let_go) = stuck();
    let mut lanes = Lanes::new(&workers, &exit()).unwrap();
    let (socket, to) = receiver();
    drop(let_go);
    while !workers.is_gone(0) {
        std::thread::yield_now();
    }
    (0..64).for_each(|number| push(&mut lanes, to, number));
    assert!((0..64).all(|expected| number(&socket) == expected));
}

#[test]
fn what_the_kernel_does_not_take_is_told() {
    let workers = Workers::start(1).unwrap();
    let mut lanes = Lanes::new(&workers, &exit()).unwrap();
    // A socket that has not asked for broadcasts may not send any.
    let nowhere: SocketAddr = "255.255.255.255:9".parse().unwrap();
    (0..10).for_each(|number| push(&mut lanes, nowhere, number));
    let start = Instant::now();
    let mut failures = Vec::new();
    while failures.len() < 10 && start.elapsed() < Duration::from_secs(10) {
        lanes.flush();
        failures.extend(lanes.failures());
    }
    assert_eq!(failures.len(), 10);
    assert!(failures.iter().all(|failure| failure.packet == b"packet" && failure.to == nowhere));
}
