//! One client at one address: a sealed channel, where the client can be reached, and what carries the object there.
use super::counters::SessionCounters;
use super::rcp::RcpService;
use super::{Buffers, Object, Outbox};
use crate::channel::{Channel, Message, OpenError};
use crate::random;
use crate::wire::ConnectionId;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that has been welcomed and says nothing is forgotten soon.
const OPENING_TIME: Duration = Duration::from_secs(10);
/// An ended session is kept for goodbyes that come again.
pub(super) const LINGER: Duration = Duration::from_secs(5);

/// How a session began.
pub(super) struct Opening {
    pub(super) address: SocketAddr,
    pub(super) client: ConnectionId,
    /// Our Noise message, to be said again while the client has not been heard.
    pub(super) welcome: Vec<u8>,
}

/// An address that the client seems to have moved to, and what it has to answer there.
struct Candidate {
    address: SocketAddr,
    challenge: [u8; 8],
}

/// What a session is for.
pub(super) enum Service {
    /// The client has not said.
    Open,
    /// It asks by RCP.
    Rcp(Box<RcpService>),
    /// It is a pipe of the pTCP connection with this token.
    Ptcp(u64),
}

pub(super) struct Session {
    channel: Channel,
    /// Where data goes: an address at which the client has answered.
    address: SocketAddr,
    candidate: Option<Box<Candidate>>,
    pub(super) object: Arc<dyn Object>,
    pub(super) service: Service,
    opened_by: (SocketAddr, ConnectionId),
    welcome: Option<Box<[u8]>>,
    heard_at: Instant,
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
            heard_at: now,
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

    /// A sealed datagram arrived for this session. What concerns addresses is settled here; true if it was something
    /// for whom the session serves, which is in `buffers.opened` then.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        (nonce, sealed): (u64, &[u8]),
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) -> bool {
        if let Err(error) = self.channel.open(nonce, sealed, &mut buffers.opened) {
            match error {
                OpenError::Forged => counters.forged += 1,
                OpenError::Replayed => counters.replayed += 1,
            }
            return false;
        }
        self.heard_at = now;
        self.welcome = None;
        let for_service = match Message::parse(&buffers.opened) {
            Some(Message::Challenge(value)) => {
                self.send_to(from, &Message::Response(value), buffers, out);
                false
            }
            Some(Message::Response(value)) => {
                self.handle_response(from, value, counters);
                false
            }
            Some(Message::Rcp(_) | Message::Ptcp(_) | Message::PtcpOpening { .. }) => true,
            None => {
                counters.nonsense += 1;
                false
            }
        };
        if from != self.address {
            self.challenge(from, buffers, counters, out);
        }
        for_service
    }

    /// An authentic datagram came from elsewhere: the client has moved, or somebody passes its datagrams on. Data goes there
    /// only when what we send there is answered from there. The challenge is shorter than twice the shortest
    /// datagram that brings it about.
    fn challenge(
        &mut self,
        from: SocketAddr,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        let candidate = match &self.candidate {
            Some(candidate) if candidate.address == from => candidate,
            _ => self.candidate.insert(Box::new(Candidate { address: from, challenge: random::bytes() })),
        };
        counters.challenges += 1;
        let value = candidate.challenge;
        self.send_to(from, &Message::Challenge(value), buffers, out);
    }

    fn handle_response(&mut self, from: SocketAddr, value: [u8; 8], counters: &mut SessionCounters) {
        match &self.candidate {
            Some(candidate) if candidate.address == from && candidate.challenge == value => {
                self.address = from;
                self.candidate = None;
                counters.migrations += 1;
            }
            _ => counters.nonsense += 1,
        }
    }

    fn send_to(
        &mut self,
        to: SocketAddr,
        message: &Message<'_>,
        buffers: &mut Buffers,
        out: &mut Outbox<'_>,
    ) {
        buffers.message.clear();
        message.emit(&mut buffers.message);
        self.channel.seal(&buffers.message, &mut buffers.datagram);
        out(to, Ecn::NotEct, &buffers.datagram);
    }

    /// Sends the message that `buffers` hold to where the client has proved to be.
    pub(super) fn send(&mut self, ecn: Ecn, buffers: &mut Buffers, out: &mut Outbox<'_>) {
        self.channel.seal(&buffers.message, &mut buffers.datagram);
        out(self.address, ecn, &buffers.datagram);
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
        let silence = now.saturating_since(self.heard_at);
        let vanished = silence > if self.welcome.is_some() { OPENING_TIME } else { vanish_after };
        counters.vanished += u64::from(vanished);
        vanished
    }

    /// Whether the session goes on although its object is not what it was.
    pub(super) fn has_lost_object(&self) -> bool {
        self.ended_at.is_none() && !self.object.is_unchanged()
    }
}
