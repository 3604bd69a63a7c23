//! What leaves the sender: control packets, then pulls, then what cumulative requests ask for.
use super::{Control, Pull, Sender, SenderState};
use crate::header::{RcpFlags, RcpHeader, RcpOptions};
use crate::packet::PacketOut;
use prismux_units::Instant;
use prismux_wire::{Ecn, Timestamps};

impl Sender {
    pub(super) fn answer(&mut self, now: Instant) -> Option<PacketOut> {
        if let Some(control) = self.control.take() {
            return Some(self.build_control(control));
        }
        if self.state != SenderState::Established {
            return None;
        }
        let has_work = self.requested.min(self.stream_end()) > self.next || !self.pulls.is_empty();
        if has_work && self.cap.as_mut().is_some_and(|cap| !cap.allows(now)) {
            return None;
        }
        let packet = self.next_pull().or_else(|| self.next_cumulative()).or_else(|| self.update());
        if let (Some(packet), Some(cap)) = (&packet, &mut self.cap) {
            let bytes = packet.payload_bytes + packet.header.wire_bytes() as u32;
            cap.spend(now, bytes);
        }
        packet
    }

    /// The first pull whose data exists; those beyond the data wait.
    fn next_pull(&mut self) -> Option<PacketOut> {
        let end = self.stream_end();
        let index = self.pulls.iter().position(|pull| pull.start < end || self.finished)?;
        let Pull { start, echo } = self.pulls.remove(index)?;
        if start < self.purged {
            return self.next_pull();
        }
        let packet = self.build_data(start, u64::MAX, echo);
        let sent_end = start + u64::from(packet.payload_bytes);
        if start < self.next {
            self.metrics.repeated_bytes += sent_end.min(self.next) - start;
        }
        if start <= self.next {
            let fin = packet.header.flags.contains(RcpFlags::FIN);
            self.next = self.next.max(sent_end + u64::from(fin));
        }
        Some(packet)
    }

    fn next_cumulative(&mut self) -> Option<PacketOut> {
        let requested = self.requested.min(self.stream_end());
        if self.next >= requested {
            return None;
        }
        let packet = self.build_data(self.next, requested, self.echo);
        let fin = packet.header.flags.contains(RcpFlags::FIN);
        self.next += u64::from(packet.payload_bytes) + u64::from(fin);
        Some(packet)
    }

    /// News of the limit for a receiver that has been sent everything there is.
    fn update(&mut self) -> Option<PacketOut> {
        if !core::mem::take(&mut self.update_due) {
            return None;
        }
        Some(self.build_data(self.next.min(self.written), 0, self.echo))
    }

    /// Data from `start` to `until` or as far as a segment reaches; FIN once it reaches the end of the stream.
    fn build_data(&mut self, start: u64, until: u64, echo: u32) -> PacketOut {
        let start = start.min(self.written);
        let end = (start + u64::from(self.segment_bytes)).min(self.written).min(until.max(start));
        let payload_bytes = (end - start) as u32;
        let is_update = until == 0;
        let flags = match self.finished && end == self.written && !is_update {
            true => RcpFlags::FIN,
            false => RcpFlags::NONE,
        };
        if !is_update {
            // It carries the limit too.
            self.update_due = false;
        }
        self.metrics.data_packets += u64::from(payload_bytes > 0);
        self.metrics.data_bytes += u64::from(payload_bytes);
        let distance = (self.limit().saturating_sub(start)) >> self.limit_shift;
        let header = RcpHeader {
            flags,
            window: distance.min(u64::from(u16::MAX)) as u16,
            number: self.number(start),
            proof: RcpHeader::under(self.token, flags),
            options: RcpOptions {
                timestamps: self.timestamps.then_some(Timestamps { value: 0, echo }),
                ..RcpOptions::default()
            },
        };
        let ecn = if self.ecn && payload_bytes > 0 { Ecn::Ect0 } else { Ecn::NotEct };
        PacketOut { header, stream_offset: start, payload_bytes, ecn }
    }

    fn build_control(&self, control: Control) -> PacketOut {
        let ecn = if self.config.ecn { RcpFlags::ECN } else { RcpFlags::NONE };
        let (flags, number, proof) = match control {
            Control::Syn => (RcpFlags::SYN | ecn, self.initial, 0),
            Control::SynAck => {
                let ecn = if self.ecn { RcpFlags::ECN } else { RcpFlags::NONE };
                let proof = RcpHeader::acknowledging(self.peer_initial + 1);
                (RcpFlags::SYN | RcpFlags::ACK | ecn, self.initial, proof)
            }
            Control::Ack => self.under_token(RcpFlags::ACK),
            Control::FinAck => self.under_token(RcpFlags::FIN | RcpFlags::ACK),
            Control::Reset => self.under_token(RcpFlags::RST),
        };
        let mut options = RcpOptions::default();
        if flags.contains(RcpFlags::SYN) {
            let answers = control == Control::SynAck;
            options = RcpOptions {
                mss: Some(self.config.mss),
                window_scale: Some(self.limit_shift),
                timestamps: (if answers { self.timestamps } else { self.config.timestamps })
                    .then_some(Timestamps { value: 0, echo: self.echo }),
                token: Some(self.token),
                ..options
            };
        }
        // A window in a SYN is never scaled.
        let distance = self.limit().saturating_sub(self.next);
        let shift = if flags.contains(RcpFlags::SYN) { 0 } else { self.limit_shift };
        let window = (distance >> shift).min(u64::from(u16::MAX)) as u16;
        PacketOut::bare(RcpHeader { flags, window, number, proof, options })
    }

    fn under_token(&self, flags: RcpFlags) -> (RcpFlags, prismux_wire::SeqNumber, u64) {
        (flags, self.number(self.next), RcpHeader::under(self.token, flags))
    }
}
