//! TCP between a host behind the home and one in the internet: bytes that depend on their place, and when they came.
use crate::network::{INTERNET, Network};
use prismux_linux::interrupted::uninterrupted;
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// No pause of a transfer may be longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The congestion control of senders that are said nothing else.
pub const CONTROL: &str = "cubic";

/// Which way the bytes go, as index of a line's directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Down = 0,
    Up = 1,
}

/// A transfer under way.
pub struct Transfer {
    /// When how many bytes in all had come.
    arrivals: Arc<Mutex<Vec<(Instant, u64)>>>,
    sender: JoinHandle<()>,
    receiver: JoinHandle<()>,
    /// Both ends, to end it early.
    ends: [TcpStream; 2],
    given_up: Arc<AtomicBool>,
    bytes: u64,
}

impl Transfer {
    /// Between the first home's network and the internet.
    pub fn start(network: &Network, direction: Direction, bytes: u64) -> Self {
        Self::start_at(network, 0, direction, bytes)
    }

    /// Between the network behind the home of this number and the internet.
    pub fn start_at(network: &Network, home: usize, direction: Direction, bytes: u64) -> Self {
        Self::start_with(network, home, INTERNET, direction, bytes)
    }

    /// Between the network behind the home of this number and a host in the internet.
    pub fn start_with(network: &Network, home: usize, host: &str, direction: Direction, bytes: u64) -> Self {
        let listener = network.internet.enter(|| TcpListener::bind((host, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let lan = network.sites[home].lan.clone();
        let connecting =
            std::thread::spawn(move || lan.enter(|| TcpStream::connect_timeout(&address, PATIENCE)));
        let inside = connecting.join().unwrap().unwrap().expect("a connection");
        let (outside, _) = listener.accept().expect("a connection");
        let (from, to) = if direction == Direction::Down { (outside, inside) } else { (inside, outside) };
        Self::between(from, to, CONTROL, bytes)
    }

    /// From one end of a connection to the other, with this congestion control.
    pub fn between(from: TcpStream, to: TcpStream, control: &str, bytes: u64) -> Self {
        // A namespace may have a default that others may not change.
        SockRef::from(&from)
            .set_tcp_congestion(control.as_bytes())
            .expect("a congestion control of this kernel");
        let arrivals = Arc::default();
        let log = Arc::clone(&arrivals);
        let ends = [&from, &to].map(|end| end.try_clone().expect("a second handle"));
        let given_up = Arc::new(AtomicBool::new(false));
        let [sends, receives] = [given_up.clone(), given_up.clone()];
        let sender = std::thread::spawn(move || send(from, bytes, &sends));
        let receiver = std::thread::spawn(move || receive(to, &log, &receives));
        Self { arrivals, sender, receiver, ends, given_up, bytes }
    }

    /// Ends a transfer whose connection is not meant to go on.
    pub fn give_up(self) {
        self.given_up.store(true, Ordering::Relaxed);
        for end in &self.ends {
            // Whatever has become of it.
            let _ = end.shutdown(Shutdown::Both);
        }
        self.sender.join().expect("sending until it is given up");
        self.receiver.join().expect("receiving until it is given up, each byte in its place");
    }

    /// Bytes that have come so far.
    pub fn arrived(&self) -> u64 {
        self.arrivals.lock().unwrap().last().map_or(0, |&(_, bytes)| bytes)
    }

    /// The longest time without a byte between two instants, so far.
    pub fn longest_pause(&self, from: Instant, to: Instant) -> Duration {
        longest_pause(&self.arrivals.lock().unwrap(), from, to)
    }

    /// Waits for the end; returns when how many bytes had come.
    pub fn finish(self) -> Vec<(Instant, u64)> {
        // The receiver sees the end when nobody holds the sender's socket any more.
        drop(self.ends);
        self.sender.join().expect("sending to the end");
        self.receiver.join().expect("receiving to the end, each byte in its place");
        let arrivals = std::mem::take(&mut *self.arrivals.lock().unwrap());
        assert_eq!(arrivals.last().map(|&(_, bytes)| bytes), Some(self.bytes));
        arrivals
    }
}

/// The longest time without a byte between two instants.
pub fn longest_pause(arrivals: &[(Instant, u64)], from: Instant, to: Instant) -> Duration {
    let times = arrivals.iter().map(|&(at, _)| at);
    let within: Vec<Instant> = times.filter(|at| (from..to).contains(at)).collect();
    let before = arrivals.iter().map(|&(at, _)| at).filter(|&at| at < from).max();
    let all: Vec<Instant> = before.into_iter().chain(within).collect();
    all.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(to - from)
}

/// Bits in a second from the first `skip` on.
pub fn goodput_bps(arrivals: &[(Instant, u64)], skip: Duration) -> f64 {
    let begin = arrivals[0].0 + skip;
    let (first, last) = (arrivals.iter().find(|(at, _)| *at >= begin).unwrap(), arrivals.last().unwrap());
    (last.1 - first.1) as f64 * 8.0 / (last.0 - first.0).as_secs_f64()
}

/// The byte at a place: never the same at two offsets that a lost or repeated segment could confuse.
fn byte_at(place: u64) -> u8 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

fn send(mut stream: TcpStream, bytes: u64, given_up: &AtomicBool) {
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut place = 0;
    while place < bytes {
        let length = (bytes - place).min(16 * 1024);
        let block: Vec<u8> = (place..place + length).map(byte_at).collect();
        let written = stream.write_all(&block);
        if given_up.load(Ordering::Relaxed) {
            return;
        }
        written.expect("the connection goes on");
        place += length;
    }
}

fn receive(mut stream: TcpStream, log: &Mutex<Vec<(Instant, u64)>>, given_up: &AtomicBool) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut place, mut block) = (0, [0; 64 * 1024]);
    loop {
        let read = uninterrupted(|| stream.read(&mut block));
        if given_up.load(Ordering::Relaxed) {
            return;
        }
        let length = read.expect("the connection goes on");
        if length == 0 {
            return;
        }
        let right = block[..length].iter().zip(place..).all(|(&byte, place)| byte == byte_at(place));
        assert!(right, "the bytes from {place} on are others");
        place += length as u64;
        log.lock().unwrap().push((Instant::now(), place));
    }
}
