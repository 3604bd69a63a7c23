//! How much work strangers may cause: a handshake costs three orders of magnitude more than dropping a packet.
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use prismux_units::{Duration, Instant};

/// Handshakes of anybody, before callers have to show that they are at their addresses.
const UNPROVED: Allowance = Allowance { burst: 100, every: Duration::from_millis(10) };
/// Handshakes of one proved address (WireGuard's paper, section 5.3: 20 a second).
const PROVED: Allowance = Allowance { burst: 5, every: Duration::from_millis(50) };
/// Most addresses watched at once; the one that has been quiet for longest goes.
const MAX_SOURCES: usize = 256;

/// So many at once, and one more in each interval.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    burst: u64,
    every: Duration,
}

/// A bucket of an [`Allowance`].
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: u64,
    filled_at: Instant,
}

impl Bucket {
    const fn full(allowance: Allowance, now: Instant) -> Self {
        Self { left: allowance.burst, filled_at: now }
    }

    fn take(&mut self, allowance: Allowance, now: Instant) -> bool {
        let more = now.saturating_since(self.filled_at).as_nanos() / allowance.every.as_nanos();
        self.left = self.left.saturating_add(more).min(allowance.burst);
        self.filled_at += allowance.every * more;
        let taken = self.left > 0;
        self.left = self.left.saturating_sub(1);
        taken
    }
}

/// Counts handshakes.
#[derive(Debug)]
pub(crate) struct Load {
    unproved: Bucket,
    proved: Vec<(IpAddr, Bucket)>,
}

impl Load {
    pub const fn new() -> Self {
        Self { unproved: Bucket::full(UNPROVED, Instant::ZERO), proved: Vec::new() }
    }

    /// Whether a handshake may begin though its caller has not proved its address. When not, we are under load.
    pub fn take_unproved(&mut self, now: Instant) -> bool {
        self.unproved.take(UNPROVED, now)
    }

    /// Whether a handshake may begin whose caller has proved its address.
    pub fn take_proved(&mut self, now: Instant, from: SocketAddr) -> bool {
        let source = network(from.ip());
        if let Some((_, bucket)) = self.proved.iter_mut().find(|(known, _)| *known == source) {
            return bucket.take(PROVED, now);
        }
        if self.proved.len() >= MAX_SOURCES {
            let quietest =
                (0..self.proved.len()).min_by_key(|&at| self.proved.get(at).map(|s| s.1.filled_at));
            self.proved.swap_remove(quietest.unwrap_or(0));
        }
        let mut bucket = Bucket::full(PROVED, now);
        let taken = bucket.take(PROVED, now);
        self.proved.push((source, bucket));
        taken
    }
}

/// What one customer has: an IPv4 address, or an IPv6 /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        v4 => v4,
    }
}
