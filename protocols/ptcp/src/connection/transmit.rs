//! Leaving segments: the pipes are asked in order, each until it has nothing to say.
use super::{Connection, State};
use crate::header::PtcpHeader;
use crate::pipe::{Pipe, PipeSegment};
use crate::scheduler::{Offer, PipeView};
use crate::segment::{Segment, SegmentOut};
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_units::Instant;
use prismux_wire::TcpFlags;

impl Connection {
    pub(super) fn transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        if let Some(segment) = self.resets.pop_front() {
            return Some(SegmentOut { segment, stream_offset: 0 });
        }
        let takes_new = self.scheduler.is_none();
        while let Some(index) = self.first_pipe(|pipe| pipe.is_resumed()) {
            if let Some(segment) = self.send_by(now, index, takes_new) {
                return Some(segment);
            }
        }
        while let Some(index) = self.choose(now) {
            if let Some(segment) = self.send_by(now, index, true) {
                return Some(segment);
            }
        }
        self.watch_stall(now);
        None
    }

    /// The next segment of a pipe, which may carry bytes that no pipe was given if it `takes_new` ones.
    fn send_by(&mut self, now: Instant, index: usize, takes_new: bool) -> Option<SegmentOut> {
        let quicker = self.has_quicker(index);
        let segment = self.pipes[index].send(now, &mut self.send_buffer, takes_new, quicker)?;
        if segment.offered_elsewhere {
            self.resume_all();
        }
        Some(self.add_header(index, segment))
    }

    /// The pipe with room that the scheduler gives the next bytes to, if there are a scheduler and bytes.
    fn choose(&mut self, now: Instant) -> Option<usize> {
        let scheduler = self.scheduler.as_mut()?;
        let (next_byte, unsent_bytes) = self.send_buffer.waiting()?;
        let offer = Offer { now, next_byte, unsent_bytes, window_bytes: self.send_buffer.room() };
        let views: Vec<PipeView> = self.pipes.iter().map(Pipe::view).collect();
        let can_send = |place: &usize| views.get(*place).is_some_and(|view| view.usable && view.has_room);
        let first = (0..views.len()).find(can_send)?;
        // Nothing would ever come that could end the wait.
        let overruled = self.stall.has_ended().then_some(first);
        scheduler.choose(&views, &offer).filter(can_send).or(overruled)
    }

    /// Another pipe has less than half of this one's round-trip time, so that it would be done first with a repair.
    fn has_quicker(&self, index: usize) -> bool {
        let srtt = self.pipes[index].srtt().filter(|_| self.config.opportunistic_retransmission);
        let is_quicker =
            |other: &Pipe| other.is_live() && other.srtt().zip(srtt).is_some_and(|(a, b)| a * 2 < b);
        self.pipes.iter().any(is_quicker)
    }

    /// Adds the connection's header.
    fn add_header(&mut self, index: usize, mut segment: PipeSegment) -> SegmentOut {
        let pipe = &self.pipes[index];
        let identity = &self.identity;
        let is_syn = segment.tcp.flags.contains(TcpFlags::SYN);
        let set_up = is_syn.then(|| Box::new(self.set_up(pipe.is_first)));
        let header = PtcpHeader {
            pipe: pipe.id,
            virtual_bytes: segment.virtual_bytes as u16,
            source: identity.own,
            destination: identity.peer,
            seq: identity.initial + segment.data as u32,
            ack: identity.peer_initial + self.receive_buffer.next() as u32,
        };
        segment.tcp.window = self.receive_buffer.advertise();
        let path = pipe.path;
        SegmentOut {
            stream_offset: segment.data,
            segment: Segment {
                path,
                header,
                set_up,
                tcp: segment.tcp,
                payload_bytes: segment.bytes,
                ecn: segment.ecn,
            },
        }
    }

    /// Reading has opened the window: tell the peer by the best pipe.
    pub(super) fn tell_window(&mut self) {
        let Some(best) = self.first_pipe(|pipe| pipe.established) else { return };
        let segment_bytes = u32::from(self.config.tcp.mss);
        if matches!(self.state, State::Established(_)) && self.receive_buffer.update_is_due(segment_bytes) {
            self.pipes[best].request_ack();
        }
    }
}
