//! An object, or the rest of it, on its way to one client by pTCP.
use super::Object;
use super::counters::SessionCounters;
use crate::PTCP_SEGMENT_BYTES;
use crate::channel::Message;
use crate::segment;
use crate::wire::ConnectionId;
use prismux_endpoint::{Alarm, Deadline, Endpoint};
use prismux_ptcp::{Connection, PtcpConfig, PtcpEvent, SegmentOut, State};
use prismux_rcp::rate_cap::RateCap;
use prismux_tcp::TcpEvent;
use prismux_units::{ByteCount, Instant, Rate};
use std::sync::Arc;

/// May leave at once under a rate cap.
const BURST: ByteCount = ByteCount::new(64 << 10);
/// Under a rate cap the connection is handed so many bytes at a time: whole segments, with timestamps.
const HANDED_BYTES: u64 = 8 * (PTCP_SEGMENT_BYTES as u64 - 12);
/// Clients send no bytes at all.
const RECEIVE_BUFFER: ByteCount = ByteCount::new(64 << 10);

/// How all connections behave.
pub(super) fn config() -> PtcpConfig {
    segment::config(RECEIVE_BUFFER)
}

/// A connection and what it sends.
pub(super) struct Transfer {
    pub(super) connection: Connection,
    pub(super) object: Arc<dyn Object>,
    /// The stream is the object from here on.
    offset: u64,
    length: u64,
    /// Sessions whose pipes it has or had.
    pub(super) sessions: Vec<ConnectionId>,
    pub(super) cap: Option<RateCap>,
    pub(super) alarm: Alarm,
    is_closing: bool,
    is_finished: bool,
}

impl Transfer {
    /// Sends `object` from byte `offset` on; `None` if it ends before. `session` has the first pipe.
    pub(super) fn new(
        connection: Connection,
        object: Arc<dyn Object>,
        offset: u64,
        session: ConnectionId,
        cap: Option<RateCap>,
    ) -> Option<Self> {
        Some(Self {
            length: object.identity().size.checked_sub(offset)?,
            connection,
            object,
            offset,
            sessions: vec![session],
            cap,
            alarm: Alarm::new(),
            is_closing: false,
            is_finished: false,
        })
    }

    /// Under `rate`, if there is a cap.
    pub(super) fn cap(rate: Option<Rate>, now: Instant) -> Option<RateCap> {
        rate.map(|rate| RateCap::new(rate, BURST, now))
    }

    pub(super) fn abort(&mut self) {
        self.connection.abort();
        self.cap = None;
    }

    /// The next segment to leave. A rate cap holds back the stream, not what pipes say besides: a pipe is opened and
    /// repaired all the same.
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<SegmentOut> {
        let rest = self.length - self.connection.stream_written();
        if rest > 0 && self.connection.stream_waiting() == 0 {
            let allowed = match &mut self.cap {
                None => rest,
                Some(cap) => {
                    if cap.allows(now) {
                        rest.min(HANDED_BYTES)
                    } else {
                        0
                    }
                }
            };
            self.connection.write(allowed);
        }
        if self.connection.stream_written() == self.length && !self.is_closing {
            self.is_closing = true;
            self.connection.close(now);
        }
        self.connection.poll_transmit(now)
    }

    /// Makes `message` the one that carries `leaving`; false if it cannot be written.
    pub(super) fn write(
        &mut self,
        now: Instant,
        leaving: &SegmentOut,
        message: &mut Vec<u8>,
        counters: &mut SessionCounters,
    ) -> bool {
        message.clear();
        Message::Ptcp(&[]).emit(message);
        let Some(payload) = segment::emit(&leaving.segment, message) else { return false };
        if payload.is_empty() {
            return true;
        }
        if self.object.read_at(self.offset + leaving.stream_offset, payload).is_err() {
            counters.objects_lost += 1;
            self.abort();
            return false;
        }
        counters.data_bytes += u64::from(leaving.segment.payload_bytes);
        if let Some(cap) = &mut self.cap {
            cap.spend(now, leaving.segment.payload_bytes);
        }
        true
    }

    /// Takes note of what happened to the connection: whether it has ended.
    pub(super) fn take_events(&mut self, counters: &mut SessionCounters) -> bool {
        while let Some(event) = self.connection.poll_event() {
            // The client closes when it has everything.
            let has_everything = self.connection.stream_acked() == self.length;
            let ends = matches!(event, PtcpEvent::Connection(TcpEvent::PeerClosed | TcpEvent::Closed));
            if ends && has_everything && !self.is_finished {
                self.is_finished = true;
                counters.finished += 1;
            }
        }
        self.is_finished || self.connection.state() == State::Closed
    }

    /// The connection's next timer, or when its rate cap lets more leave.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let cap = self.cap.as_ref().and_then(RateCap::wakes_at);
        let cap = cap.map(|at| Deadline { at, why: "rate-cap" });
        Deadline::earliest(self.connection.poll_timeout(), cap)
    }
}
