//! Sealed sessions fed with anything: genuine datagrams changed, repeated, reordered, and bytes of nobody.
use prismux_endpoint::Endpoint;
use prismux_sealed::{Entropy, KeyPair, Limits, Opened, PeerId, Sessions};
use prismux_units::{Duration, Instant};
use std::collections::BTreeSet;
use std::net::SocketAddr;

const PEER: PeerId = PeerId(0);
/// Datagrams that a program may refer to.
const MAX_RECORDED: usize = 64;

struct Pair {
    ends: [Sessions; 2],
    /// What travelled, and to which end.
    recorded: Vec<(usize, Vec<u8>)>,
    sealed: BTreeSet<Vec<u8>>,
    opened: BTreeSet<Vec<u8>>,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, (end as u8).wrapping_add(1)], 4755))
}

impl Pair {
    fn new() -> Self {
        let keys = [1, 2].map(|seed| KeyPair::generate(&mut Entropy::from_seed([seed; 32])));
        let end = |own: usize| {
            let epoch = Duration::from_secs(1_700_000_000);
            let entropy = Entropy::from_seed([own as u8 + 3; 32]);
            let mut end = Sessions::new(keys[own].clone(), Limits::default(), epoch, entropy);
            end.add_peer(keys[1 - own].public(), (own == 0).then(|| address(1)));
            end
        };
        let ends = [end(0), end(1)];
        Self { ends, recorded: Vec::new(), sealed: BTreeSet::new(), opened: BTreeSet::new() }
    }

    fn record(&mut self, to: usize, bytes: Vec<u8>) {
        if self.recorded.len() >= MAX_RECORDED {
            self.recorded.remove(0);
        }
        self.recorded.push((to, bytes));
    }

    fn deliver(&mut self, now: Instant, to: usize, from: SocketAddr, bytes: &[u8]) {
        let mut out = Vec::new();
        if let Ok(Opened::Payload { peer }) = self.ends[to].open(now, from, bytes, &mut out) {
            assert_eq!(peer, PEER);
            if !out.is_empty() {
                assert!(self.sealed.contains(&out), "forged: {out:?}");
                assert!(self.opened.insert(out), "accepted twice");
            }
        }
        for end in 0..2 {
            while let Some(transmit) = self.ends[end].poll_transmit(now) {
                self.record(1 - end, transmit.bytes);
            }
            while self.ends[end].poll_event().is_some() {}
        }
    }
}

/// A program of steps of five bytes: what, which, two arguments, milliseconds. Nothing may panic, nothing be accepted
/// that was not sealed, and nothing twice.
pub fn sealed(data: &[u8]) {
    let mut pair = Pair::new();
    let mut now = Instant::from_secs(1);
    for (number, step) in data.chunks_exact(5).enumerate() {
        let &[what, which, a, b, ms] = step else { continue };
        now += Duration::from_millis(u64::from(ms) * if what & 0x80 == 0 { 1 } else { 200 });
        let end = usize::from(which & 1);
        let chosen = pair.recorded.len().checked_sub(1 + usize::from(which >> 1) % MAX_RECORDED);
        match (what % 6, chosen.and_then(|at| pair.recorded.get(at)).cloned()) {
            (0, _) => {
                let (payload, mut out) = (format!("payload {number}").into_bytes(), Vec::new());
                if pair.ends[end].seal(now, PEER, &[&payload], &mut out).is_ok() {
                    pair.sealed.insert(payload);
                    pair.record(1 - end, out);
                }
                pair.deliver(now, end, address(1 - end), &[]);
            }
            (1, _) => {
                pair.ends[end].handle_timeout(now);
                pair.deliver(now, end, address(1 - end), &[]);
            }
            (2, Some((to, mut bytes))) => {
                let at = usize::from(a) % bytes.len();
                bytes[at] ^= b;
                pair.deliver(now, to, address(1 - to), &bytes);
            }
            (3, Some((to, bytes))) => pair.deliver(now, to, address(7), &bytes),
            (4, _) => pair.deliver(now, end, address(usize::from(a)), &data[number * 5..]),
            (_, Some((to, bytes))) => pair.deliver(now, to, address(1 - to), &bytes),
            (_, None) => {}
        }
    }
}

/// A handshake, payloads both ways, changed and repeated ones, a renewal.
pub fn programs() -> Vec<Vec<u8>> {
    let handshake = [[0, 0, 0, 0, 1], [5, 0, 0, 0, 1], [5, 0, 0, 0, 1], [5, 0, 0, 0, 1]];
    let traffic = [[0, 0, 0, 0, 9], [5, 0, 0, 0, 9], [0, 1, 0, 0, 9], [5, 0, 0, 0, 9], [5, 2, 0, 0, 9]];
    let attack = [[0, 0, 0, 0, 9], [2, 0, 20, 1, 9], [3, 0, 0, 0, 9], [4, 1, 0, 0, 9], [1, 1, 0, 0, 255]];
    let later = [[0x81, 0, 0, 0, 255], [0x81, 0, 0, 0, 255], [0x81, 0, 0, 0, 255]];
    let whole = [&handshake[..], &traffic, &attack, &later, &handshake, &traffic].concat().concat();
    vec![handshake.concat(), [&handshake[..], &traffic].concat().concat(), whole]
}
