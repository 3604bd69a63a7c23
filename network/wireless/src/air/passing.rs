//! Frames that begin and end at all who hear them.
use super::Air;
use super::kinds::Kind;
use super::power::watch_battery;
use crate::event::{AirEvent, Miss};
use crate::field::{NO_CHANNEL, Neighbour};
use crate::mac::dcf::Dcf;
use crate::mac::ear::Signal;
use crate::mac::{Frame, FrameKind};
use crate::resolution::Load;
use core::hint::black_box;
use prismux_units::Instant;

/// What signals change at so many hosts fits into the near caches.
const FEW_HOSTS: usize = 500;

/// Reads a word of each line of the cache that a signal changes at those whom it reaches, so that the waits for memory
/// overlap. Nothing depends on what is read.
#[inline(never)]
fn read_ahead<P: Copy>(near: &[Neighbour], hosts: &[Dcf<P>]) {
    let read = near.iter().fold(0, |read, neighbour| read ^ hosts[neighbour.host as usize].glance());
    black_box(read);
}

impl<P: Copy> Air<P> {
    /// A frame reaches all who can hear it.
    pub(super) fn frame_begins(&mut self, now: Instant, slot: u32) {
        let Some(frame) = self.frames.get(slot) else { return };
        let watched = self.watched(frame);
        let Self { frames, field, hosts, batteries, sharing, schedule, random, kinds, .. } = self;
        let Some((frame, sent_as, hearers)) = frames.get_mut(slot) else { return };
        let kinds = &*kinds;
        let number = kinds.number(frame.from.0);
        let Kind { mac, rule, radio, thresholds, loss, chance, reach_m, .. } = kinds.of(frame.from.0);
        let until = now + frame.airtime;
        let (watched, mut miss) = (watched.unwrap_or(u32::MAX), Some(Miss::Unheard));
        let (certain, is_powered) = (chance.is_certain(), mac.powers.is_some());
        let (carrier_w, threshold_w) = (radio.carrier_threshold_w, thresholds.of(frame.rate));
        let Frame { from, continues, rate, .. } = *frame;
        let mut signal = Signal { frame: slot, from, continues, power_w: 0.0, until, decodable: false, rate };
        let near = field.near(from.0, (now, *reach_m), |distance_m2| loss.power_w(distance_m2));
        if hosts.len() > FEW_HOSTS {
            read_ahead(near, hosts);
        }
        // Its sender is on a channel of another kind already: nobody there can make anything of it.
        let near = if sent_as == number { near } else { &[] };
        for &Neighbour { host, power_w: mean } in near {
            let power_w = if certain { mean } else { mean * chance.draw(&mut random[number]) };
            if power_w < carrier_w {
                continue;
            }
            let decodable = power_w >= threshold_w;
            (signal.power_w, signal.decodable) = (power_w, decodable);
            let machine = &mut hosts[host as usize];
            if host == watched {
                miss = machine.watched_signal_begins(now, &signal, mac, rule);
            } else {
                machine.signal_begins(now, &signal, mac, rule);
            }
            if is_powered {
                watch_battery(now, host, (&hosts[..], &*sharing), batteries, kinds, schedule);
            }
            if decodable {
                hearers.push(host);
            }
        }
        let channel = field.channel(from.0).unwrap_or(NO_CHANNEL);
        frames.begin(slot, (channel, until), miss);
    }

    /// The host that a frame is for, where it is told what becomes of the frame there.
    fn watched(&self, frame: &Frame<Load<P>>) -> Option<u32> {
        let is_watched = self.reports_frames && matches!(frame.kind, FrameKind::Data | FrameKind::Rts);
        frame.to.filter(|_| is_watched).map(|to| to.0)
    }

    /// The packet that an RTS announces, which is the one that its sender tries to send.
    pub(super) fn announced_by(&self, frame: &Frame<Load<P>>) -> Option<Load<P>> {
        let sender = self.hosts.get(frame.from.0 as usize).filter(|_| frame.kind == FrameKind::Rts);
        sender?.current_payload()
    }

    /// A frame has passed all who hear it.
    pub(super) fn frame_ends(&mut self, now: Instant, slot: u32) {
        let Some((frame, hearers)) = self.frames.take(slot) else { return };
        let watched = self.watched(&frame).and_then(|host| self.hosts.get(host as usize));
        let before = watched.map(|machine| *machine.counters());
        for &host in &hearers {
            let (machine, kind) = (&mut self.hosts[host as usize], self.kinds.of(host));
            if machine.signal_ends(now, slot, &kind.mac, &kind.rule) {
                machine.receive(now, &frame, &kind.mac, &mut self.events);
                if machine.is_for(&frame) {
                    self.arm(now, host);
                }
            }
        }
        let payload = before.and_then(|_| frame.payload.or_else(|| self.announced_by(&frame)));
        if let (Some(before), Some(to), Some(payload)) = (before, frame.to, payload) {
            let miss = self.frames.noted(slot).or_else(|| self.hosts[to.0 as usize].missed(&frame, &before));
            if let Some(miss) = miss {
                let (kind, host, next_hop) = (frame.kind, frame.from, to);
                self.events.push_back(AirEvent::Missed { kind, host, next_hop, miss, payload });
            }
        }
        self.frames.remove(slot, hearers);
    }
}
