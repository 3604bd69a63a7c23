//! One client at one address: a sealed channel, where the client can be reached, and what carries the object there.
use super::Object;
use super::counters::SessionCounters;
use super::service::Service;
use crate::channel::{Channel, Message, OpenError};
use crate::wire::ConnectionId;
use prismux_units::{Duration, Instant};
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that has been welcomed and says nothing is forgotten soon.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);
/// An ended session is kept for closes that come again.
const LINGER: Duration = Duration::from_secs(5);

/// How a session began.
pub(super) struct Opening {
    pub(super) address: SocketAddr,
    pub(super) client: ConnectionId,
    /// Our Noise message, to be sent again while nothing sealed has come from the client.
    pub(super) welcome: Vec<u8>,
}

/// An address that the client seems to have moved to, and what it has to answer there.
struct Candidate {
    address: SocketAddr,
    challenge: [u8; 8],
}

pub(super) struct Session {
    channel: Channel,
    /// Where data goes: an address at which the client has answered.
    pub(super) address: SocketAddr,
    candidate: Option<Box<Candidate>>,
    pub(super) object: Arc<dyn Object>,
    pub(super) service: Service,
    opened_by: (SocketAddr, ConnectionId),
    welcome: Option<Box<[u8]>>,
    last_seen: Instant,
    pub(super) ended_at: Option<Instant>,
}

impl Session {
    pub(super) fn new(channel: Channel, object: Arc<dyn Object>, opening: Opening, now: Instant) -> Self {
        Self {
            channel,
            address: opening.address,
            candidate: None,
            object,
            service: Service::Open,
            opened_by: (opening.address, opening.client),
            welcome: Some(opening.welcome.into()),
            last_seen: now,
            ended_at: None,
        }
    }

    /// The Welcome, while it may have to be repeated.
    pub(super) fn welcome(&self) -> Option<&[u8]> {
        self.welcome.as_deref()
    }

    pub(super) const fn opened_by(&self) -> (SocketAddr, ConnectionId) {
        self.opened_by
    }

    /// Opens what arrived under `nonce` into `out`: what does so was sealed by the client and comes for the first time.
    ///
    /// # Errors
    /// When it was not, or came before.
    pub(super) fn open(
        &mut self,
        now: Instant,
        nonce: u64,
        sealed: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        self.channel.open(nonce, sealed, out)?;
        self.last_seen = now;
        self.welcome = None;
        Ok(())
    }

    /// Makes `out` the datagram that carries `message` to the client.
    pub(super) fn seal(&mut self, message: &[u8], out: &mut Vec<u8>) {
        self.channel.seal(message, out);
    }

    /// What somebody has to answer who sent an authentic datagram from elsewhere: the client has moved, or its
    /// datagrams are passed on. `fresh` is for a first challenge there.
    ///
    /// Data goes there only when what we send there is answered from there. The challenge is shorter than twice the
    /// shortest datagram that brings it about.
    pub(super) fn challenge(&mut self, from: SocketAddr, fresh: [u8; 8]) -> Message<'static> {
        let candidate = match &self.candidate {
            Some(candidate) if candidate.address == from => candidate,
            _ => self.candidate.insert(Box::new(Candidate { address: from, challenge: fresh })),
        };
        Message::Challenge(candidate.challenge)
    }

    /// A challenge was answered from `from`: data goes there if that is where it was sent to.
    pub(super) fn handle_response(
        &mut self,
        from: SocketAddr,
        value: [u8; 8],
        counters: &mut SessionCounters,
    ) {
        match &self.candidate {
            Some(candidate) if candidate.address == from && candidate.challenge == value => {
                self.address = from;
                self.candidate = None;
                counters.migrations += 1;
            }
            _ => counters.nonsense += 1,
        }
    }

    /// Whether the session may be forgotten.
    pub(super) fn is_over(
        &self,
        now: Instant,
        vanish_after: Duration,
        counters: &mut SessionCounters,
    ) -> bool {
        if let Some(ended_at) = self.ended_at {
            return now.saturating_since(ended_at) > LINGER;
        }
        let silence = now.saturating_since(self.last_seen);
        let vanished = silence > if self.welcome.is_some() { OPENING_TIMEOUT } else { vanish_after };
        counters.vanished += u64::from(vanished);
        vanished
    }

    /// Whether the session goes on although its object is not what it was.
    pub(super) fn has_lost_object(&self) -> bool {
        self.ended_at.is_none() && !self.object.is_unchanged()
    }
}
