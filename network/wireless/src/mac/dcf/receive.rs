//! Frames that have arrived intact.
use super::Dcf;
use crate::event::{AirEvent, Events};
use crate::mac::config::Mac;
use crate::mac::exchange::{Answer, Waiting};
use crate::mac::{Frame, FrameKind};
use prismux_units::Instant;

impl<P: Copy> Dcf<P> {
    /// Whether the host may have to act sooner for having received a frame: what is said to others can only keep it
    /// waiting, contention-free periods excepted.
    #[inline]
    pub fn is_for(&self, frame: &Frame<P>) -> bool {
        frame.to == Some(self.host) || self.point.is_some()
    }

    /// A frame has arrived intact.
    pub fn receive(&mut self, now: Instant, frame: &Frame<P>, mac: &Mac, events: &mut Events<P>) {
        if self.point.is_some() && self.point_receive(now, frame, mac, events) {
            return;
        }
        if frame.to != Some(self.host) {
            self.nav_until = self.nav_until.max(now + frame.nav);
            self.refresh(now, mac);
            if let (FrameKind::Data, Some(payload)) = (frame.kind, frame.payload) {
                let (host, from) = (self.host, frame.from);
                match frame.to {
                    None => {
                        self.stats.packets_received += 1;
                        events.push_back(AirEvent::Received { host, from, broadcast: true, payload });
                    }
                    Some(to) if self.listens_to_all => {
                        events.push_back(AirEvent::Overheard { host, from, to, payload });
                    }
                    Some(_) => {}
                }
            }
            return;
        }
        match frame.kind {
            FrameKind::Rts => {
                let free = self.answer.is_none()
                    && self.waiting == Waiting::Nothing
                    && self.expecting_until <= now
                    && (mac.is_ns2() || self.nav_until <= now);
                if free {
                    self.answer =
                        Some((now + mac.config.sifs, Answer::Cts(frame.from, frame.nav, frame.rate)));
                }
            }
            FrameKind::Cts => {
                if let (Waiting::Cts(_), Some(current)) = (self.waiting, &mut self.current) {
                    current.short_retries = 0;
                    self.waiting = Waiting::Nothing;
                    self.answer = Some((now + mac.config.sifs, Answer::Data));
                }
            }
            FrameKind::Data if mac.config.aggregation.is_some() => {
                self.receive_part(now, frame, mac, events);
            }
            FrameKind::Data => self.receive_data(now, frame, mac, events),
            FrameKind::Beacon | FrameKind::CfEnd | FrameKind::Null => {}
            FrameKind::BlockAck => self.receive_block_ack(now, frame, mac, events),
            FrameKind::Ack => {
                if matches!(self.waiting, Waiting::Ack(_)) {
                    self.sent(now, mac, events);
                }
            }
        }
    }

    fn receive_data(&mut self, now: Instant, frame: &Frame<P>, mac: &Mac, events: &mut Events<P>) {
        let expected = self.expecting_until >= now;
        if self.answer.is_some() || mac.is_ns2() && frame.announced && !expected {
            self.stats.data_refused += 1;
            return;
        }
        self.expecting_until = Instant::ZERO;
        if !self.in_slots {
            self.answer = Some((now + mac.config.sifs, Answer::Ack(frame.from, frame.rate)));
        }
        if self.duplicates.seen(frame.from, frame.sequence) {
            self.stats.duplicates += 1;
        } else if let Some(payload) = frame.payload {
            self.stats.packets_received += 1;
            events.push_back(AirEvent::Received {
                host: self.host,
                from: frame.from,
                broadcast: false,
                payload,
            });
        }
    }
}
