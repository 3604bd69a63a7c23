//! Arriving segments: whom they are for, what they bring, what they acknowledge.
use super::{Connection, State};
use crate::pipe::{PipeUpdate, Settle};
use crate::receive_buffer::Storing;
use crate::segment::{Segment, reset_for};
use prismux_tcp::TcpEvent;
use prismux_units::Instant;
use prismux_wire::TcpFlags;

impl Connection {
    pub(super) fn receive(&mut self, now: Instant, segment: &Segment) {
        let Some(index) = self.find_pipe(now, segment) else { return };
        let answers = self.state == State::Opening && self.identity.opened_here;
        if answers && !self.is_answer(segment) {
            self.drops.not_set_up += 1;
            return;
        }
        let has_payload = segment.payload_bytes > 0;
        let known = self.pipes[index].established;
        // Payload first: a pipe may discard as a repetition what the connection has never seen. And what does not fit
        // must not be acknowledged by the pipe.
        if has_payload && known && !self.store(index, segment) {
            return;
        }
        if known && segment.tcp.flags.contains(TcpFlags::ACK) {
            self.take_acknowledgement(segment);
        }
        let update = self.hand_to_pipe(now, index, segment);
        if answers && update.established {
            self.learn_from_answer(segment);
        }
        if update.established && segment.tcp.flags.contains(TcpFlags::ACK) {
            self.take_acknowledgement(segment);
            if has_payload {
                self.store(index, segment);
            }
        }
        self.take_update(now, index, update);
        self.couple();
        if update.established
            && self.identity.opened_here
            && self.pipes[index].is_first
            && !self.closing_early()
        {
            let addresses = segment.set_up.as_ref().map(|set_up| set_up.addresses).unwrap_or_default();
            self.open_others(&addresses, now);
        }
        self.close_when_complete(now);
    }

    /// Nothing was written and the application has closed: no further pipes are worth opening.
    fn closing_early(&self) -> bool {
        self.closing && self.send_buffer.is_complete()
    }

    /// The pipe that `segment` is for; a valid SYN of a further pipe makes one.
    fn find_pipe(&mut self, now: Instant, segment: &Segment) -> Option<usize> {
        let header = &segment.header;
        let identity = &self.identity;
        let flags = segment.tcp.flags;
        let opening = flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::ACK);
        let first_syn = opening && header.pipe == 0 && header.destination == 0;
        let named =
            header.destination == identity.own && (identity.peer == 0 || header.source == identity.peer);
        if !(named || first_syn && header.source == identity.peer) || self.state == State::Closed {
            self.drops.wrong_connection += 1;
            return None;
        }
        let proven = segment.set_up.as_ref().is_some_and(|set_up| set_up.token == identity.token);
        if let Some(index) = self.pipes.iter().position(|pipe| pipe.id == header.pipe) {
            let pipe = &self.pipes[index];
            if pipe.path != segment.path {
                let again = opening && !identity.opened_here && header.destination != 0;
                match (again, proven) {
                    (true, true) if self.state != State::Closing => self.replace_pipe(index, segment, now),
                    (true, false) => self.drops.bad_token += 1,
                    _ => self.drops.foreign_path += 1,
                }
                return None;
            }
            if pipe.ended {
                self.resets.extend(reset_for(segment));
                return None;
            }
            return Some(index);
        }
        let wanted = opening && !identity.opened_here && header.pipe < self.agreed.pipes();
        match (wanted, proven) {
            // The token proves that the peer has seen our answer, even if its acknowledgement is still under way.
            (true, true) if self.state != State::Closing => self.accept_pipe(segment, now),
            (true, false) => self.drops.bad_token += 1,
            _ => self.drops.unknown_pipe += 1,
        }
        // A pipe that was just made has taken the SYN already.
        None
    }

    /// The peer has opened pipe `index` again, over another path: it gave the old one up.
    fn replace_pipe(&mut self, index: usize, syn: &Segment, now: Instant) {
        if !self.pipes[index].ended {
            self.release(index);
        }
        self.accept_pipe(syn, now);
    }

    /// Stores payload by pSEQ. False when it does not fit.
    fn store(&mut self, index: usize, segment: &Segment) -> bool {
        let next = self.receive_buffer.next();
        let Some(start) = segment.header.seq.unwrap_near(self.identity.peer_initial, next) else {
            self.drops.out_of_buffer += 1;
            return false;
        };
        self.pipes[index].received_bytes += u64::from(segment.payload_bytes);
        let events = &mut self.events;
        let storing = self.receive_buffer.store(start..start + u64::from(segment.payload_bytes), |part| {
            events.push(TcpEvent::Accepted {
                segment_offset: (part.start - start) as u32,
                stream_offset: part.start,
                bytes: (part.end - part.start) as u32,
            });
        });
        match storing {
            Storing::Stored => {
                let now_next = self.receive_buffer.next();
                if now_next > next {
                    events.push(TcpEvent::Readable { up_to: now_next });
                    if self.config.consume_on_arrival {
                        self.receive_buffer.set_read(now_next);
                    }
                }
            }
            Storing::Duplicate => self.drops.duplicate_bytes += u64::from(segment.payload_bytes),
            Storing::NoRoom => self.drops.out_of_buffer += 1,
        }
        storing != Storing::NoRoom
    }

    /// pACK and the shared window.
    fn take_acknowledgement(&mut self, segment: &Segment) {
        let before = self.send_buffer.acked;
        let acked = segment.header.ack.unwrap_near(self.identity.initial, before);
        let Some(acked) = acked.filter(|&acked| acked <= self.send_buffer.frontier) else {
            self.drops.bad_ack += 1;
            return;
        };
        let edge = acked + (u64::from(segment.tcp.window) << self.identity.peer_shift);
        if self.send_buffer.acknowledge(acked, edge) {
            self.resume_all();
        }
        if self.send_buffer.acked > before {
            self.events.push(TcpEvent::Acknowledged { up_to: self.send_buffer.acked });
        }
    }

    fn hand_to_pipe(&mut self, now: Instant, index: usize, segment: &Segment) -> PipeUpdate {
        let due = now + self.confirmation_time();
        let mut settle = Settle {
            send_buffer: &mut self.send_buffer,
            due,
            recheck_unconfirmed: self.config.recheck_unconfirmed,
        };
        let length = u32::from(segment.header.virtual_bytes).max(segment.payload_bytes);
        self.pipes[index].receive(now, &segment.tcp, length, segment.ecn, &mut settle)
    }
}
