//! Random histories of an air against what every history must have.
#![allow(clippy::disallowed_macros)] // A summary for `make soak-radio`.
mod common;

use common::{assert_conserved, named, run, secs, stats, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    AccessRules, AddressResolution, Aggregation, Air, AirConfig, AirEvent, Area, ArfConfig, ChannelConfig,
    Coordination, DutyCycle, EnergyConfig, Fading, FrameKind, GaussMarkov, HostConfig, HostId, HostStats,
    HtFormat, MacConfig, Manhattan, Miss, Mobility, Modulation, Outgoing, PollingConfig, Position, Priority,
    Propagation, RadioConfig, RandomWaypoint, RateControl, Reception, Role, SlotConfig, WaypointStart,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Hosts of a history, at most.
const MAX_HOSTS: u32 = 12;
const AREA: Area = Area { width_m: 800.0, height_m: 500.0 };

fn mobility() -> impl Strategy<Value = Mobility> {
    let waypoint = |steady: bool, pause_ms| {
        Mobility::RandomWaypoint(RandomWaypoint {
            area: AREA,
            min_speed_m_per_s: 0.5,
            max_speed_m_per_s: 20.0,
            pause: Duration::from_millis(pause_ms),
            start: if steady { WaypointStart::Steady } else { WaypointStart::Uniform },
        })
    };
    let gauss_markov = |memory| {
        Mobility::GaussMarkov(GaussMarkov {
            area: AREA,
            mean_speed_m_per_s: 5.0,
            max_speed_m_per_s: 15.0,
            memory,
            interval: Duration::from_millis(500),
        })
    };
    let manhattan =
        Manhattan { area: AREA, columns: 4, rows: 3, min_speed_m_per_s: 1.0, max_speed_m_per_s: 15.0 };
    prop_oneof![
        (0.0..800.0, 0.0..500.0).prop_map(|(x_m, y_m)| Mobility::Static(Position { x_m, y_m })),
        (any::<bool>(), 0..3000_u64).prop_map(move |(steady, pause)| waypoint(steady, pause)),
        (0.0..1.0).prop_map(gauss_markov),
        Just(Mobility::Manhattan(manhattan)),
    ]
}

fn mac() -> impl Strategy<Value = MacConfig> {
    let base = prop_oneof![
        Just(MacConfig::ns2()),
        Just(MacConfig::dsss()),
        Just(MacConfig::ofdm()),
        Just(MacConfig::erp_ofdm()),
        Just(MacConfig::ht(HtFormat::Greenfield))
    ];
    let rates = prop_oneof![
        2 => Just(RateControl::Fixed),
        1 => Just(RateControl::Arf(ArfConfig::kamerman_monteban()))
    ];
    let together = prop::option::of(1..=64_u8)
        .prop_map(|packets| packets.map(|max_packets| Aggregation { max_packets, ..Aggregation::ht() }));
    let resolution = prop_oneof![
        2 => Just(AddressResolution::None),
        1 => Just(AddressResolution::Arp),
        1 => Just(AddressResolution::Ns2)
    ];
    let contending = (base, prop_oneof![Just(0), Just(500), Just(u32::MAX)], 1..50_u32, rates, together)
        .prop_map(|(mac, rts_threshold_bytes, queue_packets, rate_control, together)| MacConfig {
            rts_threshold_bytes,
            queue_packets,
            // Not with 802.11n's own rates.
            rate_control: if matches!(mac.modulation, Modulation::Ht(_)) {
                RateControl::Fixed
            } else {
                rate_control
            },
            // Of OFDM alone.
            aggregation: together.filter(|_| !matches!(mac.modulation, Modulation::Dsss(_))),
            ..mac
        });
    let mac = (contending, coordination()).prop_map(|(mac, coordination)| match coordination {
        Coordination::Distributed => mac,
        // Polling is of the standard; neither goes with rates that follow losses, or with aggregation.
        Coordination::Polling(_) if mac.rules == AccessRules::Ns2 => mac,
        _ => MacConfig { coordination, rate_control: RateControl::Fixed, aggregation: None, ..mac },
    });
    (mac, resolution).prop_map(|(mac, address_resolution)| MacConfig { address_resolution, ..mac })
}

fn coordination() -> impl Strategy<Value = Coordination> {
    let slots =
        SlotConfig { slots: MAX_HOSTS, slot: Duration::from_millis(15), guard: Duration::from_micros(20) };
    let polling =
        PollingConfig { period: Duration::from_millis(100), max_duration: Duration::from_millis(60) };
    prop_oneof![
        3 => Just(Coordination::Distributed),
        1 => Just(Coordination::Slots(slots)),
        2 => Just(Coordination::Polling(polling))
    ]
}

/// The first host polls all but the last; each owns the slot of its number.
fn role(coordination: Coordination, host: u32, hosts: u32) -> Role {
    match coordination {
        Coordination::Polling(_) if host == 0 => {
            Role::AccessPoint((1..hosts.max(2) - 1).map(HostId).collect())
        }
        Coordination::Slots(_) => Role::SlotOwner(vec![host]),
        _ => Role::Station,
    }
}

/// What radios draw, when they sleep, and the batteries of the hosts in turn.
#[derive(Debug, Clone)]
struct Power {
    energy: EnergyConfig,
    duty_cycle: Option<DutyCycle>,
    batteries_j: Vec<Option<f64>>,
    /// Every other host has a second radio, on its battery and on a channel of these radios alone.
    has_second_radios: bool,
}

impl Power {
    /// The second radios of so many hosts: whose each is. Radios are numbered behind the first ones of all hosts.
    fn second_radios(&self, hosts: usize) -> Vec<usize> {
        if self.has_second_radios { (0..hosts).step_by(2).collect() } else { Vec::new() }
    }
}

fn power() -> impl Strategy<Value = Power> {
    let powers = (0.0..2.0, 0.0..1.0, 0.0..0.5, 0.0..0.1, prop::option::of(0.1..1.0));
    let duty_cycle = prop::option::weighted(0.3, (20..2000_u64, 1..=100_u64)).prop_map(|duty| {
        duty.map(|(period_ms, percent)| DutyCycle {
            period: Duration::from_millis(period_ms),
            awake: Duration::from_micros(period_ms * percent * 10),
        })
    });
    let batteries = prop::collection::vec(prop::option::of(1e-4..5.0), 1..4);
    (powers, duty_cycle, batteries, any::<bool>()).prop_map(
        |(powers, duty_cycle, batteries_j, has_second_radios)| {
            let (transmit_w, receive_w, idle_w, sleep_w, amplifier_efficiency) = powers;
            let energy = EnergyConfig { transmit_w, receive_w, idle_w, sleep_w, amplifier_efficiency };
            Power { energy, duty_cycle, batteries_j, has_second_radios }
        },
    )
}

/// What a host's radios have drawn follows from their states, and what they have not is left in the battery, to the
/// microjoule.
fn assert_energy_balances(
    power: &Power,
    radio: &RadioConfig,
    radios: &[HostStats],
    hosts: usize,
    now: Instant,
) {
    let batteries_j = &power.batteries_j;
    let seconds = power.second_radios(hosts);
    for (index, first) in radios[..hosts].iter().enumerate() {
        let second = seconds.iter().position(|host| *host == index).map(|place| &radios[hosts + place]);
        let drawn: u64 = core::iter::once(first).chain(second).map(|radio| radio.drawn_nj).sum();
        let capacity = batteries_j[index % batteries_j.len()];
        if let (Some(capacity), Some(left_nj)) = (capacity, first.battery_nj) {
            let left = capacity - drawn as f64 / 1e9 - left_nj as f64 / 1e9;
            assert!(left.abs() < 1e-6, "h{index} of {capacity} J: {first:?} {second:?}");
        }
        assert_eq!(first.battery_nj.is_some(), capacity.is_some());
        let is_dead = first.battery_nj.is_some_and(|left_nj| left_nj < 1000);
        for radio_stats in core::iter::once(first).chain(second) {
            assert_draws_by_state(power, radio, radio_stats, is_dead, now);
        }
        assert!(second.is_none_or(|second| second.battery_nj.is_none()), "one battery is counted once");
    }
}

fn assert_draws_by_state(power: &Power, radio: &RadioConfig, host: &HostStats, is_dead: bool, now: Instant) {
    let energy = &power.energy;
    let seconds = |time: Duration| time.as_secs_f64();
    let drawn = host.drawn_nj as f64 / 1e9;
    if !is_dead {
        let radiated_w =
            radio.antenna.power_w * RadioConfig::wavelan().receive_threshold_w / radio.receive_threshold_w;
        let transmit_w =
            energy.transmit_w + energy.amplifier_efficiency.map_or(0.0, |share| radiated_w / share);
        let idle = seconds(now - Instant::ZERO) - seconds(host.sending + host.receiving + host.asleep);
        let expected = seconds(host.sending) * transmit_w
            + seconds(host.receiving) * energy.receive_w
            + seconds(host.asleep) * energy.sleep_w
            + idle * energy.idle_w;
        assert!((drawn - expected).abs() < 1e-6, "{host:?}, expected {expected} J");
    }
}

fn radio() -> impl Strategy<Value = RadioConfig> {
    let log = Propagation::LogDistance { exponent: 3.0, reference_m: 1.0, shadowing_db: 4.0 };
    let model = prop_oneof![Just(Propagation::FreeSpace), Just(Propagation::TwoRayGround), Just(log)];
    let fading = prop_oneof![
        3 => Just(Fading::None),
        1 => Just(Fading::Rayleigh),
        1 => Just(Fading::Nakagami { m: 3.0 })
    ];
    (model, fading, prop::bool::weighted(0.3)).prop_map(|(propagation, fading, by_curves)| RadioConfig {
        propagation,
        fading,
        reception: match by_curves {
            true => Reception::ErrorCurves { noise_w: 4e-13 },
            false => RadioConfig::wavelan().reception,
        },
        ..RadioConfig::wavelan()
    })
}

#[derive(Debug, Clone)]
struct Send {
    at_us: u64,
    from: u32,
    to: Option<u32>,
    bytes: u32,
    priority: Priority,
    /// The radio of a host is tuned to another channel first, to none with 0.
    tuned: Option<(u32, u8)>,
}

fn sends() -> impl Strategy<Value = Vec<Send>> {
    let one =
        (0..3_000_000_u64, 0..12_u32, prop::option::weighted(0.9, 0..12_u32), 20..1500_u32, any::<bool>());
    let tuned = prop::option::weighted(0.1, (0..12_u32, 0..3_u8));
    let one = (one, tuned).prop_map(|((at_us, from, to, bytes, urgent), tuned)| {
        let priority = if urgent { Priority::Routing } else { Priority::Normal };
        Send { at_us, from, to, bytes, priority, tuned }
    });
    prop::collection::vec(one, 1..150).prop_map(|mut sends| {
        sends.sort_by_key(|send| send.at_us);
        sends
    })
}

/// Medium access that goes with a radio.
fn possible(radio: &RadioConfig, mac: MacConfig) -> MacConfig {
    let duty_cycle = mac.duty_cycle.filter(|_| mac.coordination == Coordination::Distributed);
    // Curves are of 802.11b.
    let MacConfig { modulation, data_rate, basic_rate, .. } = MacConfig::dsss();
    match radio.reception {
        Reception::ErrorCurves { .. } => {
            MacConfig { modulation, data_rate, basic_rate, aggregation: None, duty_cycle, ..mac }
        }
        Reception::Capture { .. } => MacConfig { duty_cycle, ..mac },
    }
}

/// What holds on channel 2 where hosts contend, if radios are of another kind there.
fn other_kind(radio: &RadioConfig, mac: &MacConfig, other: Option<MacConfig>) -> Option<ChannelConfig> {
    let MacConfig { duty_cycle, address_resolution, coordination, .. } = *mac;
    let other = other.filter(|_| coordination == Coordination::Distributed)?;
    let other = MacConfig { duty_cycle, address_resolution, coordination, ..other };
    Some(ChannelConfig { channel: 2, radio: *radio, mac: possible(radio, other) })
}

/// The radios of hosts: the first ones, then the second ones of some.
fn radios_of(hosts: &[Mobility], coordination: Coordination, power: &Power) -> Vec<HostConfig> {
    let mut radios = named(hosts.to_vec());
    for (host, battery_j) in radios.iter_mut().zip(power.batteries_j.iter().cycle()) {
        host.battery_j = *battery_j;
    }
    for (index, host) in radios.iter_mut().enumerate() {
        host.role = role(coordination, index as u32, hosts.len() as u32);
    }
    for host in power.second_radios(hosts.len()) {
        let first = &radios[host];
        radios.push(HostConfig {
            name: format!("{}/2", first.name),
            rides_with: Some(HostId(host as u32)),
            channel: 9,
            role: Role::Station,
            ..first.clone()
        });
    }
    radios
}

/// Plays a history to its end. All that was seen, as text with counters, and the counters at the end.
fn play(
    radio: RadioConfig,
    mac: MacConfig,
    (power, other): (&Power, Option<MacConfig>),
    hosts: &[Mobility],
    sends: &[Send],
    seed: u64,
) -> (String, Vec<HostStats>) {
    let mac = possible(&radio, MacConfig { duty_cycle: power.duty_cycle, ..mac });
    let channels: Vec<ChannelConfig> = other_kind(&radio, &mac, other).into_iter().collect();
    let aggregates = mac.aggregation.is_some() || channels.iter().any(|own| own.mac.aggregation.is_some());
    let config = AirConfig { radio, mac, channels, energy: Some(power.energy), reports_frames: true };
    let configs = radios_of(hosts, mac.coordination, power);
    let (radios, first_radios) = (configs.len(), hosts.len() as u32);
    let mut air = Air::new(&config, configs, Seed(seed)).expect("a possible air");
    let mut seen = String::new();
    let resolves = mac.address_resolution != AddressResolution::None;
    let (mut fates, mut refused) = (Fates { resolves, ..Fates::default() }, Vec::new());
    let mut note = |now: Instant, event: AirEvent<u64>| {
        fates.count(&event);
        seen.push_str(&format!("{now} {event:?}\n"));
    };
    let count = radios as u32;
    for (index, send) in sends.iter().enumerate() {
        let now = Instant::ZERO + Duration::from_micros(send.at_us);
        run(&mut air, now, |_, at, event| note(at, event));
        if let Some((host, channel)) = send.tuned {
            air.tune(now, HostId(host % first_radios), Some(channel).filter(|channel| *channel > 0));
            assert_conserved(&air, now, radios);
        }
        let to = send.to.map(|to| HostId(to % count));
        let packet = Outgoing { to, priority: send.priority, ..unicast(0, send.bytes, index as u64) };
        refused.extend(air.send(now, HostId(send.from % count), packet).err().map(|packet| packet.payload));
        assert_conserved(&air, now, radios);
    }
    run(&mut air, secs(60), |_, at, event| note(at, event));
    assert_conserved(&air, secs(60), radios);
    let all = stats(&air, secs(60), radios);
    assert_energy_balances(power, &radio, &all, hosts.len(), secs(60));
    for index in 0..radios {
        let place = air.position(secs(60), HostId(index as u32));
        let inside = |value: f64, side: f64| (-1e-6..=side + 1e-6).contains(&value);
        assert!(inside(place.x_m, AREA.width_m) && inside(place.y_m, AREA.height_m), "{place:?}");
    }
    // A minute of being awake.
    let periods = |duty: DutyCycle| duty.period.as_nanos().div_ceil(duty.awake.as_nanos());
    let end = secs(60 * mac.duty_cycle.map_or(1, periods));
    run(&mut air, end, |_, at, event| note(at, event));
    assert_conserved(&air, end, radios);
    for (index, host) in stats(&air, end, radios).iter().enumerate() {
        assert_eq!(air.waiting_packets(HostId(index as u32)), 0, "a packet waits for ever at h{index}");
        assert_eq!(host.signals, host.signals_ended(), "h{index}: {host:?}");
    }
    let unresolved: usize = (0..count).map(|host| air.unresolved_packets(HostId(host))).sum();
    assert!(
        unresolved == 0 || mac.address_resolution == AddressResolution::Ns2,
        "{unresolved} wait for ever"
    );
    refused.into_iter().for_each(|payload| fates.end(payload));
    assert_eq!(fates.ended.len() + unresolved, sends.len(), "packets vanish: {fates:?}");
    let ended = stats(&air, end, radios);
    fates.assert_told(&ended, aggregates);
    (format!("{seen}{all:?}"), ended)
}

/// What becomes of packets, and of data frames for one neighbour.
#[derive(Debug, Default)]
struct Fates {
    /// Packets whose sender has them back, by number.
    ended: BTreeSet<u64>,
    resolves: bool,
    sent: u64,
    missed: BTreeMap<Miss, u64>,
    /// Packets handed up.
    received: u64,
    /// Taken in by hosts for all.
    broadcasts: u64,
}

impl Fates {
    /// A packet's sender has it back.
    fn end(&mut self, payload: u64) {
        assert!(self.ended.insert(payload), "packet {payload} has two ends");
    }

    fn count(&mut self, event: &AirEvent<u64>) {
        match event {
            AirEvent::Sent { payload, .. }
            | AirEvent::Failed { payload, .. }
            | AirEvent::PoweredOff { payload, .. }
            | AirEvent::Unresolved { payload, .. }
            | AirEvent::Refused { payload, .. } => self.end(*payload),
            AirEvent::OnAir { frame, .. } if frame.payload.is_some() && frame.to.is_some() => {
                self.sent += 1;
            }
            AirEvent::OnAir { frame, announces, .. } if frame.kind == FrameKind::Rts => {
                assert!(announces.is_some() || self.resolves, "an RTS announces a packet");
            }
            AirEvent::Missed { kind: FrameKind::Data, miss, .. } => {
                *self.missed.entry(*miss).or_default() += 1;
            }
            AirEvent::Received { broadcast, .. } => {
                *(if *broadcast { &mut self.broadcasts } else { &mut self.received }) += 1;
            }
            _ => {}
        }
    }

    /// Every data frame for a neighbour came, came again, or is told to have been lost, for the reason that was
    /// counted.
    fn assert_told(&self, hosts: &[HostStats], aggregates: bool) {
        let sum = |of: fn(&HostStats) -> u64| hosts.iter().map(of).sum::<u64>();
        let missed: u64 = self.missed.values().sum();
        let of = |miss: Miss| self.missed.get(&miss).copied().unwrap_or(0);
        // Packets of aggregates may come and be given up by a host that holds them back.
        if !aggregates && !self.resolves {
            let came = self.received + sum(|host| host.duplicates);
            assert_eq!(self.sent, came + missed, "{self:?}");
        }
        let refused = sum(|host| host.data_refused);
        assert!(of(Miss::Refused) == refused || self.resolves && of(Miss::Refused) < refused, "{self:?}");
        assert!(of(Miss::Collided) <= sum(|host| host.lost_collided), "{self:?}");
        assert!(of(Miss::Weak) <= sum(|host| host.lost_weak), "{self:?}");
        assert!(of(Miss::Overpowered) <= sum(|host| host.lost_overpowered), "{self:?}");
        assert!(of(Miss::WhileSending) <= sum(|host| host.lost_while_sending), "{self:?}");
        assert!(of(Miss::WithoutPower) <= sum(|host| host.lost_without_power), "{self:?}");
        assert!(of(Miss::Tuning) <= sum(|host| host.lost_tuning), "{self:?}");
    }
}

/// What the histories of a test were made of.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    histories: u64,
    hosts: u64,
    packets: u64,
    frames: u64,
    signals: u64,
}

impl Tally {
    fn add(&mut self, packets: usize, hosts: &[HostStats]) {
        let sum = |of: fn(&HostStats) -> u64| hosts.iter().map(of).sum::<u64>();
        self.histories += 1;
        self.hosts += hosts.len() as u64;
        self.packets += packets as u64;
        self.frames += sum(HostStats::frames_sent);
        self.signals += sum(|host| host.signals);
    }
}

#[test]
fn frames_and_packets_are_conserved_nothing_waits_for_ever_and_the_same_seed_gives_the_same_history() {
    let hosts = prop::collection::vec(mobility(), 1..MAX_HOSTS as usize);
    let power = (power(), prop::option::of(mac()));
    let histories = (radio(), mac(), power, hosts, sends(), any::<u64>());
    let tally = RefCell::new(Tally::default());
    let outcome = TestRunner::new(prismux_properties::cases(150)).run(
        &histories,
        |(radio, mac, (power, other), hosts, sends, seed)| {
            let power = (&power, other);
            let (first, stats) = play(radio, mac, power, &hosts, &sends, seed);
            prop_assert_eq!(first, play(radio, mac, power, &hosts, &sends, seed).0);
            tally.borrow_mut().add(sends.len(), &stats);
            Ok(())
        },
    );
    let Tally { histories, hosts, packets, frames, signals } = tally.into_inner();
    println!(
        "{histories} histories, each twice: {hosts} hosts, {packets} packets, {frames} frames, {signals} signals"
    );
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
