//! What to request next.
use super::Receiver;
use crate::packet::PacketOut;
use crate::pipe::{Ask, PipeState, Returned};
use core::ops::Range;
use prismux_tcp::engine::Send;
use prismux_units::Instant;

impl Receiver {
    pub(super) fn ask(&mut self, now: Instant) -> Option<PacketOut> {
        if let Some(packet) = self.pipe.poll_control(now) {
            return Some(packet);
        }
        if self.completed {
            return None;
        }
        // Consecutive new units share a request.
        let mut up_to = None;
        while let Some(send) = self.wish(now) {
            if self.pipe.is_repeated(&send) || !self.holes.is_empty() {
                if up_to.is_some() {
                    break;
                }
                if let Some(packet) = self.pull(now, &send) {
                    return Some(packet);
                }
                continue;
            }
            self.pipe.asked(now, &send);
            self.binding.bind(&send.range, self.fresh);
            self.fresh += send.length();
            up_to = Some(self.fresh);
        }
        let in_order = self.stream.next();
        if let Some(end) = up_to {
            return Some(self.pipe.request(now, &Ask::UpTo(end), in_order));
        }
        self.ask_beyond(now)
    }

    /// What the pipe wants to ask for, given what there is to ask for.
    fn wish(&mut self, now: Instant) -> Option<Send> {
        while let Some(hole) = self.holes.pop_front() {
            // It may have been filled meanwhile.
            if let Some(missing) = self.stream.first_missing(hole.clone()) {
                if missing.end < hole.end {
                    self.holes.push_front(missing.end..hole.end);
                }
                let length = missing.end - missing.start;
                self.holes.push_front(missing);
                return self.pipe.wish(now, length.min(u64::from(self.pipe.segment_bytes())), false);
            }
        }
        let (buffer, limit) = (self.request_edge(), self.pipe.limit());
        let available = self.end.unwrap_or(limit).min(limit);
        let edge = buffer.min(available);
        self.pipe.wish(now, edge.saturating_sub(self.fresh), buffer < available)
    }

    /// A pull: units asked for again, or new units for a hole. `None` if the data turns out to be here.
    fn pull(&mut self, now: Instant, send: &Send) -> Option<PacketOut> {
        let positions = if self.pipe.is_repeated(send) {
            let positions = self.binding.positions(&send.range);
            let missing = positions.clone().and_then(|positions| self.stream.first_missing(positions));
            if missing.is_none() {
                self.pipe.units_returned(now, send.range.clone(), Returned::default());
                return None;
            }
            self.pipe.asked(now, send);
            positions?
        } else {
            let positions = self.take_hole(send.length())?;
            self.pipe.asked(now, send);
            self.binding.bind(&send.range, positions.start);
            positions
        };
        let in_order = self.stream.next();
        Some(self.pipe.request(now, &Ask::Pull(positions), in_order))
    }

    fn take_hole(&mut self, length: u64) -> Option<Range<u64>> {
        let hole = self.holes.front_mut()?;
        let taken = hole.start..(hole.start + length).min(hole.end);
        hole.start = taken.end;
        if hole.start >= hole.end {
            self.holes.pop_front();
        }
        Some(taken)
    }

    /// The standing request: a segment beyond all that the sender said it has, so that new data comes without being
    /// asked for. It is not in the engine's books, for it may be answered in a year; probes with growing distance
    /// make sure that neither it nor its answer was lost.
    fn ask_beyond(&mut self, now: Instant) -> Option<PacketOut> {
        let open = self.pipe.state() == PipeState::Established && !self.pipe.is_frozen();
        let has_all =
            self.end.is_none() && self.fresh >= self.pipe.limit() && self.stream.next() >= self.fresh;
        let segment = u64::from(self.pipe.segment_bytes());
        let room = self.fresh + segment <= self.request_edge();
        if !(open && has_all && room) {
            return None;
        }
        let first = self.standing.at != Some(self.fresh);
        if !first && !self.standing.probe_due {
            return None;
        }
        if first {
            self.standing.backoff = 0;
        }
        self.standing.at = Some(self.fresh);
        self.standing.probe_due = false;
        let wait = self.pipe.engine().rto() * (1 << self.standing.backoff.min(16));
        self.standing.probe_at = Some(now + wait.min(self.config.max_persist));
        // A probe pulls: if the answer was lost, the sender believes that nothing is left to send.
        let beyond = self.fresh..self.fresh + segment;
        let ask = if first { Ask::UpTo(beyond.end) } else { Ask::Pull(beyond) };
        let in_order = self.stream.next();
        Some(self.pipe.request(now, &ask, in_order))
    }
}
