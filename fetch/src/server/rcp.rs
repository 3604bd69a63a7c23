//! RCP at the server: a plain sender for each session, which answers what the client asks for.
use super::counters::SessionCounters;
use super::session::{Service, Session};
use super::timers::Alarm;
use super::{Buffers, Object, Objects, Outbox, Server, Wake, counted};
use crate::SEGMENT_BYTES;
use crate::channel::Message;
use crate::random;
use crate::wire::ConnectionId;
use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, RcpHeader, Sender};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::sync::Arc;

/// Requests reach no further ahead than this; as far as an RCP window can say.
const REQUEST_LIMIT: ByteCount = ByteCount::new(1 << 30);
/// The sweep finds the silent; the sender's own deadline is out of its way.
const NEVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How all senders behave.
pub(super) fn config(rate_cap: Option<Rate>) -> Arc<RcpConfig> {
    Arc::new(RcpConfig {
        mss: SEGMENT_BYTES,
        rate_cap,
        keep_alive: NEVER,
        request_limit: REQUEST_LIMIT,
        answer_ring: 16,
        ecn: true,
        ..RcpConfig::modern()
    })
}

/// The sender of one session.
pub(super) struct RcpService {
    sender: Sender,
    alarm: Alarm,
}

impl<O: Objects> Server<O> {
    /// An RCP packet arrived in session `id`.
    pub(super) fn handle_rcp(
        &mut self,
        now: Instant,
        id: ConnectionId,
        ecn: Ecn,
        packet: &[u8],
        out: &mut Outbox<'_>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let nonsense = &mut self.counters.sessions.nonsense;
        let Ok((header, length)) = RcpHeader::parse(packet) else { return *nonsense += 1 };
        let payload_bytes = (packet.len() - length) as u32;
        match &mut session.service {
            Service::Rcp(rcp) => rcp.sender.handle_input(now, PacketIn { header, payload_bytes, ecn }),
            Service::Open
                if header.flags.contains(RcpFlags::SYN) && !header.flags.contains(RcpFlags::ACK) =>
            {
                let (initial, token) = (random::sequence_number(), random::number());
                let mut sender = Sender::accept(Arc::clone(&self.rcp), &header, initial, token, now);
                sender.write(now, session.object.identity().size);
                sender.finish(now);
                session.service = Service::Rcp(Box::new(RcpService { sender, alarm: Alarm::default() }));
            }
            Service::Open | Service::Ptcp(_) => return *nonsense += 1,
        }
        self.pump_rcp(now, id, out);
    }

    /// The rate cap of session `id` may let more leave now.
    pub(super) fn wake_rcp(&mut self, now: Instant, at: Instant, id: ConnectionId, out: &mut Outbox<'_>) {
        let session = self.sessions.get_mut(&id);
        let Some(Service::Rcp(rcp)) = session.map(|session| &mut session.service) else { return };
        if rcp.alarm.rings(at) {
            rcp.sender.handle_timeout(now);
            self.pump_rcp(now, id, out);
        }
    }

    fn pump_rcp(&mut self, now: Instant, id: ConnectionId, out: &mut Outbox<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let mut send = counted(&mut self.counters.datagrams_sent, &mut self.counters.bytes_sent, out);
        session.pump_rcp(now, &mut self.buffers, &mut self.counters.sessions, &mut send);
        if let Service::Rcp(rcp) = &mut session.service {
            let deadline = rcp.sender.poll_timeout().filter(|deadline| deadline.why == "rate-cap");
            self.timers.set(&mut rcp.alarm, Wake::Session(id), deadline.map(|deadline| deadline.at));
        }
    }
}

impl Session {
    /// Sends what the RCP sender has to say, and takes note of what happened to it.
    fn pump_rcp(
        &mut self,
        now: Instant,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
        out: &mut Outbox<'_>,
    ) {
        while let Service::Rcp(rcp) = &mut self.service
            && let Some(packet) = rcp.sender.poll_transmit(now)
        {
            if !write_packet(&packet, &*self.object, &mut buffers.message) {
                counters.objects_lost += 1;
                return self.abort_rcp(now, buffers, out);
            }
            self.send(packet.ecn, buffers, out);
        }
        let Service::Rcp(rcp) = &mut self.service else { return };
        while let Some(event) = rcp.sender.poll_event() {
            if matches!(event, RcpEvent::Closed | RcpEvent::Reset) && self.ended_at.is_none() {
                self.ended_at = Some(now);
                counters.finished += u64::from(event == RcpEvent::Closed);
            }
        }
    }

    /// Ends the session at once and says so.
    pub(super) fn abort_rcp(&mut self, now: Instant, buffers: &mut Buffers, out: &mut Outbox<'_>) {
        self.ended_at.get_or_insert(now);
        let Service::Rcp(rcp) = &mut self.service else { return };
        rcp.sender.abort(now);
        // A reset has no payload, so nothing is read and this ends.
        let reset = rcp.sender.poll_transmit(now).filter(|packet| packet.payload_bytes == 0);
        if let Some(packet) = reset
            && write_packet(&packet, &*self.object, &mut buffers.message)
        {
            self.send(packet.ecn, buffers, out);
        }
    }

    /// Adds what the RCP sender counted.
    pub(super) fn add_to(&self, counters: &mut SessionCounters) {
        let Service::Rcp(rcp) = &self.service else { return };
        let metrics = rcp.sender.metrics();
        counters.requests += metrics.requests;
        counters.data_bytes += metrics.data_bytes;
        counters.outside_object += metrics.drops.beyond_end;
        counters.refused_requests +=
            metrics.drops.beyond_limit + metrics.drops.below_purge + metrics.drops.crowded;
        counters.bad_packets += metrics.drops.forged + metrics.drops.malformed;
    }
}

/// The message that carries `packet`; false if its payload cannot be read.
fn write_packet(packet: &PacketOut, object: &dyn Object, message: &mut Vec<u8>) -> bool {
    message.clear();
    Message::Rcp(&[]).emit(message);
    let start = message.len();
    message.resize(start + packet.header.wire_bytes() + packet.payload_bytes as usize, 0);
    let Ok(length) = packet.header.emit(&mut message[start..]) else { return false };
    let payload = &mut message[start + length..];
    payload.is_empty() || object.read_at(packet.stream_offset, payload).is_ok()
}
