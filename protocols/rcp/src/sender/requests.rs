//! What an arriving packet does to the sender.
use super::{Control, MAX_WAITING_PULLS, Pull, Sender, SenderState};
use crate::header::{RcpFlags, RcpHeader};
use crate::packet::{PacketIn, RcpEvent};
use prismux_units::Instant;

impl Sender {
    pub(super) fn take(&mut self, now: Instant, packet: &PacketIn) {
        let header = &packet.header;
        if header.flags.contains(RcpFlags::SYN) {
            return self.take_syn(now, header);
        }
        if self.state == SenderState::SynSent || !header.flags.contains(RcpFlags::REQ) {
            self.metrics.drops.malformed += 1;
            return;
        }
        if !header.proves(self.token) {
            self.metrics.drops.forged += 1;
            return;
        }
        self.heard_at = now;
        if self.state == SenderState::SynReceived {
            self.establish();
        }
        match () {
            () if header.flags.contains(RcpFlags::RST) => self.take_reset(),
            () if header.flags.contains(RcpFlags::FIN) => self.take_goodbye(),
            () if self.state == SenderState::Established => self.take_request(header),
            // The receiver has not heard that we are gone.
            () => self.control = Some(Control::Reset),
        }
    }

    /// SYN again (our answer was lost), or the receiver's answer to ours.
    fn take_syn(&mut self, now: Instant, header: &RcpHeader) {
        let answers = header.flags.contains(RcpFlags::ACK);
        let ours = header.proof == RcpHeader::acknowledging(self.initial + 1)
            && header.options.token == Some(self.token);
        match self.state {
            SenderState::SynSent if answers && ours => {
                self.heard_at = now;
                self.learn(header);
                self.control = Some(Control::Ack);
                self.open_at = None;
                self.establish();
            }
            SenderState::Established if answers && ours => self.control = Some(Control::Ack),
            SenderState::SynReceived if !answers && header.number == self.peer_initial => {
                self.control = Some(Control::SynAck);
            }
            // A SYN that was under way longer than the rest of the handshake.
            SenderState::Established if !answers && header.number == self.peer_initial => {}
            _ => self.metrics.drops.malformed += 1,
        }
    }

    fn establish(&mut self) {
        self.state = SenderState::Established;
        self.events.push_back(RcpEvent::Connected);
    }

    pub(super) fn retry_opening(&mut self, now: Instant) {
        self.open_at = None;
        if self.open_retries >= self.config.open_retries {
            self.events.push_back(RcpEvent::TimedOut);
            self.close();
            return;
        }
        self.open_retries += 1;
        self.control = Some(Control::Syn);
        let engine = &self.config.engine;
        let wait = engine.initial_rto * (1 << self.open_retries.min(16));
        self.open_at = Some(now + wait.min(engine.max_rto));
    }

    fn take_reset(&mut self) {
        if self.state != SenderState::Closed {
            self.events.push_back(RcpEvent::Reset);
            self.close();
        }
    }

    /// Everything has arrived. Said again, it is answered again; nothing need be kept for that but the token.
    fn take_goodbye(&mut self) {
        self.control = Some(Control::FinAck);
        if self.state != SenderState::Closed {
            self.purge(self.stream_end());
            self.close();
        }
    }

    fn purge(&mut self, position: u64) {
        let before = self.stream_purged();
        self.purged = self.purged.max(position);
        self.next = self.next.max(position);
        if self.stream_purged() > before {
            self.events.push_back(RcpEvent::Purged { up_to: self.stream_purged() });
        }
    }

    fn take_request(&mut self, header: &RcpHeader) {
        self.metrics.requests += 1;
        let Some(position) = header.number.unwrap_near(self.initial + 1, self.next.max(self.purged)) else {
            self.metrics.drops.below_purge += 1;
            return;
        };
        let echo = header.options.timestamps.filter(|_| self.timestamps).map_or(0, |stamps| stamps.value);
        // The distance is rounded up by scaling, so that never too much is purged.
        let distance = u64::from(header.window) << self.distance_shift;
        self.purge(position.saturating_sub(distance).min(self.stream_end()));
        // The blocks name the requests before this one, newest first: against the ring as it is without this one,
        // oldest first.
        for block in header.options.blocks.as_slice().iter().rev() {
            self.take_block(block.start.unwrap_near(self.initial + 1, position));
        }
        if header.flags.contains(RcpFlags::PUL) {
            self.take_pull(position, echo);
        } else {
            self.take_cumulative(position, echo);
        }
    }

    /// Everything not yet sent up to `position`. Up to one segment beyond the limit is taken too: it is the standing
    /// request of a receiver that has all there is, to be answered when data appears.
    fn take_cumulative(&mut self, position: u64, echo: u32) {
        let unanswered = self.next.saturating_add(self.config.max_unanswered.as_u64());
        let most = (self.limit() + u64::from(self.segment_bytes)).min(unanswered);
        if position > most {
            self.metrics.drops.beyond_limit += 1;
        }
        self.requested = self.requested.max(position.min(most));
        self.echo = echo;
        if self.next >= self.stream_end() && !self.finished {
            self.update_due = true;
        }
    }

    fn take_pull(&mut self, start: u64, echo: u32) {
        if start < self.purged {
            self.metrics.drops.below_purge += 1;
        } else if start >= self.limit() + u64::from(self.segment_bytes) {
            self.metrics.drops.beyond_limit += 1;
        } else if self.pulls.len() >= MAX_WAITING_PULLS {
            self.metrics.drops.crowded += 1;
        } else if self.pulls.iter().all(|pull| pull.start != start) {
            self.metrics.pulls += 1;
            self.metrics.drops.beyond_end += u64::from(self.finished && start >= self.stream_end());
            self.ring.note(start);
            self.pulls.push_back(Pull { start, echo });
        }
    }

    /// A block names an earlier pull. If none such was answered lately the request was lost.
    fn take_block(&mut self, start: Option<u64>) {
        let Some(start) = start.filter(|&start| start >= self.purged && !self.ring.refresh(start)) else {
            return;
        };
        let pulls = self.metrics.pulls;
        // Not timed: how long ago it was asked for is not known.
        self.take_pull(start, 0);
        if self.metrics.pulls > pulls {
            self.metrics.pulls = pulls;
            self.metrics.recovered_pulls += 1;
        }
    }
}
