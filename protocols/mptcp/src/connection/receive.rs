//! Arriving segments: whom they are for, what they bring, what they acknowledge.
use super::{Connection, Mode, State};
use crate::config::Coupling;
use crate::coupling::{WindowView, terms};
use crate::options::reset_reason;
use crate::segment::{Segment, reset_for};
use crate::subflow::{Payload, Subflow};
use alloc::vec::Vec;
use prismux_tcp::TcpEvent;
use prismux_units::Instant;
use prismux_wire::TcpFlags;

impl Connection {
    pub(super) fn receive(&mut self, now: Instant, segment: &Segment) {
        let Some(place) = self.find_subflow(now, segment) else { return };
        if self.is_early(segment) {
            self.drops.early += 1;
            return;
        }
        let was_established = self.subflows[place].established;
        if was_established {
            if !self.take_signals(place, segment) {
                return;
            }
            self.take_data_ack(place, segment);
        }
        self.couple(place);
        let update = self.subflows[place].receive(now, segment);
        if update.established {
            if !self.settle(place, segment) {
                return;
            }
            // Nothing has used the window before.
            self.take_signals(place, segment);
            self.take_data_ack(place, segment);
        }
        self.confirm_by(place, segment);
        self.watch_for_fallback(place, segment);
        if let Some(payload) = update.accepted {
            self.keep(place, payload);
        }
        if let Some(readable) = update.readable {
            self.deliver(place, readable);
        }
        self.after(now, place, segment);
        self.take_ending(place, update);
        self.close_when_complete();
    }

    /// What a segment has in its options beside the stream.
    fn after(&mut self, now: Instant, place: usize, segment: &Segment) {
        self.take_plain_ack(place, segment);
        if self.mode == Mode::Multipath {
            if let Some(rare) = segment.mptcp.rare.as_deref() {
                self.take_rare(now, place, rare);
                if rare.fast_close == Some(self.identity.key.0) {
                    self.take_fast_close();
                    return;
                }
            }
            let dss = segment.mptcp.dss.is_some() && self.subflows[place].established;
            if dss && !self.identity.is_proven {
                self.identity.is_proven = true;
                self.open_others(now);
            }
        }
        self.tell_acknowledged();
        self.end_of_peer(place);
        self.resume_all();
    }

    /// The subflow that `segment` is for; a SYN that joins makes one.
    fn find_subflow(&mut self, now: Instant, segment: &Segment) -> Option<usize> {
        if let Some(place) = self.place_of(segment.path) {
            return Some(place);
        }
        let flags = segment.tcp.flags;
        let opens = flags.contains(TcpFlags::SYN) && !flags.intersects(TcpFlags::ACK | TcpFlags::RST);
        if opens && self.state == State::Established {
            self.accept_join(now, segment);
        } else {
            self.drops.unknown_subflow += 1;
            self.resets.extend(reset_for(segment));
        }
        None
    }

    /// Mapping and DATA_FIN. False when the payload has no room: the subflow must not acknowledge it.
    fn take_signals(&mut self, place: usize, segment: &Segment) -> bool {
        if self.mode != Mode::Multipath {
            return self.has_room(place, segment);
        }
        let near = self.receive_buffer.next();
        let peer_first = self.identity.peer_first;
        let bytes = u64::from(segment.payload_bytes);
        let position = self.subflows[place].position_of(segment);
        if let Some(dss) = segment.mptcp.dss
            && let Some(mapping) = dss.mapping
            && let Some(data) = mapping.data.position(peer_first, near)
        {
            let length = u64::from(mapping.bytes) - u64::from(dss.fin && mapping.bytes > 0);
            if dss.fin {
                self.ends.peer_at.get_or_insert(data + length);
            }
            // Numbers count from the SYN; those of one segment lie near its own.
            let start = position.and_then(|position| {
                let distance = mapping.subflow.wrapping_sub(1).wrapping_sub(position as u32) as i32;
                position.checked_add_signed(i64::from(distance))
            });
            match start {
                Some(start) if mapping.bytes == 0 && !dss.fin => {
                    self.subflows[place].learn_infinite_mapping(start, data);
                }
                Some(start)
                    if length > 0 && !self.subflows[place].learn_mapping(start..start + length, data) =>
                {
                    self.drops.out_of_buffer += 1;
                    return false;
                }
                _ => {}
            }
        }
        if let Some(length) = segment.mptcp.capable.and_then(|capable| capable.data_bytes)
            && place == 0
        {
            self.subflows[place].learn_mapping(0..u64::from(length).min(bytes), 0);
        }
        self.has_room(place, segment)
    }

    fn has_room(&mut self, place: usize, segment: &Segment) -> bool {
        let bytes = u64::from(segment.payload_bytes);
        let Some(position) = self.subflows[place].position_of(segment).filter(|_| bytes > 0) else {
            return true;
        };
        let data = self.subflows[place].data_at(&(position..position + bytes));
        let fits = data.is_none_or(|data| self.receive_buffer.has_room(data.end));
        self.drops.out_of_buffer += u64::from(!fits);
        fits
    }

    /// DATA_ACK and the shared window, which counts from it.
    fn take_data_ack(&mut self, place: usize, segment: &Segment) {
        let ack = segment.mptcp.dss.and_then(|dss| dss.ack).filter(|_| self.mode == Mode::Multipath);
        let Some(ack) = ack else { return };
        let before = self.send_buffer.acked;
        let Some(acked) = ack.position(self.identity.first, before) else {
            self.drops.bad_ack += 1;
            return;
        };
        let end = self.send_buffer.frontier;
        let fin = self.has_sent_all() && acked == end + 1;
        if acked > end && !fin {
            self.drops.bad_ack += 1;
            return;
        }
        self.ends.acked |= fin;
        let shift = self.subflows[place].peer_shift.unwrap_or(0);
        self.send_buffer.acknowledge(acked.min(end), acked + (u64::from(segment.tcp.window) << shift));
    }

    /// In plain TCP the subflow's acknowledgement is the connection's.
    fn take_plain_ack(&mut self, place: usize, segment: &Segment) {
        if self.mode == Mode::Plain && place == 0 && !segment.tcp.flags.contains(TcpFlags::SYN) {
            let acked = self.subflows[0].tcp().stream_acked();
            let shift = self.subflows[0].peer_shift.unwrap_or(0);
            self.send_buffer.acknowledge(acked, acked + (u64::from(segment.tcp.window) << shift));
        }
    }

    /// Bytes that are acknowledged, and that no subflow will repeat.
    fn tell_acknowledged(&mut self) {
        let acked = self.send_buffer.acked;
        let held = self.subflows.iter().filter(|subflow| !subflow.ended).flat_map(Subflow::held);
        let up_to = held.map(|range| range.start).min().unwrap_or(acked).min(acked);
        if up_to > self.told_acknowledged {
            self.told_acknowledged = up_to;
            self.events.push(TcpEvent::Acknowledged { up_to });
        }
    }

    /// New payload, in the order of its subflow or not.
    fn keep(&mut self, place: usize, payload: Payload) {
        let end = payload.position + u64::from(payload.bytes);
        let mut position = payload.position;
        while position < end {
            let Some(data) = self.subflows[place].data_at(&(position..end)) else { return };
            let offset = payload.segment_offset + (position - payload.position) as u32;
            let (start, events) = (data.start, &mut self.events);
            position += data.end - data.start;
            self.receive_buffer.keep(data, |part| {
                events.push(TcpEvent::Accepted {
                    segment_offset: offset + (part.start - start) as u32,
                    stream_offset: part.start,
                    bytes: (part.end - part.start) as u32,
                });
            });
        }
    }

    /// The subflow at `place` has everything up to `readable`: its bytes take their places in the stream.
    fn deliver(&mut self, place: usize, readable: u64) {
        let before = self.receive_buffer.next();
        while let Some(data) = self.subflows[place].deliver_next(readable) {
            match data {
                Ok(data) => {
                    let bytes = data.end - data.start;
                    self.drops.duplicate_bytes += bytes - self.receive_buffer.new_in(&data);
                    self.receive_buffer.deliver(data);
                }
                Err(_) => {
                    self.drops.unmapped += 1;
                    self.give_up(place, reset_reason::MIDDLEBOX);
                    break;
                }
            }
        }
        let next = self.receive_buffer.next();
        if next > before {
            self.events.push(TcpEvent::Readable { up_to: next });
            if self.config.consume_on_arrival {
                self.receive_buffer.set_read(next);
            }
        }
    }

    /// Tells the subflow at `place` what the windows of the others mean for its own.
    fn couple(&mut self, place: usize) {
        if self.config.coupling == Coupling::Off {
            return;
        }
        let of = |subflow: &Subflow| subflow.can_send() && subflow.srtt().is_some();
        if !of(&self.subflows[place]) {
            return;
        }
        let own = self.subflows[..place].iter().filter(|subflow| of(subflow)).count();
        let views: Vec<WindowView> =
            self.subflows.iter().filter(|subflow| of(subflow)).map(Subflow::window_view).collect();
        let terms = terms(self.config.coupling, &views, own);
        self.subflows[place].tcp_mut().set_coupling(&terms);
    }
}
