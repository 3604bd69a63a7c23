//! Leaving segments: the pipes are asked in order, each until it has nothing to say.
use super::{Connection, State};
use crate::header::PtcpHeader;
use crate::pipe::{Pipe, PipeSegment};
use crate::segment::{Segment, SegmentOut};
use alloc::boxed::Box;
use prismux_units::Instant;
use prismux_wire::TcpFlags;

impl Connection {
    pub(super) fn transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        if let Some(segment) = self.resets.pop_front() {
            return Some(SegmentOut { segment, stream_offset: 0 });
        }
        while let Some(index) = self.first_pipe(|pipe| pipe.is_resumed()) {
            let quicker = self.has_quicker(index);
            if let Some(segment) = self.pipes[index].send(now, &mut self.send_buffer, quicker) {
                if segment.offered_elsewhere {
                    self.resume_all();
                }
                return Some(self.add_header(index, segment));
            }
        }
        self.watch_stall(now);
        None
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
