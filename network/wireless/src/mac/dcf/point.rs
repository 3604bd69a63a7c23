//! A host in contention-free periods: the access point that polls, and stations that answer.
use super::Dcf;
use crate::HostId;
use crate::event::{AirEvent, Events};
use crate::mac::config::Mac;
use crate::mac::exchange::{Answer, Current, Waiting};
use crate::mac::point::{Coordinator, Phase, Point};
use crate::mac::{Frame, FrameKind, Outgoing};
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

impl<P: Copy> Dcf<P> {
    /// The host takes part in contention-free periods; with a list, it is the access point that polls.
    pub fn take_part(&mut self, list: Option<Vec<HostId>>) {
        self.point = Some(Box::new(Point { coordinator: list.map(Coordinator::new), ..Point::new() }));
    }

    /// When something is to be done for contention-free periods.
    pub(super) fn point_due(&self, point: &Point<P>, mac: &Mac) -> Instant {
        let Some(coordinator) = &point.coordinator else { return point.due };
        let acts_at = match coordinator.phase {
            _ if self.is_in_exchange() => Instant::MAX,
            Phase::Contention => Instant::MAX,
            Phase::Beacon => self.ear.active_until() + mac.pifs(),
            Phase::Polling => coordinator.acts_at,
        };
        acts_at.min(point.due)
    }

    fn is_in_exchange(&self) -> bool {
        self.answer.is_some() || self.waiting != Waiting::Nothing
    }

    /// The time for a contention-free period has come: nobody contends until its end, or its latest.
    pub(super) fn begin_period(&mut self, now: Instant, mac: &Mac) {
        let (Some(point), Some(polling)) = (&mut self.point, &mac.polling) else { return };
        if now < point.due {
            return;
        }
        point.ends = point.due + polling.max_duration;
        point.due += polling.period;
        if let Some(coordinator) = &mut point.coordinator {
            coordinator.phase = Phase::Beacon;
        }
        self.nav_until = self.nav_until.max(point.ends);
        self.refresh(now, mac);
    }

    /// What the access point sends now, if anything.
    pub(super) fn coordinate(&mut self, now: Instant, mac: &Mac, events: &mut Events<P>) -> Option<Frame<P>> {
        if self.is_in_exchange() {
            return None;
        }
        let (active_until, busy_until) = (self.ear.active_until(), self.ear.energy_until);
        let Point { ends, coordinator, .. } = self.point.as_deref_mut()?;
        let (ends, coordinator) = (*ends, coordinator.as_mut()?);
        match coordinator.phase {
            Phase::Contention => None,
            Phase::Beacon if now < active_until + mac.pifs() => None,
            Phase::Beacon => {
                let airtime = mac.beacon();
                coordinator.phase = Phase::Polling;
                coordinator.acts_at = now + airtime + mac.config.sifs;
                (coordinator.idle_polls, coordinator.owes_ack) = (0, false);
                let nav = ends - (now + airtime);
                let rate = mac.config.basic_rate;
                Some(self.transmit(now, FrameKind::Beacon, None, (rate, airtime), nav, mac))
            }
            Phase::Polling if now < coordinator.acts_at => None,
            Phase::Polling if busy_until > now => {
                // Somebody is answering: what comes of it is seen at its end.
                coordinator.acts_at = busy_until + mac.pifs();
                None
            }
            Phase::Polling => {
                self.settle(false, mac, events);
                self.poll_or_end(now, mac)
            }
        }
    }

    /// The packet that went with the latest poll was acknowledged, or not.
    fn settle(&mut self, acknowledged: bool, mac: &Mac, events: &mut Events<P>) {
        let coordinator = self.point.as_mut().and_then(|point| point.coordinator.as_mut());
        let Some((coordinator, station)) = coordinator.and_then(|c| c.polled.map(|station| (c, station)))
        else {
            return;
        };
        if !core::mem::take(&mut coordinator.awaits_ack) {
            return;
        }
        let host = self.host;
        let ended = coordinator.take_ended(station, acknowledged, mac.config.short_retry_limit);
        self.stats.timeouts += u64::from(!acknowledged);
        let Some(Current { packet: Outgoing { bytes, payload, .. }, .. }) = ended else { return };
        if acknowledged {
            self.stats.packets_sent += 1;
            self.stats.acknowledged_bytes += u64::from(bytes);
            events.push_back(AirEvent::Sent { host, to: Some(station), payload });
        } else {
            self.stats.packets_failed += 1;
            events.push_back(AirEvent::Failed { host, next_hop: station, payload });
        }
    }

    /// The next poll, with a packet if there is one for that station; the end, if there is no time or nobody has any.
    fn poll_or_end(&mut self, now: Instant, mac: &Mac) -> Option<Frame<P>> {
        let Point { ends, coordinator, .. } = self.point.as_deref_mut()?;
        let (ends, coordinator) = (*ends, coordinator.as_mut()?);
        let owes_ack = core::mem::take(&mut coordinator.owes_ack);
        let station = coordinator.turn().filter(|_| !coordinator.is_idle());
        let waiting = station.and_then(|station| self.packet_for(station));
        let airtime = waiting.map_or(mac.null(), |packet| mac.data(packet.bytes, mac.config.data_rate));
        let Some(station) = station.filter(|_| now + airtime + rest_of_exchange(mac) <= ends) else {
            return Some(self.end_period(now, owes_ack, mac));
        };
        let packet = self.take_for(station, mac);
        let coordinator = self.point.as_mut()?.coordinator.as_mut()?;
        coordinator.advance();
        coordinator.polled = Some(station);
        coordinator.acts_at = now + airtime + mac.pifs() + mac.propagation_delay * 2;
        coordinator.idle_polls = if packet.is_some() { 0 } else { coordinator.idle_polls + 1 };
        coordinator.awaits_ack = packet.is_some();
        let (kind, rate) = match packet {
            Some(_) => (FrameKind::Data, mac.config.data_rate),
            None => (FrameKind::Null, mac.config.basic_rate),
        };
        let frame = self.transmit(now, kind, Some(station), (rate, airtime), Duration::ZERO, mac);
        let sequence = packet.map_or(frame.sequence, |packet| packet.sequence);
        let payload = packet.map(|packet| packet.packet.payload);
        Some(Frame { cf_poll: true, cf_ack: owes_ack, sequence, payload, ..frame })
    }

    /// The packet that goes with the next poll of a station.
    fn packet_for(&self, station: HostId) -> Option<Outgoing<P>> {
        let coordinator = self.point.as_ref()?.coordinator.as_ref()?;
        let current = self.current.as_ref().filter(|current| current.packet.to == Some(station));
        let known = coordinator.pending_for(station).or(current).map(|current| current.packet);
        known.or_else(|| self.queue.first_for(station).copied())
    }

    /// Takes that packet out; it is pending from now on.
    fn take_for(&mut self, station: HostId, mac: &Mac) -> Option<Current<P>> {
        let pending = self.point.as_ref()?.coordinator.as_ref()?.pending_for(station).copied();
        if pending.is_some() {
            return pending;
        }
        let packet = if self.current.as_ref().is_some_and(|current| current.packet.to == Some(station)) {
            let current = self.current.take();
            self.load(mac);
            if self.current.is_none() {
                self.contention.stop();
            }
            current
        } else {
            let packet = self.queue.pop_for(station)?;
            self.sequence = self.sequence.wrapping_add(1);
            Some(Current { packet, sequence: self.sequence, short_retries: 0, long_retries: 0 })
        }?;
        self.point.as_mut()?.coordinator.as_mut()?.keep(packet);
        Some(packet)
    }

    fn end_period(&mut self, now: Instant, owes_ack: bool, mac: &Mac) -> Frame<P> {
        if let Some(coordinator) = self.point.as_mut().and_then(|point| point.coordinator.as_mut()) {
            coordinator.phase = Phase::Contention;
        }
        let airtime = mac.cf_end();
        let rate = mac.config.basic_rate;
        let frame = self.transmit(now, FrameKind::CfEnd, None, (rate, airtime), Duration::ZERO, mac);
        self.release(now + airtime, mac);
        Frame { cf_ack: owes_ack, ..frame }
    }

    /// The contention-free period has ended: hosts contend again.
    fn release(&mut self, at: Instant, mac: &Mac) {
        self.nav_until = at;
        let ready = self.ready_from(mac);
        self.contention.resume(ready);
    }

    /// A frame has come. Whether nothing else is to be done about it.
    pub(super) fn point_receive(
        &mut self,
        now: Instant,
        frame: &Frame<P>,
        mac: &Mac,
        events: &mut Events<P>,
    ) -> bool {
        if frame.cf_poll || frame.kind == FrameKind::CfEnd {
            self.hear_acknowledgement(now, frame, mac, events);
        }
        if frame.kind == FrameKind::CfEnd {
            self.release(now, mac);
            return true;
        }
        let is_for_us = frame.to == Some(self.host);
        if frame.cf_poll && is_for_us {
            let has_packet = frame.payload.is_some();
            self.take_in(frame, events);
            self.answer = Some((now + mac.config.sifs, Answer::Polled(frame.from, has_packet)));
            return true;
        }
        let coordinator = self.point.as_ref().and_then(|point| point.coordinator.as_ref());
        if coordinator.is_some_and(|c| c.phase == Phase::Polling && c.polled == Some(frame.from)) {
            return self.receive_from_polled(now, frame, mac, events);
        }
        frame.kind == FrameKind::Null
    }

    /// A frame of the polled station has come to the access point.
    fn receive_from_polled(
        &mut self,
        now: Instant,
        frame: &Frame<P>,
        mac: &Mac,
        events: &mut Events<P>,
    ) -> bool {
        self.settle(frame.cf_ack, mac, events);
        let is_for_us = frame.to == Some(self.host);
        let is_data = frame.kind == FrameKind::Data;
        if is_data && is_for_us {
            self.take_in(frame, events);
        }
        let Some(coordinator) = self.point.as_mut().and_then(|point| point.coordinator.as_mut()) else {
            return false;
        };
        let sifs = mac.config.sifs;
        let ack = match frame.to {
            // Another station acknowledges it.
            Some(_) if is_data && !is_for_us => {
                sifs + mac.control(frame.rate).ack + mac.propagation_delay * 2
            }
            _ => Duration::ZERO,
        };
        coordinator.acts_at = now + ack + sifs;
        if is_data {
            coordinator.idle_polls = 0;
        }
        coordinator.owes_ack |= is_data && is_for_us;
        is_for_us
    }

    /// Takes in the packet of a frame, unless it has come before.
    fn take_in(&mut self, frame: &Frame<P>, events: &mut Events<P>) {
        let Some(payload) = frame.payload else { return };
        if self.duplicates.seen(frame.from, frame.sequence) {
            self.stats.duplicates += 1;
        } else {
            self.stats.packets_received += 1;
            let (host, from) = (self.host, frame.from);
            events.push_back(AirEvent::Received { host, from, broadcast: false, payload });
        }
    }

    /// The access point's next frame says whether it has received what the host sent.
    fn hear_acknowledgement(&mut self, now: Instant, frame: &Frame<P>, mac: &Mac, events: &mut Events<P>) {
        if !matches!(self.waiting, Waiting::CfAck(_)) {
            return;
        }
        match frame.cf_ack {
            true => self.sent(now, mac, events),
            false => self.miss_acknowledgement(now, mac, events),
        }
    }

    /// What the host sent when it was polled is not acknowledged: it goes again at the next poll, or by contention.
    pub(super) fn miss_acknowledgement(&mut self, now: Instant, mac: &Mac, events: &mut Events<P>) {
        self.stats.timeouts += 1;
        self.waiting = Waiting::Nothing;
        let Some(current) = &mut self.current else { return };
        current.short_retries += 1;
        if current.short_retries >= mac.config.short_retry_limit {
            self.give_up(now, mac, events);
        }
    }

    /// Answers a poll: with the current packet, or with none.
    pub(super) fn answer_poll(
        &mut self,
        now: Instant,
        access_point: HostId,
        cf_ack: bool,
        mac: &Mac,
    ) -> Option<Frame<P>> {
        let Some(Current { packet, .. }) = self.current else {
            let airtime = (mac.config.basic_rate, mac.null());
            let frame = self.transmit(now, FrameKind::Null, Some(access_point), airtime, Duration::ZERO, mac);
            return Some(Frame { cf_ack, ..frame });
        };
        let frame = self.send_data(now, mac)?;
        if packet.to == Some(access_point) {
            // The acknowledgement is in the next frame, which may be long.
            let until = now + frame.airtime + mac.config.sifs + mac.longest_data() + mac.pifs();
            self.waiting = Waiting::CfAck(until + mac.propagation_delay * 2);
        }
        Some(Frame { cf_ack, nav: Duration::ZERO, ..frame })
    }
}

/// What follows a poll at most: the longest packet, its acknowledgement, the end of the period.
fn rest_of_exchange(mac: &Mac) -> Duration {
    let sifs = mac.config.sifs;
    let ack = mac.control(mac.config.data_rate).ack;
    sifs + mac.longest_data() + sifs + ack + sifs + mac.cf_end() + mac.propagation_delay * 4
}
