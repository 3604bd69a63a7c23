//! RCP at the server: a plain sender for each session, which answers what the client asks for.
use super::service::{RcpService, Service};
use super::{Object, Objects, Server, Transmit, Work};
use crate::SEGMENT_BYTES;
use crate::channel::Message;
use crate::wire::ConnectionId;
use prismux_endpoint::{Alarm, Drain, Endpoint, Output, expire};
use prismux_rcp::{PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, RcpHeader, Sender};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::sync::Arc;

/// Requests reach no further ahead than this; as far as an RCP window can say.
const REQUEST_LIMIT: ByteCount = ByteCount::new(1 << 30);
/// One request has no more than this sent at once; clients of ours ask for each segment by itself.
const MAX_UNANSWERED: ByteCount = ByteCount::new(64 * SEGMENT_BYTES as u64);
/// Segments are at least this long, whatever the client would like: many short ones cost the server most.
const MIN_SEGMENT_BYTES: u16 = 512;
/// The sweep finds the silent; the sender's own deadline is out of its way.
const NEVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How all senders behave.
pub(super) fn config(rate_cap: Option<Rate>) -> Arc<RcpConfig> {
    Arc::new(RcpConfig {
        mss: SEGMENT_BYTES,
        rate_cap,
        keep_alive: NEVER,
        request_limit: REQUEST_LIMIT,
        max_unanswered: MAX_UNANSWERED,
        answer_ring: 16,
        ecn: true,
        ..RcpConfig::modern()
    })
}

impl<O: Objects> Server<O> {
    /// An RCP packet arrived in session `id`.
    pub(super) fn handle_rcp(&mut self, now: Instant, id: ConnectionId, ecn: Ecn, packet: &[u8]) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let nonsense = &mut self.counters.sessions.nonsense;
        let Ok((mut header, length)) = RcpHeader::parse(packet) else { return *nonsense += 1 };
        let payload_bytes = (packet.len() - length) as u32;
        match &mut session.service {
            Service::Rcp(rcp) => rcp.sender.handle_input(now, PacketIn { header, payload_bytes, ecn }),
            Service::Open
                if header.flags.contains(RcpFlags::SYN) && !header.flags.contains(RcpFlags::ACK) =>
            {
                header.options.mss = header.options.mss.map(|mss| mss.max(MIN_SEGMENT_BYTES));
                let (initial, token) = (self.entropy.sequence_number(), self.entropy.number());
                let mut sender = Sender::accept(Arc::clone(&self.rcp), &header, initial, token, now);
                sender.write(session.object.identity().size);
                sender.finish();
                session.service = Service::Rcp(Box::new(RcpService { sender, alarm: Alarm::new() }));
            }
            Service::Open | Service::Ptcp(_) => return *nonsense += 1,
        }
        self.turns.grant(Work::Session(id));
    }

    /// The rate cap of session `id` may let more leave now.
    pub(super) fn wake_rcp(&mut self, now: Instant, at: Instant, id: ConnectionId) {
        let session = self.sessions.get_mut(&id);
        let Some(Service::Rcp(rcp)) = session.map(|session| &mut session.service) else { return };
        if rcp.alarm.rings(at) {
            expire(&mut rcp.sender, now);
            self.turns.grant(Work::Session(id));
        }
    }

    /// Ends session `id` at once and says so.
    pub(super) fn abort_rcp(&mut self, now: Instant, id: ConnectionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.ended_at.get_or_insert(now);
        if let Service::Rcp(rcp) = &mut session.service {
            rcp.sender.abort();
            self.turns.grant(Work::Session(id));
        }
    }

    /// The next datagram of session `id`; at the end of its turn, what happened to its sender.
    pub(super) fn transmit_rcp(&mut self, now: Instant, id: ConnectionId) -> Option<Transmit> {
        let session = self.sessions.get_mut(&id)?;
        let Service::Rcp(rcp) = &mut session.service else { return None };
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut rcp.sender, now) {
            match output {
                Output::Transmit(packet) if write(&packet, &*session.object, &mut self.message) => {
                    session.seal(&self.message, &mut self.datagram);
                    return Some(Transmit { to: session.address, ecn: packet.ecn });
                }
                // The reset that follows has no payload, so nothing is read for it.
                Output::Transmit(_) => {
                    self.counters.sessions.objects_lost += 1;
                    session.ended_at.get_or_insert(now);
                    rcp.sender.abort();
                }
                Output::Event(event @ (RcpEvent::Closed | RcpEvent::Reset)) if session.ended_at.is_none() => {
                    session.ended_at = Some(now);
                    self.counters.sessions.finished += u64::from(event == RcpEvent::Closed);
                }
                Output::Event(_) => {}
            }
        }
        let deadline = rcp.sender.poll_timeout().filter(|deadline| deadline.why == "rate-cap");
        self.timers.set(now, &mut rcp.alarm, Work::Session(id), deadline);
        None
    }
}

/// Makes `message` the one that carries `packet`; false if its payload cannot be read.
fn write(packet: &PacketOut, object: &dyn Object, message: &mut Vec<u8>) -> bool {
    message.clear();
    Message::Rcp(&[]).emit(message);
    let start = message.len();
    message.resize(start + packet.header.wire_bytes() + packet.payload_bytes as usize, 0);
    let Ok(length) = packet.header.emit(&mut message[start..]) else { return false };
    let payload = &mut message[start + length..];
    payload.is_empty() || object.read_at(packet.stream_offset, payload).is_ok()
}
