//! The air: frames from one host to all who can hear it, and the MACs that take turns on it.
mod frames;
mod kinds;
mod passing;
mod power;
mod resolution;
pub(crate) mod setup;
mod thresholds;
mod tuning;

use crate::energy::Battery;
use crate::error_rate::ErrorCurves;
use crate::event::{AirEvent, Events, Hearing};
use crate::field::Field;
use crate::mac::config::MacConfig;
use crate::mac::dcf::{Dcf, Rule};
use crate::mac::{Frame, Outgoing};
use crate::mobility::Position;
use crate::radio::{Modulation, RadioConfig, Reception};
use crate::resolution::{AddressResolution, Load, Resolver};
use crate::schedule::{Schedule, Target};
use crate::stats::HostStats;
use crate::wire;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use frames::Frames;
use kinds::Kinds;
use power::SharedBatteries;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::Instant;
use setup::{AirConfig, AirError, HostConfig};

/// How overlapping frames are judged.
fn rule(radio: &RadioConfig, mac: &MacConfig) -> Result<Rule, &'static str> {
    let noise_w = match radio.reception {
        Reception::Capture { ratio } => return Ok(Rule::Capture(ratio)),
        Reception::ErrorCurves { noise_w } => noise_w,
    };
    let is_b = matches!(mac.modulation, Modulation::Dsss(_));
    let curves = ErrorCurves::new(noise_w, mac.modulation.overhead(), &mac.rates_in_use());
    let curves = curves.filter(|_| is_b).map(Rule::ErrorCurves);
    curves.ok_or("error curves are known for 802.11b's rates alone: 1, 2, 5.5 and 11 Mbit/s")
}

impl RadioConfig {
    /// Why frames of a medium access cannot be received by this radio, if so: there are no error curves for them.
    pub fn fault_with(&self, mac: &MacConfig) -> Option<&'static str> {
        rule(self, mac).err()
    }
}

/// A host's number on an air, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A shared radio medium with a MAC for each host on it.
///
/// Drive it by [`Air::send`] and, at each [`Air::next_timeout`], [`Air::handle_timeout`]; after each of them take
/// what has happened from [`Air::poll_event`]. Time never goes back.
///
/// `P` stands for a packet. The air copies it freely: a packet that has been sent is the sender's until
/// [`AirEvent::Sent`] or [`AirEvent::Failed`] gives it back.
#[derive(Debug)]
pub struct Air<P> {
    kinds: Kinds,
    field: Field,
    hosts: Vec<Dcf<Load<P>>>,
    /// What each host knows of its neighbours' addresses.
    resolvers: Vec<Resolver<P>>,
    /// The earliest entry of each host in the schedule.
    scheduled: Vec<Instant>,
    /// When each host's battery is looked at.
    batteries: Vec<Instant>,
    /// The radios that draw on the battery of another one.
    sharing: SharedBatteries,
    schedule: Schedule,
    frames: Frames<Load<P>>,
    events: Events<Load<P>>,
    /// By kind of radio: of fading and shadowing.
    random: Vec<RandomStream>,
    /// Of what hosts measure of one another.
    measuring: RandomStream,
    reports_frames: bool,
}

impl<P: Copy> Air<P> {
    /// An air with `hosts` on it, all silent.
    ///
    /// # Errors
    /// When the radio, the medium access or a host's movement is impossible.
    pub fn new(config: &AirConfig, hosts: Vec<HostConfig>, seed: Seed) -> Result<Self, AirError> {
        setup::check(config, &hosts)?;
        let kinds = Kinds::new(config, hosts.iter().map(|host| host.channel))?;
        let reach_m = kinds.all().map(|kind| kind.reach_m).fold(0.0, f64::max);
        let coordinated = setup::coordinated_channels(config, &hosts);
        let sharing = SharedBatteries::of(&hosts);
        let batteries_j: Vec<_> = hosts.iter().map(|host| host.battery_j).collect();
        let (mut machines, mut moving, mut max_speed) = (Vec::new(), Vec::new(), 0.0_f64);
        for (index, host) in hosts.into_iter().enumerate() {
            if let Some(what) = host.mobility.fault() {
                return Err(AirError::Mobility { host: host.name, what });
            }
            let stream = |part: &str| seed.stream(&format!("radio/{}/{part}", host.name));
            let mac = kinds.mac(index as u32);
            let mut machine = Dcf::new(HostId(index as u32), mac, stream("back-off"));
            machine.listens_to_all = host.listens_to_all;
            if coordinated.contains(&host.channel) {
                machine.take_role(host.role, mac);
            }
            let keeper = sharing.keeper(index as u32) as usize;
            if let Some(joules) = batteries_j.get(keeper).copied().flatten() {
                let battery = Battery::new(joules);
                let battery = battery.ok_or_else(|| AirError::Battery { host: host.name.clone() })?;
                machine.run_on(battery);
            }
            machines.push(machine);
            max_speed = max_speed.max(host.mobility.max_speed_m_per_s());
            // A copy of its random numbers leads it the same way.
            let carrier = host.rides_with.and_then(|carrier| moving.get(carrier.0 as usize).cloned());
            let (leg, source) = match carrier {
                Some((leg, source, _)) => (leg, source),
                None => host.mobility.begin(stream("mobility")),
            };
            moving.push((leg, source, host.channel));
        }
        let scheduled = alloc::vec![Instant::MAX; machines.len()];
        let mut air = Self {
            random: kinds.streams(seed, "radio/fading"),
            kinds,
            field: Field::new(moving, reach_m, max_speed),
            resolvers: machines.iter().map(|_| Resolver::new(config.mac.address_resolution)).collect(),
            hosts: machines,
            batteries: scheduled.clone(),
            sharing,
            scheduled,
            schedule: Schedule::default(),
            frames: Frames::default(),
            events: Events::new(),
            measuring: seed.stream("radio/measuring"),
            reports_frames: config.reports_frames,
        };
        for host in 0..air.hosts.len() as u32 {
            air.watch_battery(Instant::ZERO, host);
            air.arm(Instant::ZERO, host);
        }
        Ok(air)
    }

    /// Hands a packet to a host's MAC, once the address of its neighbour is known.
    ///
    /// # Errors
    /// A packet for which the interface queue has no room: this one, or a less urgent one that it displaces. All, if
    /// there is no such host.
    pub fn send(&mut self, now: Instant, from: HostId, packet: Outgoing<P>) -> Result<(), Outgoing<P>> {
        let Some(host) = self.hosts.get(from.0 as usize) else { return Err(packet) };
        if let Some(to) = packet.to
            && !host.is_off()
            && !self.resolves(now, from, to, packet)
        {
            return Ok(());
        }
        self.enqueue(now, from, packet).map_or(Ok(()), Err)
    }

    /// Takes back all packets for `neighbour` that still wait at `host`.
    pub fn withdraw(&mut self, host: HostId, neighbour: HostId) -> Vec<P> {
        let index = host.0 as usize;
        let Some(machine) = self.hosts.get_mut(index) else { return Vec::new() };
        let waiting = machine.withdraw(neighbour, |load| matches!(load, Load::Packet(_)));
        let held = self.resolvers[index].withdraw(neighbour);
        waiting.into_iter().filter_map(Load::packet).chain(held).collect()
    }

    /// When something will happen.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.schedule.next()
    }

    /// What has happened.
    pub fn poll_event(&mut self) -> Option<AirEvent<P>> {
        self.events.pop_front()
    }

    /// Another host at which the same has happened to a packet as the latest event has told: the next event, where it
    /// is that.
    pub fn poll_hearer(&mut self, latest: Hearing, packet: &P) -> Option<HostId>
    where
        P: PartialEq,
    {
        self.events.pop_same(latest, packet)
    }

    /// All that is due at `now` happens.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, target)) = self.schedule.pop_due(now) {
            self.happen(at, target);
        }
    }

    /// All that is due until `last` happens, but nothing behind an instant at which there is something to tell: that
    /// instant. Saves asking for each of those between, of which most concern nobody else.
    pub fn advance(&mut self, last: Instant) -> Option<Instant> {
        let mut tells = None;
        while let Some((at, target)) = self.schedule.pop_due(tells.unwrap_or(last)) {
            self.happen(at, target);
            if !self.events.is_empty() {
                tells = Some(at);
            }
        }
        tells
    }

    #[inline]
    fn happen(&mut self, at: Instant, target: Target) {
        match target {
            Target::Host(host) => self.host_due(at, host),
            Target::Battery(host) => self.battery_due(at, host),
            Target::Begin(frame) => self.frame_begins(at, frame),
            Target::End(frame) => self.frame_ends(at, frame),
            Target::Resolver(host) => self.resolver_due(at, HostId(host)),
        }
        if self.kinds.common().mac.config.address_resolution != AddressResolution::None {
            self.take_answers(at);
        }
    }

    /// Where a host is.
    pub fn position(&mut self, now: Instant, host: HostId) -> Position {
        self.field.position(host.0, now)
    }

    /// How far a host's radio reaches in the mean, in metres: that of its channel.
    pub fn range_m(&self, host: HostId) -> f64 {
        self.kinds.of(host.0).range_m
    }

    /// How far those radios reach in the mean that reach farthest, in metres, whatever channels they may be tuned to.
    pub fn longest_range_m(&self) -> f64 {
        self.kinds.all().map(|kind| kind.range_m).fold(0.0, f64::max)
    }

    /// From now on each frame is reported when it begins ([`AirEvent::OnAir`]).
    pub fn report_frames(&mut self) {
        self.reports_frames = true;
    }

    /// Writes the radiotap and 802.11 headers of a frame of this air behind `out`; in a capture, the packet of a data
    /// frame follows.
    ///
    /// `address` has the IPv4 addresses of hosts, which messages of address resolution tell.
    pub fn emit_head(&self, frame: &Frame<P>, address: impl Fn(HostId) -> Ipv4Addr, out: &mut Vec<u8>) {
        let modulation = self.kinds.mac(frame.from.0).config.modulation;
        wire::emit(frame, (modulation, self.channel(frame.from)), address, out);
    }

    /// Whether a host is there and has power.
    pub fn has_power(&self, host: HostId) -> bool {
        self.hosts.get(host.0 as usize).is_some_and(|machine| !machine.is_off())
    }

    /// What a host's radio and MAC have done by `now`.
    pub fn stats(&self, now: Instant, host: HostId) -> HostStats {
        let index = host.0 as usize;
        let (Some(host), Some(resolver)) = (self.hosts.get(index), self.resolvers.get(index)) else {
            return HostStats::default();
        };
        HostStats {
            arp_requests: resolver.requests,
            arp_replies: resolver.replies,
            packets_unresolved: resolver.unresolved,
            battery_nj: self.battery_nj(now, index as u32),
            ..host.stats(now, self.kinds.mac(index as u32))
        }
    }

    /// Packets of a host that wait until the address of their neighbour is known.
    pub fn unresolved_packets(&self, host: HostId) -> usize {
        self.resolvers.get(host.0 as usize).map_or(0, Resolver::waiting_packets)
    }

    /// Packets that a host's MAC still tries to send, messages of address resolution among them.
    pub fn waiting_packets(&self, host: HostId) -> usize {
        self.hosts.get(host.0 as usize).map_or(0, Dcf::waiting_packets)
    }

    /// Signals that have begun and not ended, at all receivers.
    pub fn signals_under_way(&self) -> u64 {
        self.frames.being_received()
    }

    /// Sets a host's next event.
    #[inline]
    fn arm(&mut self, now: Instant, host: u32) {
        let index = host as usize;
        let due = self.hosts[index].due(self.kinds.mac(host));
        if due < self.scheduled[index] {
            let due = due.max(now);
            self.scheduled[index] = due;
            self.schedule.push(due, Target::Host(host));
        }
    }

    fn host_due(&mut self, now: Instant, host: u32) {
        let index = host as usize;
        if self.scheduled[index] != now {
            return;
        }
        self.scheduled[index] = Instant::MAX;
        let (machine, mac) = (&mut self.hosts[index], self.kinds.mac(host));
        if machine.due(mac) <= now
            && let Some(frame) = machine.timeout(now, mac, &mut self.events)
        {
            self.put_on_air(now, frame);
            self.watch_battery(now, host);
        }
        self.arm(now, host);
    }

    fn put_on_air(&mut self, now: Instant, frame: Frame<Load<P>>) {
        if self.reports_frames {
            let announces = self.announced_by(&frame);
            self.events.push_back(AirEvent::OnAir { at: now, frame: Box::new(frame), announces });
        }
        let begins = now + self.kinds.common().radio.propagation_delay;
        let (airtime, number) = (frame.airtime, self.kinds.number(frame.from.0));
        let slot = self.frames.add(frame, number);
        self.schedule.push_in_order(begins, Target::Begin(slot));
        self.schedule.push(begins + airtime, Target::End(slot));
    }
}
