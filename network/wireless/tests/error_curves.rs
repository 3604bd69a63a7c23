//! Packets lost in noise, against the closed form.
mod common;

use common::{air, assert_conserved, run, secs, unicast};
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    Air, AirConfig, AirError, AirEvent, HostId, MacConfig, Mobility, Outgoing, Position, RadioConfig,
    Reception,
};

/// 802.11b with broadcasts at 1 Mbit/s: all bits DBPSK.
fn mac() -> MacConfig {
    MacConfig { basic_rate: Rate::from_mbps(1), ..MacConfig::dsss() }
}

fn radio(noise_w: f64) -> RadioConfig {
    RadioConfig { reception: Reception::ErrorCurves { noise_w }, ..RadioConfig::wavelan() }
}

#[test]
fn as_many_broadcasts_are_lost_in_noise_as_the_error_rate_of_dbpsk_says() {
    let (bytes, rounds) = (464, 2000);
    let bits = f64::from((bytes + 36) * 8) + 192.0;
    for sinr_db in [-5.0, -4.5, -4.0, -3.5] {
        let sinr = libm::pow(10.0, sinr_db / 10.0);
        let noise_w = RadioConfig::wavelan().mean_power_w(100.0) / sinr;
        let place = |x_m| Mobility::Static(Position { x_m, y_m: 0.0 });
        let mut air = air(radio(noise_w), mac(), vec![place(0.0), place(100.0)], 5);
        let mut received = 0;
        for round in 0..rounds {
            let now = Instant::ZERO + Duration::from_millis(10) * round;
            let packet = Outgoing { to: None, ..unicast(0, bytes, round) };
            air.send(now, HostId(0), packet).expect("room");
            run(&mut air, now + Duration::from_millis(9), |_, _, event| {
                received += u64::from(matches!(event, AirEvent::Received { .. }));
            });
        }
        let expected = libm::exp(bits * libm::log1p(-0.5 * libm::exp(-22.0 * sinr)));
        let found = received as f64 / rounds as f64;
        let deviation = libm::sqrt(expected * (1.0 - expected) / rounds as f64);
        assert!(
            (found - expected).abs() < 4.0 * deviation + 0.005,
            "{sinr_db} dB: {found}, expected {expected}"
        );
        assert_conserved(&air, secs(20), 2);
        assert_eq!(air.stats(secs(20), HostId(1)).lost_weak, rounds - received);
    }
}

#[test]
fn rates_without_curves_are_refused_by_name() {
    for mac in [MacConfig::ofdm(), MacConfig { data_rate: Rate::from_mbps(3), ..mac() }] {
        let config = AirConfig::new(radio(4e-13), mac);
        let refused = Air::<u64>::new(&config, Vec::new(), prismux_endpoint::random::Seed(1)).map(drop);
        let what = "error curves are known for 802.11b's rates alone: 1, 2, 5.5 and 11 Mbit/s";
        assert_eq!(refused, Err(AirError::Radio(what)));
    }
}
