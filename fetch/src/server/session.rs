//! One client: a sealed channel, a plain RCP sender, and where the client can be reached.
use super::counters::SessionCounters;
use super::{Buffers, Object, Outbox};
use crate::channel::{Channel, Message, OpenError};
use crate::random;
use crate::wire::ConnectionId;
use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, RcpHeader, Sender};
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that has been welcomed and says nothing is forgotten soon.
const OPENING_TIME: Duration = Duration::from_secs(10);
/// An ended session is kept for goodbyes that come again.
const LINGER: Duration = Duration::from_secs(5);

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

pub(super) struct Session {
    channel: Channel,
    /// Where data goes: an address at which the client has answered.
    address: SocketAddr,
    candidate: Option<Box<Candidate>>,
    object: Arc<dyn Object>,
    /// From the client's SYN on.
    sender: Option<Box<Sender>>,
    opened_by: (SocketAddr, ConnectionId),
    welcome: Option<Box<[u8]>>,
    heard_at: Instant,
    ended_at: Option<Instant>,
    /// A wake-up is under way.
    is_capped: bool,
    wake_at: Option<Instant>,
}

impl Session {
    pub(super) fn new(channel: Channel, object: Arc<dyn Object>, opening: Opening, now: Instant) -> Self {
        Self {
            channel,
            address: opening.address,
            candidate: None,
            object,
            sender: None,
            opened_by: (opening.address, opening.client),
            welcome: Some(opening.welcome.into()),
            heard_at: now,
            ended_at: None,
            is_capped: false,
            wake_at: None,
        }
    }

    /// The Welcome, while it may have to be repeated.
    pub(super) fn welcome(&self) -> Option<&[u8]> {
        self.welcome.as_deref()
    }

    pub(super) const fn opened_by(&self) -> (SocketAddr, ConnectionId) {
        self.opened_by
    }

    /// Once, when the rate cap lets the session go on.
    pub(super) fn wants_wake(&mut self) -> Option<Instant> {
        self.wake_at.take()
    }

    /// A sealed datagram arrived for this session.
    #[expect(clippy::too_many_arguments, reason = "a session keeps nothing that the server can lend it")]
    pub(super) fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ecn: Ecn,
        (nonce, sealed): (u64, &[u8]),
        rcp: &Arc<RcpConfig>,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        match self.channel.open(nonce, sealed, &mut buffers.opened) {
            Err(OpenError::Forged) => return counters.forged += 1,
            Err(OpenError::Replayed) => return counters.replayed += 1,
            Ok(()) => {}
        }
        self.heard_at = now;
        self.welcome = None;
        let opened = std::mem::take(&mut buffers.opened);
        match Message::parse(&opened) {
            Some(Message::Rcp(packet)) => self.handle_rcp(now, ecn, packet, rcp, counters),
            Some(Message::Challenge(value)) => self.send(from, &Message::Response(value), buffers, out),
            Some(Message::Response(value)) => self.handle_response(from, value, counters),
            None => counters.nonsense += 1,
        }
        buffers.opened = opened;
        if from != self.address {
            self.challenge(from, buffers, counters, out);
        }
        self.pump(now, buffers, counters, out);
    }

    fn handle_rcp(
        &mut self,
        now: Instant,
        ecn: Ecn,
        packet: &[u8],
        rcp: &Arc<RcpConfig>,
        counters: &mut SessionCounters,
    ) {
        let Ok((header, length)) = RcpHeader::parse(packet) else {
            counters.nonsense += 1;
            return;
        };
        let payload_bytes = (packet.len() - length) as u32;
        if let Some(sender) = &mut self.sender {
            return sender.handle_input(now, PacketIn { header, payload_bytes, ecn });
        }
        if header.flags.contains(RcpFlags::SYN) && !header.flags.contains(RcpFlags::ACK) {
            let (initial, token) = (random::sequence_number(), random::number());
            let mut sender = Sender::accept(Arc::clone(rcp), &header, initial, token, now);
            sender.write(now, self.object.identity().size);
            sender.finish(now);
            self.sender = Some(Box::new(sender));
        } else {
            counters.nonsense += 1;
        }
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
        self.send(from, &Message::Challenge(value), buffers, out);
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

    /// The rate cap may let more leave now.
    pub(super) fn wake(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        self.is_capped = false;
        if let Some(sender) = &mut self.sender {
            sender.handle_timeout(now);
        }
        self.pump(now, buffers, counters, out);
    }

    /// Sends what the RCP sender has to say, and takes note of what happened to it.
    fn pump(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        while let Some(packet) = self.sender.as_mut().and_then(|sender| sender.poll_transmit(now)) {
            if !self.write_packet(&packet, &mut buffers.message) {
                counters.objects_lost += 1;
                return self.abort(now, buffers, out);
            }
            self.channel.seal(&buffers.message, &mut buffers.datagram);
            out(self.address, packet.ecn, &buffers.datagram);
        }
        let Some(sender) = &mut self.sender else { return };
        while let Some(event) = sender.poll_event() {
            if matches!(event, RcpEvent::Closed | RcpEvent::Reset) && self.ended_at.is_none() {
                self.ended_at = Some(now);
                counters.finished += u64::from(event == RcpEvent::Closed);
            }
        }
        if let Some(deadline) = sender.poll_timeout().filter(|deadline| deadline.why == "rate-cap")
            && !self.is_capped
        {
            self.is_capped = true;
            self.wake_at = Some(deadline.at);
        }
    }

    /// The message that carries `packet`; false if its payload cannot be read.
    fn write_packet(&self, packet: &PacketOut, message: &mut Vec<u8>) -> bool {
        message.clear();
        Message::Rcp(&[]).emit(message);
        let start = message.len();
        message.resize(start + packet.header.wire_bytes() + packet.payload_bytes as usize, 0);
        let Ok(length) = packet.header.emit(&mut message[start..]) else { return false };
        let payload = &mut message[start + length..];
        payload.is_empty() || self.object.read_at(packet.stream_offset, payload).is_ok()
    }

    fn send(&mut self, to: SocketAddr, message: &Message<'_>, buffers: &mut Buffers, out: &mut Outbox<'_>) {
        buffers.message.clear();
        message.emit(&mut buffers.message);
        self.channel.seal(&buffers.message, &mut buffers.datagram);
        out(to, Ecn::NotEct, &buffers.datagram);
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

    /// Ends the session if its object is not what it was.
    pub(super) fn check_object(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        if self.ended_at.is_none() && !self.object.is_unchanged() {
            counters.objects_lost += 1;
            self.abort(now, buffers, out);
        }
    }

    /// Ends the session at once and says so.
    pub(super) fn abort(&mut self, now: Instant, buffers: &mut Buffers, out: &mut Outbox<'_>) {
        self.ended_at.get_or_insert(now);
        let Some(sender) = &mut self.sender else { return };
        sender.abort(now);
        // A reset has no payload, so nothing is read and this ends.
        let reset = sender.poll_transmit(now).filter(|packet| packet.payload_bytes == 0);
        if let Some(packet) = reset
            && self.write_packet(&packet, &mut buffers.message)
        {
            self.channel.seal(&buffers.message, &mut buffers.datagram);
            out(self.address, packet.ecn, &buffers.datagram);
        }
    }

    /// Adds what the RCP sender counted.
    pub(super) fn add_to(&self, counters: &mut SessionCounters) {
        let Some(sender) = &self.sender else { return };
        let metrics = sender.metrics();
        counters.requests += metrics.requests;
        counters.data_bytes += metrics.data_bytes;
        counters.outside_object += metrics.drops.beyond_end;
        counters.refused_requests +=
            metrics.drops.beyond_limit + metrics.drops.below_purge + metrics.drops.crowded;
        counters.bad_packets += metrics.drops.forged + metrics.drops.malformed;
    }
}
