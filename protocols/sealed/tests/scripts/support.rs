//! Two ends and what travels between them, in the hands of a test.
use prismux_endpoint::Endpoint;
use prismux_sealed::{
    Entropy, KeyPair, Limits, NoSession, Opened, PeerId, PublicKey, Refusal, SessionEvent, Sessions, Transmit,
};
use prismux_units::{Duration, Instant};
use std::net::SocketAddr;

/// The only peer of each end.
pub const PEER: PeerId = PeerId(0);
pub const MEMBER: &str = "192.0.2.1:40000";
pub const GATEWAY: &str = "198.51.100.1:4755";

pub fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub fn at(milliseconds: u64) -> Instant {
    Instant::from_millis(milliseconds)
}

pub fn keys(seed: u8) -> KeyPair {
    KeyPair::generate(&mut Entropy::from_seed([seed; 32]))
}

/// An end with the key of `seed`, at a plausible time of day.
pub fn end(seed: u8, limits: Limits) -> Sessions {
    let epoch = Duration::from_secs(1_700_000_000);
    Sessions::new(keys(seed), limits, epoch, Entropy::from_seed([seed + 100; 32]))
}

/// A member that knows where the gateway is, and a gateway that does not know where the member is.
pub struct Ends {
    pub member: Sessions,
    pub gateway: Sessions,
}

pub fn ends(limits: Limits) -> Ends {
    let (mut member, mut gateway) = (end(1, limits), end(2, limits));
    assert_eq!(member.add_peer(keys(2).public(), Some(address(GATEWAY))), Some(PEER));
    assert_eq!(gateway.add_peer(keys(1).public(), None), Some(PEER));
    Ends { member, gateway }
}

pub fn sent(end: &mut Sessions, now: Instant) -> Vec<Transmit> {
    std::iter::from_fn(|| end.poll_transmit(now)).collect()
}

pub fn told(end: &mut Sessions) -> Vec<SessionEvent> {
    std::iter::from_fn(|| end.poll_event()).collect()
}

/// The one message that is waiting.
pub fn only(end: &mut Sessions, now: Instant) -> Transmit {
    let mut waiting = sent(end, now);
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    waiting.remove(0)
}

pub fn open(end: &mut Sessions, now: Instant, from: &str, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    end.open(now, address(from), bytes, &mut out).map(|opened| match opened {
        Opened::Payload { .. } => out,
        Opened::Handshake { .. } => Vec::new(),
    })
}

pub fn seal(end: &mut Sessions, now: Instant, payload: &[u8]) -> Result<Vec<u8>, NoSession> {
    let mut out = Vec::new();
    end.seal(now, PEER, &[payload], &mut out).map(|_| out)
}

impl Ends {
    /// The whole handshake, begun by the member at `now`.
    pub fn shake_hands(&mut self, now: Instant) {
        self.member.handle_input(now, PEER);
        let initiation = only(&mut self.member, now);
        self.answer(now, &initiation);
    }

    /// What follows the member's initiation.
    pub fn answer(&mut self, now: Instant, initiation: &Transmit) {
        open(&mut self.gateway, now, MEMBER, &initiation.bytes).unwrap();
        let response = only(&mut self.gateway, now);
        open(&mut self.member, now, GATEWAY, &response.bytes).unwrap();
        let sign = only(&mut self.member, now);
        assert_eq!(open(&mut self.gateway, now, MEMBER, &sign.bytes), Ok(Vec::new()));
    }
}

/// A member and a gateway with keys since time zero, and nothing told yet.
pub fn connected(limits: Limits) -> Ends {
    let mut ends = ends(limits);
    ends.shake_hands(at(0));
    told(&mut ends.member);
    told(&mut ends.gateway);
    ends
}

/// Who nobody knows, and who knows the gateway's key.
pub fn stranger(knows: PublicKey) -> Sessions {
    let mut stranger = end(66, Limits::default());
    stranger.add_peer(knows, Some(address(GATEWAY)));
    stranger
}
