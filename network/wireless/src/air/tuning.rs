//! Hosts that measure one another and change their channel.
use super::kinds::Kind;
#[cfg(doc)]
use super::setup::AirConfig;
use super::{Air, HostId};
use crate::field::NO_CHANNEL;
use crate::mac::Frame;
use crate::mac::ear::Signal;
use crate::resolution::Load;
use alloc::vec::Vec;
use prismux_units::Instant;

impl<P: Copy> Air<P> {
    /// The channel that a host is on; `None` for one that is tuned to none, or not there.
    pub fn channel(&self, host: HostId) -> Option<u8> {
        self.field.channel(host.0).filter(|channel| *channel != NO_CHANNEL)
    }

    /// The power in watts with which `at` hears a short signal of `from`, shadowing and fading included, whatever their
    /// channels: what a radio learns that listens for beacons on all of them. Costs no time on the air. Zero where one
    /// of the two is not there or has no power left, and of a host at itself.
    pub fn measure_w(&mut self, now: Instant, from: HostId, at: HostId) -> f64 {
        if from == at || !self.has_power(from) || !self.has_power(at) {
            return 0.0;
        }
        let distance_m2 = self.field.position(from.0, now).distance_m2(self.field.position(at.0, now));
        let Kind { loss, chance, .. } = self.kinds.of(from.0);
        let mean_w = loss.power_w(distance_m2);
        if chance.is_certain() { mean_w } else { mean_w * chance.draw(&mut self.measuring) }
    }

    /// Tunes the radio of a host to another channel, or to none. What it was receiving is lost, and what others have
    /// reserved there no longer binds it; what is on the air of the new channel keeps it busy to its end, but has begun
    /// too early to be received. A frame that the host itself is sending goes out on the old channel. Packets wait on;
    /// but where the new channel is of another kind ([`AirConfig::channels`]), the packet that the host is trying to
    /// send comes back as if nobody had answered.
    pub fn tune(&mut self, now: Instant, host: HostId, channel: Option<u8>) {
        let channel = channel.unwrap_or(NO_CHANNEL);
        if self.field.channel(host.0).is_none_or(|present| present == channel) {
            return;
        }
        self.field.set_channel(host.0, channel);
        let index = host.0 as usize;
        self.hosts[index].tune(now, self.kinds.mac(host.0));
        self.change_kind(now, host, channel);
        let under_way = |(slot, frame, until): (u32, &Frame<Load<P>>, Instant)| {
            (frame.from != host && until > now).then_some((slot, frame.from, frame.rate, until))
        };
        let frames: Vec<_> = self.frames.on_channel(channel).filter_map(under_way).collect();
        for (frame, from, rate, until) in frames {
            let distance_m2 = self.field.position(from.0, now).distance_m2(self.field.position(host.0, now));
            let Kind { mac, rule, radio, loss, .. } = self.kinds.of(host.0);
            let power_w = loss.power_w(distance_m2);
            if power_w >= radio.carrier_threshold_w {
                let signal = Signal { frame, from, continues: false, power_w, until, decodable: false, rate };
                self.hosts[index].signal_begins(now, &signal, mac, rule);
            }
        }
        self.watch_battery(now, host.0);
        self.arm(now, host.0);
    }

    /// A radio is of the kind of its channel: one that goes to a channel of another kind begins anew there.
    fn change_kind(&mut self, now: Instant, host: HostId, channel: u8) {
        let index = host.0 as usize;
        let drawn_aj = self.hosts[index].drawn_aj(now, self.kinds.mac(host.0));
        if self.kinds.tune(host.0, channel) {
            let (machine, mac) = (&mut self.hosts[index], self.kinds.mac(host.0));
            machine.change_kind(now, drawn_aj, mac, &mut self.events);
        }
    }
}
