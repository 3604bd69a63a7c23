//! A link of known behaviour between proxy and member, in user space: it delays, reorders and drops by count, and keeps
//! the truth.
use prismux_linux::namespace::Namespace;
use prismux_linux::socket_option;
use std::collections::BinaryHeap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// One way, each way.
pub const DELAY: Duration = Duration::from_millis(15);
/// What a packet that is overtaken takes more.
pub const EXTRA_DELAY: Duration = Duration::from_millis(8);
/// Of the packets with numbers, every so many is dropped,
const DROPPED: u64 = 50;
/// and every so many is overtaken.
const OVERTAKEN: u64 = 20;

/// The first flag byte of a GRE header with a sequence number (RFC 2890).
const NUMBERED: u8 = 0x10;

/// A relay for GRE in UDP, until it is dropped.
pub struct Relay {
    /// Where the member finds its proxy.
    pub address: SocketAddr,
    truth: Arc<Truth>,
    thread: Option<JoinHandle<()>>,
}

/// What the relay did to packets with numbers.
#[derive(Default)]
struct Truth {
    seen: AtomicU64,
    dropped: AtomicU64,
    ended: AtomicBool,
}

/// A datagram on its way; the earliest is the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct OnItsWay {
    at: std::cmp::Reverse<(Instant, u64)>,
    to_proxy: bool,
    bytes: Vec<u8>,
}

impl Relay {
    /// A relay in `space` at `local`, in front of the proxy at `proxy`.
    pub fn start(space: &Namespace, local: &str, proxy: &str) -> Self {
        let bind = |address: &str| space.enter(|| UdpSocket::bind(address)).unwrap().unwrap();
        let (outer, inner) = (bind(local), bind(&local.replace(":4755", ":0")));
        for socket in [&outer, &inner] {
            socket.set_nonblocking(true).unwrap();
            // While a busy machine gives this thread no processor packets wait, half a second of them; without the
            // right to that, as long as they may.
            let _ = socket_option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 4 << 20);
        }
        inner.connect(proxy).unwrap();
        let (address, truth) = (outer.local_addr().unwrap(), Arc::new(Truth::default()));
        let shared = Arc::clone(&truth);
        let thread = Some(std::thread::spawn(move || relay(&outer, &inner, &shared)));
        Self { address, truth, thread }
    }

    /// Packets with numbers that came to the relay, and how many of them it dropped.
    pub fn truth(&self) -> (u64, u64) {
        (self.truth.seen.load(Ordering::Relaxed), self.truth.dropped.load(Ordering::Relaxed))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.truth.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn relay(outer: &UdpSocket, inner: &UdpSocket, truth: &Truth) {
    let (mut on_the_way, mut member, mut serial) = (BinaryHeap::new(), None, 0);
    let mut buffer = [0; 2000];
    while !truth.ended.load(Ordering::Relaxed) {
        while let Ok((length, from)) = outer.recv_from(&mut buffer) {
            member = Some(from);
            serial += 1;
            let at = std::cmp::Reverse((Instant::now() + DELAY, serial));
            on_the_way.push(OnItsWay { at, to_proxy: true, bytes: buffer[..length].to_vec() });
        }
        while let Ok(length) = inner.recv(&mut buffer) {
            serial += 1;
            let mut delay = DELAY;
            if length > 0 && buffer[0] & NUMBERED != 0 {
                let seen = 1 + truth.seen.fetch_add(1, Ordering::Relaxed);
                if seen.is_multiple_of(DROPPED) {
                    truth.dropped.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                if seen.is_multiple_of(OVERTAKEN) {
                    delay += EXTRA_DELAY;
                }
            }
            let at = std::cmp::Reverse((Instant::now() + delay, serial));
            on_the_way.push(OnItsWay { at, to_proxy: false, bytes: buffer[..length].to_vec() });
        }
        while on_the_way.peek().is_some_and(|first| first.at.0.0 <= Instant::now()) {
            let Some(due) = on_the_way.pop() else { break };
            let _ = match (due.to_proxy, member) {
                (true, _) => inner.send(&due.bytes),
                (false, Some(member)) => outer.send_to(&due.bytes, member),
                (false, None) => Ok(0),
            };
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
