//! A host that sends several packets for one neighbour together, and what it receives that way.
use super::Dcf;
use crate::HostId;
use crate::event::{AirEvent, Events};
use crate::mac::block::End;
use crate::mac::config::{Aggregation, Mac};
use crate::mac::ear::Signal;
use crate::mac::exchange::{Answer, Current, Waiting};
use crate::mac::{Frame, FrameKind, Outgoing};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

impl<P: Copy> Dcf<P> {
    /// The current packet is the first of a block; others for the same neighbour join it.
    pub(super) fn begin_block(&mut self, mac: &Mac) {
        if let (Some(limits), Some(current)) = (&mac.config.aggregation, &mut self.current)
            && let Some(to) = current.packet.to
        {
            current.sequence = self.block.push(to, current.packet);
            self.fill_block(to, limits, mac);
        }
    }

    /// As many packets as there are, and room for, join the block.
    pub(super) fn fill_block(&mut self, to: HostId, limits: &Aggregation, mac: &Mac) {
        let rate = self.data_rate(Some(to), mac);
        while let Some(packet) = self.queue.first_for(to)
            && self.block.has_room_for(packet, rate, mac, limits)
            && let Some(packet) = self.queue.pop_for(to)
        {
            self.block.push(to, packet);
        }
    }

    /// A transmission of all that is not acknowledged begins.
    pub(super) fn send_block(&mut self, now: Instant, to: HostId, mac: &Mac) -> Option<Frame<P>> {
        self.block.begin();
        self.send_part(now, to, mac)
    }

    /// The next packet of the transmission under way.
    pub(super) fn send_part(&mut self, now: Instant, to: HostId, mac: &Mac) -> Option<Frame<P>> {
        let rate = self.data_rate(Some(to), mac);
        let part = self.block.next_part(rate, mac)?;
        let answer = mac.config.sifs + mac.control(rate).block_ack;
        if self.block.has_next_part() {
            self.answer = Some((now + part.airtime, Answer::Part(to)));
        } else {
            self.waiting = Waiting::Ack(now + part.airtime + answer + mac.patience);
        }
        let nav = part.remaining + answer;
        let frame = self.transmit(now, FrameKind::Data, Some(to), (rate, part.airtime), nav, mac);
        let (sequence, payload) = (part.sequence, Some(part.packet.payload));
        let announced = self.block.frame_bytes(mac) >= mac.config.rts_threshold_bytes;
        Some(Frame { sequence, payload, announced, continues: !part.is_first, ..frame })
    }

    /// A packet of an aggregate has come.
    pub(super) fn receive_part(&mut self, now: Instant, frame: &Frame<P>, mac: &Mac, events: &mut Events<P>) {
        let Frame { from, rate, sequence, .. } = *frame;
        let is_of_another = |(_, answer): (_, Answer)| answer != Answer::BlockAck(from, rate);
        if self.answer.is_some_and(is_of_another) {
            self.stats.data_refused += 1;
            return;
        }
        self.expecting_until = Instant::ZERO;
        let answer_at = now + (frame.nav - mac.control(rate).block_ack);
        self.answer = Some((answer_at, Answer::BlockAck(from, rate)));
        let Some(payload) = frame.payload else { return };
        if events.receive_part(self.host, from, sequence, payload) {
            self.stats.packets_received += 1;
        } else {
            self.stats.duplicates += 1;
        }
    }

    /// What has come of an aggregate, for its sender.
    pub(super) fn give_block_ack(
        &mut self,
        now: Instant,
        (to, rate): (HostId, prismux_units::Rate),
        mac: &Mac,
        events: &mut Events<P>,
    ) -> Frame<P> {
        let control = mac.control(rate);
        let (sequence, bitmap) = events.received(self.host, to);
        let airtime = (control.rate, control.block_ack);
        let frame = self.transmit(now, FrameKind::BlockAck, Some(to), airtime, Duration::ZERO, mac);
        Frame { sequence, bitmap, ..frame }
    }

    /// A block acknowledgement has come.
    pub(super) fn receive_block_ack(
        &mut self,
        now: Instant,
        frame: &Frame<P>,
        mac: &Mac,
        events: &mut Events<P>,
    ) {
        if !matches!(self.waiting, Waiting::Ack(_)) || self.block.is_empty() {
            return;
        }
        self.block.acknowledge(frame.sequence, frame.bitmap);
        self.block.count_attempt();
        self.learn(frame.from, true, mac);
        self.end_members(frame.from, mac, events);
        self.contention.reset_window(mac);
        self.go_on(now, mac);
    }

    /// No answer came, to an aggregate or to the RTS before it.
    pub(super) fn retry_block(
        &mut self,
        now: Instant,
        to: HostId,
        to_data: bool,
        mac: &Mac,
        events: &mut Events<P>,
    ) {
        let Some(current) = &mut self.current else { return };
        if to_data {
            self.block.count_attempt();
        } else {
            current.short_retries += 1;
            if current.short_retries >= mac.config.short_retry_limit {
                self.block.give_up();
            }
        }
        self.end_members(to, mac, events);
        self.contention.widen(mac);
        self.go_on(now, mac);
    }

    /// After an attempt: the rest of the block, or the next packet.
    fn go_on(&mut self, now: Instant, mac: &Mac) {
        self.waiting = Waiting::Nothing;
        let (Some(packet), Some(current)) = (self.block.head(), &mut self.current) else {
            return self.finish(now, mac);
        };
        *current = Current { packet, ..*current };
        self.draw(now, mac);
    }

    /// Gives back the packets of the block that are done with.
    pub(super) fn end_members(&mut self, to: HostId, mac: &Mac, events: &mut Events<P>) {
        let ended = self.block.take_ended(mac.config.short_retry_limit);
        self.release_behind(to, &ended, events);
        for end in ended {
            match end {
                End::GivenUp(Outgoing { payload, .. }, _) => {
                    self.stats.packets_failed += 1;
                    events.push_back(AirEvent::Failed { host: self.host, next_hop: to, payload });
                }
                End::Acknowledged(packet) => self.acknowledged(to, &packet, events),
            }
        }
    }

    fn acknowledged(&mut self, to: HostId, packet: &Outgoing<P>, events: &mut Events<P>) {
        self.stats.packets_sent += 1;
        self.stats.acknowledged_bytes += u64::from(packet.bytes);
        events.push_back(AirEvent::Sent { host: self.host, to: Some(to), payload: packet.payload });
    }

    /// What waits at the receiver for packets that are given up is handed up, before the sender has it back.
    fn release_behind(&self, to: HostId, ended: &[End<P>], events: &mut Events<P>) {
        for end in ended {
            if let End::GivenUp(_, sequence) = end {
                events.abandon(to, self.host, *sequence);
            }
        }
        events.hand_up(to, self.host);
    }

    /// The host has no power left: what it has of a block is given back, acknowledged or not.
    pub(super) fn break_off_block(&mut self, to: HostId, events: &mut Events<P>) -> Vec<P> {
        self.block.give_up();
        let ended = self.block.take_ended(u8::MAX);
        self.release_behind(to, &ended, events);
        let mut unsent = Vec::new();
        for end in ended {
            match end {
                End::GivenUp(packet, _) => unsent.push(packet.payload),
                End::Acknowledged(packet) => self.acknowledged(to, &packet, events),
            }
        }
        unsent
    }

    /// The receiver follows an aggregate from its beginning, if that can be decoded, and through parts that cannot.
    pub(super) fn follow(&mut self, now: Instant, signal: &Signal) {
        if self.ear.is_locked_on(signal.frame) || signal.continues && self.follows(now, signal.from) {
            self.following = Some((signal.from, signal.until));
        }
    }

    /// Whether a signal that continues an aggregate finds the receiver following it.
    pub(super) fn follows(&self, now: Instant, from: HostId) -> bool {
        self.following == Some((from, now))
    }
}
