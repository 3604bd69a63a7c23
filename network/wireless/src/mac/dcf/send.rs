//! Packets to send: contention, the exchange, retries.
use super::Dcf;
use crate::HostId;
use crate::event::{AirEvent, Events};
use crate::mac::config::{Control, Mac};
use crate::mac::exchange::{Answer, Current, Waiting};
use crate::mac::{Frame, FrameKind, Outgoing};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

impl<P: Copy> Dcf<P> {
    /// Takes a packet to send. Answers with the packet that has no room.
    pub fn enqueue(&mut self, now: Instant, packet: Outgoing<P>, mac: &Mac) -> Option<Outgoing<P>> {
        self.stats.packets_offered += 1;
        if self.is_off() {
            self.stats.packets_without_power += 1;
            return Some(packet);
        }
        if !self.has_slot_for(&packet, mac) {
            self.stats.packets_without_slot += 1;
            return Some(packet);
        }
        let refused = self.queue.push(packet, mac.config.queue_packets as usize, mac.config.queue);
        self.stats.queue_drops += u64::from(refused.is_some());
        if self.current.is_none() {
            self.load(mac);
            if self.current.is_some() && !self.contention.is_on() {
                self.contend(now, mac);
            }
        }
        refused
    }

    /// Takes back those of the packets for a neighbour that still wait that `takes` says.
    pub fn withdraw(&mut self, neighbour: HostId, takes: impl Fn(&P) -> bool) -> Vec<P> {
        let taken = self.queue.withdraw(neighbour, takes);
        self.stats.packets_withdrawn += taken.len() as u64;
        taken
    }

    /// Makes the next packet the current one.
    pub(super) fn load(&mut self, mac: &Mac) {
        if let Some(packet) = self.queue.pop() {
            self.sequence = self.sequence.wrapping_add(1);
            self.current =
                Some(Current { packet, sequence: self.sequence, short_retries: 0, long_retries: 0 });
            self.begin_block(mac);
        }
    }

    /// A packet came to a host without back-off.
    fn contend(&mut self, now: Instant, mac: &Mac) {
        match !self.in_slots && !mac.is_ns2() && self.idle_from(mac) <= now {
            true => self.contention.at_once(self.slots_from(now, mac)),
            false => self.draw(now, mac),
        }
    }

    pub(super) fn draw(&mut self, now: Instant, mac: &Mac) {
        if let Some(slots) = self.slots(mac) {
            return self.wait_for_slot(now, slots, mac);
        }
        let from = self.slots_from(now, mac);
        self.contention.draw(mac, &mut self.random, from);
    }

    /// A deadline has come. The frame to send, if any.
    pub fn timeout(&mut self, now: Instant, mac: &Mac, events: &mut Events<P>) -> Option<Frame<P>> {
        if self.point.is_some() {
            self.begin_period(now, mac);
            let frame = self.coordinate(now, mac, events);
            if frame.is_some() {
                return frame;
            }
        }
        if let Some((at, answer)) = self.answer {
            if at > now {
                return None;
            }
            self.answer = None;
            return self.give(now, answer, mac, events);
        }
        if self.waiting.until() <= now {
            match core::mem::replace(&mut self.waiting, Waiting::Nothing) {
                Waiting::Nothing => {}
                Waiting::Cts(_) => self.retry(now, false, mac, events),
                Waiting::Ack(_) => self.retry(now, true, mac, events),
                Waiting::CfAck(_) => self.miss_acknowledgement(now, mac, events),
                Waiting::End(_) => self.sent(now, mac, events),
            }
            return None;
        }
        if self.waiting != Waiting::Nothing || self.contention.due(mac.config.slot) > now {
            return None;
        }
        if let Some(wakes) = mac.config.duty_cycle.and_then(|duty_cycle| duty_cycle.wakes(now)) {
            self.contention.draw(mac, &mut self.random, wakes + mac.difs);
            return None;
        }
        self.contention.stop();
        let to = self.current.as_ref()?.packet.to;
        if let (Some(to), Some(limits)) = (to, &mac.config.aggregation) {
            self.fill_block(to, limits, mac);
        }
        match to {
            Some(to) if self.is_long(mac) => Some(self.ask(now, to, mac)),
            _ => self.send_data(now, mac),
        }
    }

    /// Whether what is to be sent is announced by an RTS. In slots nothing is.
    fn is_long(&self, mac: &Mac) -> bool {
        match self.block.is_empty() {
            _ if self.in_slots => false,
            true => self.current.as_ref().is_some_and(|current| mac.is_long(current.packet.bytes)),
            false => self.block.frame_bytes(mac) >= mac.config.rts_threshold_bytes,
        }
    }

    /// Sends the RTS for what is to be sent.
    fn ask(&mut self, now: Instant, to: HostId, mac: &Mac) -> Frame<P> {
        let rate = self.data_rate(Some(to), mac);
        let control = mac.control(rate);
        let Control { rts, cts, .. } = control;
        let bytes = self.current.as_ref().map_or(0, |current| current.packet.bytes);
        let exchange = match self.block.is_empty() {
            true => mac.data(bytes, rate) + control.ack,
            false => self.block.airtime(rate, mac) + control.block_ack,
        };
        let nav = mac.config.sifs * 3 + cts + exchange;
        self.waiting = Waiting::Cts(now + rts + mac.config.sifs + cts + mac.patience);
        self.transmit(now, FrameKind::Rts, Some(to), (control.rate, rts), nav, mac)
    }

    /// Sends the answer that was due.
    fn give(&mut self, now: Instant, answer: Answer, mac: &Mac, events: &mut Events<P>) -> Option<Frame<P>> {
        let busy = mac.is_ns2() && self.idle_from(mac) > now;
        match answer {
            Answer::Cts(..) if busy => None,
            Answer::Cts(to, rts_nav, rate) => {
                let Control { rate, cts, ack, .. } = mac.control(rate);
                let nav = rts_nav - mac.config.sifs - cts;
                self.expecting_until = now + cts + nav - mac.config.sifs - ack + mac.patience;
                Some(self.transmit(now, FrameKind::Cts, Some(to), (rate, cts), nav, mac))
            }
            Answer::Ack(to, rate) => {
                let Control { rate, ack, .. } = mac.control(rate);
                Some(self.transmit(now, FrameKind::Ack, Some(to), (rate, ack), Duration::ZERO, mac))
            }
            Answer::Data if busy => {
                self.contention.widen(mac);
                self.draw(now, mac);
                None
            }
            Answer::Data => self.send_data(now, mac),
            Answer::Polled(from, cf_ack) => self.answer_poll(now, from, cf_ack, mac),
            Answer::Part(to) => self.send_part(now, to, mac),
            Answer::BlockAck(to, rate) => Some(self.give_block_ack(now, (to, rate), mac, events)),
        }
    }

    pub(super) fn send_data(&mut self, now: Instant, mac: &Mac) -> Option<Frame<P>> {
        let Outgoing { to, bytes, payload, .. } = self.current.as_ref()?.packet;
        if let (Some(to), false) = (to, self.block.is_empty()) {
            return self.send_block(now, to, mac);
        }
        let rate = self.data_rate(to, mac);
        let airtime = mac.data(bytes, rate);
        let answers = to.filter(|_| !self.in_slots);
        let nav = if answers.is_some() { mac.config.sifs + mac.control(rate).ack } else { Duration::ZERO };
        self.waiting = match answers {
            Some(_) => Waiting::Ack(now + airtime + nav + mac.patience),
            // Behind its receivers, who copy the packet.
            None => Waiting::End(now + airtime + mac.propagation_delay),
        };
        let frame = self.transmit(now, FrameKind::Data, to, (rate, airtime), nav, mac);
        let announced = answers.is_some() && mac.is_long(bytes);
        Some(Frame { payload: Some(payload), announced, ..frame })
    }

    pub(super) fn transmit(
        &mut self,
        now: Instant,
        kind: FrameKind,
        to: Option<HostId>,
        (rate, airtime): (Rate, Duration),
        nav: Duration,
        mac: &Mac,
    ) -> Frame<P> {
        if self.ear.reception_ends() <= now {
            self.nav_until = self.nav_until.max(self.nav_of_damage(mac));
        }
        self.stay_awake(now, now + airtime, mac);
        self.stats.lost_while_sending += u64::from(self.ear.send(now, now + airtime));
        self.refresh(now, mac);
        *match (kind, to) {
            (FrameKind::Rts, _) => &mut self.stats.rts_sent,
            (FrameKind::Cts, _) => &mut self.stats.cts_sent,
            (FrameKind::Data, Some(_)) => &mut self.stats.data_sent,
            (FrameKind::Data, None) => &mut self.stats.broadcasts_sent,
            (FrameKind::Ack | FrameKind::BlockAck, _) => &mut self.stats.acks_sent,
            (FrameKind::Beacon | FrameKind::CfEnd, _) => &mut self.stats.beacons_sent,
            (FrameKind::Null, _) => &mut self.stats.nulls_sent,
        } += 1;
        let sequence = self.current.as_ref().map_or(0, |current| current.sequence);
        Frame {
            kind,
            from: self.host,
            to,
            rate,
            airtime,
            nav,
            sequence,
            bitmap: 0,
            continues: false,
            cf_poll: false,
            cf_ack: false,
            announced: false,
            payload: None,
            arp: None,
        }
    }

    /// No answer came, to data or to an RTS.
    fn retry(&mut self, now: Instant, to_data: bool, mac: &Mac, events: &mut Events<P>) {
        self.stats.timeouts += 1;
        if let Some(to) = self.current.as_ref().and_then(|current| current.packet.to)
            && (to_data || !self.asks_slowly(to, mac))
        {
            self.learn(to, false, mac);
        }
        if let (Some(to), false) =
            (self.current.as_ref().and_then(|current| current.packet.to), self.block.is_empty())
        {
            return self.retry_block(now, to, to_data, mac, events);
        }
        let Some(current) = &mut self.current else { return };
        let long = to_data && mac.is_long(current.packet.bytes);
        let (count, limit) = match long {
            true => (&mut current.long_retries, mac.config.long_retry_limit),
            false => (&mut current.short_retries, mac.config.short_retry_limit),
        };
        *count += 1;
        if *count < limit {
            self.contention.widen(mac);
            return self.draw(now, mac);
        }
        self.give_up(now, mac, events);
    }

    /// The current packet is not sent again.
    pub(super) fn give_up(&mut self, now: Instant, mac: &Mac, events: &mut Events<P>) {
        if let Some(Current { packet: Outgoing { to, payload, .. }, .. }) = self.current {
            self.stats.packets_failed += 1;
            if let Some(next_hop) = to {
                events.push_back(AirEvent::Failed { host: self.host, next_hop, payload });
            }
        }
        self.finish(now, mac);
    }

    /// The current packet has been acknowledged, or nobody is to acknowledge it.
    pub(super) fn sent(&mut self, now: Instant, mac: &Mac, events: &mut Events<P>) {
        if let Some(Current { packet: Outgoing { to, bytes, payload, .. }, .. }) = self.current {
            self.stats.packets_sent += 1;
            let is_acknowledged = to.is_some() && !self.in_slots;
            self.stats.acknowledged_bytes += if is_acknowledged { u64::from(bytes) } else { 0 };
            events.push_back(AirEvent::Sent { host: self.host, to, payload });
            if let Some(to) = to {
                self.learn(to, true, mac);
            }
        }
        self.finish(now, mac);
    }

    /// The current packet is done with: the host backs off before the next.
    pub(super) fn finish(&mut self, now: Instant, mac: &Mac) {
        self.waiting = Waiting::Nothing;
        self.current = None;
        self.contention.reset_window(mac);
        self.load(mac);
        self.draw(now, mac);
    }
}
