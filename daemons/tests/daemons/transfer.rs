//! TCP through the kernel: numbered bytes, paced if need be, compared by SHA-256.
use crate::network::Network;
use crate::process::PATIENCE;
use prismux_linux::interrupted::uninterrupted;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A transfer under way. The side that accepts stands at the sender's address.
pub struct Transfer {
    /// Bytes that have arrived.
    arrived: Arc<AtomicU64>,
    receiver: JoinHandle<[u8; 32]>,
    source: JoinHandle<[u8; 32]>,
}

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Download,
    Upload,
}

impl Transfer {
    /// Starts moving `bytes` between the sender (at `server`) and the receiver, no faster than `rate_bps`.
    pub fn start(
        network: &Network,
        server: &str,
        direction: Direction,
        bytes: u64,
        rate_bps: Option<u64>,
    ) -> Self {
        let server: IpAddr = server.parse().unwrap();
        let listener = network.sender.enter(|| TcpListener::bind((server, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let receiver_space = network.receiver.clone();
        let (server_side, client_side) = (mpsc::channel(), mpsc::channel());
        std::thread::spawn(move || server_side.0.send(listener.accept().map(|(stream, _)| stream)));
        std::thread::spawn(move || {
            let connect = || TcpStream::connect_timeout(&address, PATIENCE);
            client_side.0.send(receiver_space.enter(connect).unwrap())
        });
        let client = client_side.1.recv_timeout(PATIENCE).expect("connecting in time").expect("a connection");
        let server = server_side.1.recv_timeout(PATIENCE).expect("accepting in time").expect("a connection");
        let (from, to) = match direction {
            Direction::Download => (server, client),
            Direction::Upload => (client, server),
        };
        let arrived = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&arrived);
        Self {
            arrived,
            source: std::thread::spawn(move || send(from, bytes, rate_bps)),
            receiver: std::thread::spawn(move || receive(to, &counter)),
        }
    }

    /// Bytes that have arrived so far.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Waits for the end and compares what was sent with what arrived.
    pub fn finish(self, bytes: u64) {
        let sent = self.source.join().expect("sending to the end");
        let received = self.receiver.join().expect("receiving to the end");
        assert_eq!(self.arrived.load(Ordering::Relaxed), bytes);
        assert_eq!(received, sent, "sha256 of what arrived");
    }
}

fn send(mut stream: TcpStream, bytes: u64, rate_bps: Option<u64>) -> [u8; 32] {
    let start = Instant::now();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut digest = Sha256::new();
    let mut block = [0u8; 16 * 1024];
    let mut position = 0;
    while position < bytes {
        let length = block.len().min((bytes - position) as usize);
        for (offset, byte) in block[..length].iter_mut().enumerate() {
            // Never the same at any two offsets that a lost or repeated segment could confuse.
            *byte = ((position + offset as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
        }
        digest.update(&block[..length]);
        stream.write_all(&block[..length]).expect("the connection goes on");
        position += length as u64;
        if let Some(bps) = rate_bps {
            let due = Duration::from_secs_f64(position as f64 * 8.0 / bps as f64);
            std::thread::sleep(due.saturating_sub(start.elapsed()));
        }
    }
    digest.finalize().into()
}

fn receive(mut stream: TcpStream, arrived: &AtomicU64) -> [u8; 32] {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut digest = Sha256::new();
    let mut block = [0u8; 64 * 1024];
    loop {
        match uninterrupted(|| stream.read(&mut block)).expect("the connection goes on") {
            0 => return digest.finalize().into(),
            length => {
                digest.update(&block[..length]);
                arrived.fetch_add(length as u64, Ordering::Relaxed);
            }
        }
    }
}
