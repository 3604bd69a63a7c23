//! Saturation throughput against the closed form (Bianchi, IEEE JSAC 2000, sections IV and V).
mod common;

use common::{assert_conserved, saturate, secs, stats, still};
use prismux_wireless::{AccessRules, MacConfig, Modulation, Preamble};
use std::io::Write as _;

/// Packets of 1000 bytes, as long as in all other scenarios here.
const PACKET_BYTES: u32 = 1000;

/// The probability that a station sends in a slot, and that it collides, as the fixed point of Bianchi's chain with
/// window `w` and `m` doublings (equations 7 and 9).
fn fixed_point(stations: u32, w: f64, m: i32) -> f64 {
    let tau = |p: f64| {
        let doubled = (0..m).map(|k| libm::pow(2.0 * p, f64::from(k))).sum::<f64>();
        2.0 / (1.0 + w + p * w * doubled)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let t = (low + high) / 2.0;
        let p = 1.0 - libm::pow(1.0 - t, f64::from(stations) - 1.0);
        if tau(p) > t { low = t } else { high = t }
    }
    low
}

/// The share of payload bits in a second, of the data rate (equation 13), in bits per second.
fn closed_form(stations: u32, mac: &MacConfig) -> f64 {
    let w = f64::from(mac.min_window + 1);
    let m = libm::round(libm::log2(f64::from(mac.max_window + 1) / w)) as i32;
    let tau = fixed_point(stations, w, m);
    let n = f64::from(stations);
    let some = 1.0 - libm::pow(1.0 - tau, n);
    let one = n * tau * libm::pow(1.0 - tau, n - 1.0) / some;
    let delay = 1e-6;
    let air = |bytes: u32, rate| mac.modulation.airtime(bytes, rate).as_secs_f64();
    let (sifs, slot) = (mac.sifs.as_secs_f64(), mac.slot.as_secs_f64());
    let difs = sifs + 2.0 * slot;
    let (rts, cts, ack) = (air(20, mac.basic_rate), air(14, mac.basic_rate), air(14, mac.basic_rate));
    let data = air(PACKET_BYTES + mac.data_overhead_bytes, mac.data_rate);
    let with_rts = PACKET_BYTES + mac.data_overhead_bytes >= mac.rts_threshold_bytes;
    let exchange = if with_rts { rts + cts + 2.0 * (sifs + delay) } else { 0.0 };
    let success = exchange + data + sifs + ack + difs + 2.0 * delay;
    // Behind a collision stations wait for EIFS, which covers an answer at the lowest rate (802.11, 9.2.3.4).
    let eifs = sifs + air(14, prismux_units::Rate::from_mbps(1)) + difs;
    let collision = if with_rts { rts } else { data } + eifs + delay;
    let bits = f64::from(PACKET_BYTES) * 8.0;
    some * one * bits / ((1.0 - some) * slot + some * one * success + some * (1.0 - one) * collision)
}

/// Stations on a small circle around a sink, all with packets for it at all times.
fn simulated(stations: u32, mac: MacConfig, seconds: u64) -> f64 {
    let on_circle = |k: u32| {
        let angle = f64::from(k) / f64::from(stations) * core::f64::consts::TAU;
        (30.0 * libm::cos(angle), 30.0 * libm::sin(angle))
    };
    let places: Vec<_> = core::iter::once((0.0, 0.0)).chain((0..stations).map(on_circle)).collect();
    let flows: Vec<_> = (1..=stations).map(|station| (station, 0)).collect();
    let mut air = still(mac, &places, u64::from(stations));
    saturate(&mut air, &flows, PACKET_BYTES, secs(seconds));
    assert_conserved(&air, secs(seconds), places.len());
    let received = stats(&air, secs(seconds), places.len())[0].packets_received;
    received as f64 * f64::from(PACKET_BYTES) * 8.0 / seconds as f64
}

/// The model's assumptions: the standard's rules, attempts without end.
fn of_the_model(rts: bool) -> MacConfig {
    MacConfig {
        data_rate: prismux_units::Rate::from_mbps(2),
        basic_rate: prismux_units::Rate::from_mbps(1),
        modulation: Modulation::Dsss(Preamble::Long),
        rts_threshold_bytes: if rts { 0 } else { u32::MAX },
        short_retry_limit: u8::MAX,
        long_retry_limit: u8::MAX,
        rules: AccessRules::Standard,
        ..MacConfig::dsss()
    }
}

#[test]
fn saturation_throughput_is_that_of_the_closed_form() {
    let mut table = String::new();
    let mut worst = 0.0_f64;
    for rts in [false, true] {
        for stations in [1, 2, 5, 10, 20, 35, 50] {
            let mac = of_the_model(rts);
            let (model, measured) = (closed_form(stations, &mac), simulated(stations, mac, 60));
            let ratio = measured / model;
            worst = worst.max((ratio - 1.0).abs());
            table += &format!(
                "rts {rts:5} stations {stations:2}: {measured:9.0} bit/s, model {model:9.0}, ratio {ratio:.4}\n"
            );
        }
    }
    writeln!(std::io::stdout(), "{table}").expect("a standard output");
    assert!(worst < 0.03, "{table}");
}
