//! Automatic rate fallback on an air whose faster rates reach less far.
mod common;

use common::{air, assert_conserved, named, saturate, secs, stats, still, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    Air, AirConfig, AirError, AirEvent, ArfConfig, FrameKind, HostId, MacConfig, Mobility, Position,
    RadioConfig, RateControl, parse_ns2,
};
use std::fmt::Write as _;
use std::io::Write as _;

const PACKET_BYTES: u32 = 1000;
const FAR_M: f64 = 250.0;
/// The rates of 802.11b and how much more power than the slowest they need, in decibels.
const RATES: [(u64, f64); 4] = [(1_000_000, 0.0), (2_000_000, 3.0), (5_500_000, 7.0), (11_000_000, 12.0)];

fn mac() -> MacConfig {
    MacConfig { rate_control: RateControl::Arf(ArfConfig::kamerman_monteban()), ..MacConfig::dsss() }
}

/// How far a rate reaches: beyond the cross-over distance of 86 m power falls with the fourth power of distance.
fn reach_m(step: usize) -> f64 {
    FAR_M * libm::pow(10.0, -RATES[step].1 / 40.0)
}

/// The fastest rate that reaches so far.
fn fastest_at(distance_m: f64) -> Option<usize> {
    (0..RATES.len()).rev().find(|step| distance_m <= reach_m(*step))
}

/// What one sender with packets at all times gets over to a receiver that `step` reaches and the next rate does not,
/// in bits per second: after ten packets comes a probe, which fails, and the next packet backs off from a window twice
/// as large.
fn closed_form(step: usize) -> f64 {
    let mac = mac();
    let (sifs, slot, delay) = (mac.sifs.as_secs_f64(), mac.slot.as_secs_f64(), 1e-6);
    let difs = sifs + 2.0 * slot;
    let airtime = |bytes, bps| mac.modulation.airtime(bytes, Rate::from_bps(bps)).as_secs_f64();
    let data = |step: usize| airtime(PACKET_BYTES + mac.data_overhead_bytes, RATES[step].0);
    let ack = |step: usize| airtime(14, RATES[step].0.min(mac.basic_rate.as_bps()));
    let answered = data(step) + sifs + ack(step) + 2.0 * delay;
    let (few, many) = (31.0 / 2.0 * slot, 63.0 / 2.0 * slot);
    let bits = f64::from(PACKET_BYTES) * 8.0;
    if step + 1 == RATES.len() {
        return bits / (difs + few + answered);
    }
    let probe = difs + few + data(step + 1) + sifs + ack(step + 1) + slot;
    10.0 * bits / (9.0 * (difs + few + answered) + probe + many + answered)
}

#[test]
fn goodput_at_each_distance_is_that_of_the_fastest_rate_that_reaches_it_less_the_probes() {
    let (mut table, mut worst) = (String::new(), 0.0_f64);
    for (step, distance_m) in [(3, 100.0), (2, 150.0), (1, 190.0), (0, 230.0)] {
        assert_eq!(fastest_at(distance_m), Some(step));
        let mut air = still(mac(), &[(0.0, 0.0), (distance_m, 0.0)], 1);
        saturate(&mut air, &[(0, 1)], PACKET_BYTES, secs(60));
        assert_conserved(&air, secs(60), 2);
        let received = stats(&air, secs(60), 2)[1].packets_received;
        let found = received as f64 * f64::from(PACKET_BYTES) * 8.0 / 60.0;
        let ratio = found / closed_form(step);
        worst = worst.max((ratio - 1.0).abs());
        let _ = writeln!(
            table,
            "{distance_m} m, {:4.1} Mbit/s: {found:8.0} bit/s, closed form {:8.0}, ratio {ratio:.4}",
            RATES[step].0 as f64 / 1e6,
            closed_form(step)
        );
    }
    writeln!(std::io::stdout(), "{table}").expect("a standard output");
    assert!(worst < 0.02, "{table}");
}

#[test]
fn a_host_that_walks_away_is_sent_to_at_11_then_5_5_then_2_then_1_mbit_per_s() {
    // 2 m/s, from 40 m to 260 m, with a packet each 10 ms.
    let walk = r#"
        $node_(0) set X_ 0.0
        $node_(0) set Y_ 0.0
        $node_(1) set X_ 40.0
        $node_(1) set Y_ 0.0
        $ns_ at 0.0 "$node_(1) setdest 260.0 0.0 2.0"
    "#;
    let hosts = parse_ns2("walk", walk, 2).expect("a good file");
    let config = AirConfig { reports_frames: true, ..AirConfig::new(RadioConfig::wavelan(), mac()) };
    let mut air: Air<u64> = Air::new(&config, named(hosts), Seed(3)).expect("a possible air");
    // Rates of frames, the present one and those that were answered.
    let (mut latest, mut answered) = (Rate::ZERO, Vec::new());
    for round in 0..11_000_u64 {
        let now = Instant::ZERO + Duration::from_millis(10) * round;
        let _ = air.send(now, HostId(0), unicast(1, PACKET_BYTES, round));
        let mut seen = Vec::new();
        common::run(&mut air, now + Duration::from_millis(10), |air, at, event| match event {
            AirEvent::OnAir { frame, .. } if frame.kind == FrameKind::Data => latest = frame.rate,
            AirEvent::Sent { .. } => {
                seen.push((air.position(at, HostId(1)).distance_m(Position::default()), latest))
            }
            _ => {}
        });
        answered.append(&mut seen);
    }
    // Every packet that came through went at a rate that reaches so far, nearly all at the fastest of those.
    for (distance_m, rate) in &answered {
        let step = RATES.iter().position(|(bps, _)| *bps == rate.as_bps()).expect("a rate of 802.11b");
        assert!(*distance_m < reach_m(step) + 0.1, "{rate} at {distance_m} m");
    }
    let is_fastest = |(distance_m, rate): &&(f64, Rate)| {
        fastest_at(*distance_m).is_some_and(|step| RATES[step].0 == rate.as_bps())
    };
    let share = answered.iter().filter(is_fastest).count() as f64 / answered.len() as f64;
    assert!(share > 0.99, "{share} of {} packets", answered.len());
    let mut order: Vec<u64> = answered.iter().map(|(_, rate)| rate.as_bps()).collect();
    order.dedup();
    assert_eq!(order, [11_000_000, 5_500_000, 2_000_000, 1_000_000]);
    let host = stats(&air, secs(110), 2)[0];
    // Each probe that fails is one step up and one down; the walk itself is three down.
    assert!(host.rates_lowered >= host.rates_raised + 3, "{host:?}");
    assert!(host.packets_failed > 20, "beyond 250 m nothing arrives: {host:?}");
}

#[test]
fn neighbours_have_rates_of_their_own() {
    // One near, one far; between them the sender.
    let place = |x_m| Mobility::Static(Position { x_m, y_m: 0.0 });
    let hosts = vec![place(0.0), place(60.0), place(-230.0)];
    let mut air = air(RadioConfig::wavelan(), mac(), hosts, 1);
    saturate(&mut air, &[(0, 1), (0, 2)], PACKET_BYTES, secs(10));
    let [_, near, far] = stats(&air, secs(10), 3)[..] else { panic!("three hosts") };
    // By turns: as many packets for both, the far one's at 1 Mbit/s.
    assert!(near.packets_received.abs_diff(far.packets_received) < 10, "{near:?} {far:?}");
    let airtime = |rate| mac().modulation.airtime(PACKET_BYTES + 36, Rate::from_bps(rate)).as_secs_f64();
    let sending = stats(&air, secs(10), 3)[0].sending.as_secs_f64();
    // A tenth of the far one's frames has a probe at 2 Mbit/s before it.
    let expected =
        far.packets_received as f64 * (airtime(11_000_000) + airtime(1_000_000) + 0.1 * airtime(2_000_000));
    assert!((sending / expected - 1.0).abs() < 0.02, "{sending} s, expected {expected} s");
}

#[test]
fn rates_of_no_standard_are_refused_by_name() {
    for (mac, what) in [
        (
            MacConfig { data_rate: Rate::from_mbps(3), ..mac() },
            "automatic rate fallback needs rates of the standard: those of 802.11b, or of 802.11a and g",
        ),
        (
            MacConfig {
                rate_control: RateControl::Arf(ArfConfig {
                    lower_after: 0,
                    ..ArfConfig::kamerman_monteban()
                }),
                ..MacConfig::ofdm()
            },
            "automatic rate fallback must count to at least 1",
        ),
    ] {
        let config = AirConfig::new(RadioConfig::wavelan(), mac);
        let refused = Air::<u64>::new(&config, Vec::new(), Seed(1)).map(drop);
        assert_eq!(refused, Err(AirError::Mac(what)));
    }
}
