//! Phase *build*: headers.
use super::receive_window::shift_for;
use super::{AckNeed, Connection, Control, SegmentOut, State};
use crate::engine::{Send, SendKind};
use prismux_units::Instant;
use prismux_wire::{Ecn, SeqNumber, TcpFlags, TcpHeader, TcpOptions};

/// SACK blocks that fit beside timestamps, and without (RFC 2018 section 3).
const BLOCKS_BESIDE_TIMESTAMPS: usize = 3;
const BLOCKS_ALONE: usize = 4;

impl Connection {
    pub(super) fn build_control(&mut self, now: Instant, control: Control) -> SegmentOut {
        match control {
            Control::Syn => self.build_syn(now),
            Control::Probe => {
                self.counters.probes_sent += 1;
                let mut segment = self.build_ack(now);
                segment.header.seq = segment.header.seq - 1;
                segment
            }
            Control::Notice(notice) => {
                let mut segment = self.build_ack(now);
                segment.header.options.insert_handoff(notice);
                segment
            }
            Control::Echo { ack, marked } => {
                let (need, segments) = (self.acking.need, self.acking.segments);
                let timer = self.delayed_ack;
                let mut segment = self.build_ack(now);
                segment.header.ack = ack;
                segment.header.flags = TcpFlags::ACK;
                if marked {
                    segment.header.flags |= TcpFlags::ECE;
                }
                // What came since is not acknowledged yet.
                (self.acking.need, self.acking.segments) = (need, segments);
                self.delayed_ack = timer;
                segment
            }
            Control::Reset { seq, with_ack } => {
                let mut header = self.ports(seq, TcpFlags::RST);
                if with_ack {
                    header.flags |= TcpFlags::ACK;
                    header.ack = self.receiving.next_sequence();
                }
                let reset = self.finish(header, 0, 0, Ecn::NotEct);
                self.mark(reset)
            }
        }
    }

    fn build_syn(&mut self, now: Instant) -> SegmentOut {
        let answers = self.state == State::SynReceived;
        let mut header = self.ports(self.sending.initial, TcpFlags::SYN);
        let config = &self.config;
        // An answer offers only what was offered; a first SYN offers all we have.
        let scaling = if answers { self.agreed.window_scaling } else { config.window_scaling };
        let timestamps = if answers { self.agreed.timestamps } else { config.timestamps };
        header.options = TcpOptions {
            mss: Some(config.mss),
            window_scale: scaling.then(|| shift_for(config.receive_buffer.as_u64())),
            sack_permitted: if answers { self.agreed.sack } else { config.sack },
            timestamps: timestamps.then(|| self.clock.stamp(now)),
            ..TcpOptions::default()
        };
        if answers {
            header.flags |= TcpFlags::ACK;
            header.ack = self.receiving.next_sequence();
            if self.ecn.negotiated {
                header.flags |= TcpFlags::ECE;
            }
        } else if config.ecn && self.timers.syn_retransmissions == 0 {
            // A SYN that gets no answer is retried without ECN (RFC 3168 section 6.1.1.1).
            header.flags |= TcpFlags::ECE | TcpFlags::CWR;
        }
        header.window = self.receiving.window.advertise_unscaled(0);
        self.counters.syns_sent += 1;
        self.start_syn_timer(now);
        let syn = self.finish(header, 0, 0, Ecn::NotEct);
        self.mark(syn)
    }

    #[inline]
    pub(super) fn build_data(&mut self, now: Instant, send: &Send) -> SegmentOut {
        match self.order {
            None => self.build_unmarked_data(now, send),
            Some(_) => self.build_marked_data(now, send),
        }
    }

    #[inline(never)]
    fn build_marked_data(&mut self, now: Instant, send: &Send) -> SegmentOut {
        let data = self.build_unmarked_data(now, send);
        self.mark(data)
    }

    #[inline]
    fn build_unmarked_data(&mut self, now: Instant, send: &Send) -> SegmentOut {
        let (start, end) = (send.range.start, send.range.end);
        let written = self.sending.written;
        let mut header = self.acknowledging(now, self.sending.initial + 1 + (start as u32));
        if end > written {
            header.flags |= TcpFlags::FIN;
        }
        if end >= written {
            header.flags |= TcpFlags::PSH;
        }
        let new = send.kind == SendKind::New;
        let payload_bytes = end.min(written).saturating_sub(start) as u32;
        let mut ecn = Ecn::NotEct;
        if self.ecn.negotiated && new && payload_bytes > 0 {
            // Retransmissions are not marked ECT (RFC 3168 section 6.1.5).
            ecn = Ecn::Ect0;
            if core::mem::take(&mut self.ecn.cwr_due) {
                header.flags |= TcpFlags::CWR;
            }
        }
        self.finish(header, start, payload_bytes, ecn)
    }

    pub(super) fn build_ack(&mut self, now: Instant) -> SegmentOut {
        match self.order {
            None => self.build_unmarked_ack(now),
            Some(_) => self.build_marked_ack(now),
        }
    }

    #[inline(never)]
    fn build_marked_ack(&mut self, now: Instant) -> SegmentOut {
        let ack = self.build_unmarked_ack(now);
        self.mark(ack)
    }

    #[inline]
    fn build_unmarked_ack(&mut self, now: Instant) -> SegmentOut {
        let mut header = self.acknowledging(now, self.next_sequence());
        if self.agreed.sack && self.receiving.reassembly.has_news() {
            let room = if self.agreed.timestamps { BLOCKS_BESIDE_TIMESTAMPS } else { BLOCKS_ALONE };
            let max = room.min(usize::from(self.config.max_sack_blocks));
            let origin = self.receiving.initial + 1;
            header.options.sack = self.receiving.reassembly.sack_blocks(origin, max, self.config.dsack);
        } else {
            self.receiving.reassembly.forget_duplicate();
        }
        self.traffic.pure_acks_sent += 1;
        self.finish(header, 0, 0, Ecn::NotEct)
    }

    /// A header with everything that an acknowledgement says; settles the debt of one.
    fn acknowledging(&mut self, now: Instant, seq: SeqNumber) -> TcpHeader {
        let next = self.receiving.next();
        let mut header = self.ports(seq, TcpFlags::ACK);
        header.ack = self.receiving.next_sequence();
        header.window = self.receiving.window.advertise(next);
        if self.agreed.timestamps {
            header.options.timestamps = Some(self.clock.stamp(now));
            self.clock.note_ack_sent(next);
        }
        if self.ecn.echo {
            header.flags |= TcpFlags::ECE;
        }
        self.acking.need = AckNeed::None;
        self.acking.segments = 0;
        self.delayed_ack = Instant::MAX;
        header
    }

    fn ports(&self, seq: SeqNumber, flags: TcpFlags) -> TcpHeader {
        TcpHeader {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq,
            flags,
            ..TcpHeader::default()
        }
    }

    #[inline]
    fn finish(&mut self, header: TcpHeader, stream_offset: u64, payload_bytes: u32, ecn: Ecn) -> SegmentOut {
        self.traffic.segments_sent += 1;
        SegmentOut { header, stream_offset, payload_bytes, ecn }
    }

    /// Lets the watch of the order, where there is one, mark a segment. What builds segments for others stands apart:
    /// it need not put them into memory that the watch could see.
    fn mark(&mut self, mut segment: SegmentOut) -> SegmentOut {
        if let Some(order) = &mut self.order {
            order.mark(&mut segment, self.timers.syn_retransmissions);
        }
        segment
    }
}
