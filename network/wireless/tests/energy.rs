//! What radios draw, batteries that run out, radios that sleep.
mod common;

use common::{assert_conserved, named, run, secs, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    Air, AirConfig, AirError, AirEvent, DutyCycle, EnergyConfig, HostId, MacConfig, Mobility, Position,
    RadioConfig,
};

const POWERS: EnergyConfig =
    EnergyConfig { transmit_w: 1.0, receive_w: 0.5, idle_w: 0.1, sleep_w: 0.001, amplifier_efficiency: None };

/// Hosts 100 m apart in a row, with these batteries.
fn row(batteries: &[Option<f64>], mac: MacConfig, energy: EnergyConfig) -> Result<Air<u64>, AirError> {
    let places = (0..batteries.len()).map(|host| Position { x_m: 100.0 * host as f64, y_m: 0.0 });
    let mut hosts = named(places.map(Mobility::Static).collect());
    for (host, battery_j) in hosts.iter_mut().zip(batteries) {
        host.battery_j = *battery_j;
    }
    let config = AirConfig { energy: Some(energy), ..AirConfig::new(RadioConfig::wavelan(), mac) };
    Air::new(&config, hosts, Seed(1))
}

fn joules(nanojoules: u64) -> f64 {
    nanojoules as f64 / 1e9
}

#[test]
fn one_packet_costs_its_frames_at_both_ends_and_at_whoever_hears_it() {
    let mut air = row(&[None, None, Some(10.0)], MacConfig::ns2(), POWERS).expect("an air");
    air.send(Instant::ZERO, HostId(0), unicast(1, 466, 1)).expect("room");
    run(&mut air, secs(1), |_, _, _| {});
    // RTS 352, CTS 304, data 192 and 4 for each of 500 bytes, ACK 304 microseconds; the rest of the second idle.
    let (by_sender, by_receiver) = (352e-6 + 2192e-6, 304e-6 + 304e-6);
    let idle = |active: f64| (1.0 - active) * 0.1;
    let active = by_sender + by_receiver;
    for (host, expected) in [
        (0, by_sender * 1.0 + by_receiver * 0.5 + idle(active)),
        (1, by_receiver * 1.0 + by_sender * 0.5 + idle(active)),
        (2, active * 0.5 + idle(active)),
    ] {
        let stats = air.stats(secs(1), HostId(host));
        assert!(
            (joules(stats.drawn_nj) - expected).abs() < 1e-6,
            "host {host}: {stats:?}, expected {expected} J"
        );
    }
    let bystander = air.stats(secs(1), HostId(2));
    assert_eq!(bystander.battery_nj.map(|left| left + bystander.drawn_nj), Some(9_999_999_999 + 1));
}

#[test]
fn an_idle_host_lives_as_long_as_its_battery_and_is_deaf_afterwards() {
    let mut air = row(&[None, Some(1.0)], MacConfig::ns2(), POWERS).expect("an air");
    run(&mut air, secs(9), |_, _, _| {});
    assert_eq!(air.stats(secs(9), HostId(1)).battery_nj, Some(100_000_000));
    run(&mut air, secs(11), |_, _, _| {});
    let mut outcome = Vec::new();
    air.send(secs(11), HostId(0), unicast(1, 100, 7)).expect("room");
    run(&mut air, secs(12), |_, _, event| outcome.push(event));
    assert_eq!(outcome, [AirEvent::Failed { host: HostId(0), next_hop: HostId(1), payload: 7 }]);
    let dead = air.stats(secs(12), HostId(1));
    assert_eq!((dead.drawn_nj, dead.battery_nj), (1_000_000_000, Some(0)));
    assert!(dead.signals == 7 && dead.lost_without_power == 7, "seven times RTS: {dead:?}");
    assert!(air.send(secs(12), HostId(1), unicast(0, 100, 8)).is_err(), "it sends nothing either");
    assert_conserved(&air, secs(12), 2);
}

#[test]
fn a_battery_that_runs_out_while_the_host_sends_gives_its_packets_back_and_ends_at_its_capacity() {
    let mut air = row(&[Some(0.05), None], MacConfig::ns2(), POWERS).expect("an air");
    for payload in 0..40 {
        air.send(Instant::ZERO, HostId(0), unicast(1, 1000, payload)).expect("room");
    }
    let (mut sent, mut returned) = (0, 0);
    run(&mut air, secs(2), |_, _, event| match event {
        AirEvent::Sent { .. } => sent += 1,
        AirEvent::PoweredOff { host: HostId(0), .. } => returned += 1,
        _ => {}
    });
    // A packet costs about 4.9 ms at 1 W and some hearing: ten are 0.05 J.
    assert!((7..=11).contains(&sent) && sent + returned == 40, "{sent} sent, {returned} returned");
    let stats = air.stats(secs(2), HostId(0));
    assert!((joules(stats.drawn_nj) - 0.05).abs() < 1e-6 && stats.battery_nj <= Some(1000), "{stats:?}");
    assert_eq!(stats.packets_without_power, returned);
    assert_conserved(&air, secs(2), 2);
}

#[test]
fn two_radios_of_a_host_end_together_when_their_battery_has_carried_what_both_draw() {
    let place = |x_m| Mobility::Static(Position { x_m, y_m: 0.0 });
    let mut hosts = named(vec![place(0.0), place(100.0), place(0.0), place(100.0)]);
    // h0 has radios on channels 1 and 6, h1 and h3 hear one of them each.
    (hosts[0].battery_j, hosts[2].rides_with) = (Some(1.0), Some(HostId(0)));
    (hosts[2].channel, hosts[3].channel) = (6, 6);
    let (radio, mac) = (RadioConfig::wavelan(), MacConfig::ns2());
    let config = AirConfig { energy: Some(POWERS), ..AirConfig::new(radio, mac) };
    let mut air = Air::new(&config, hosts, Seed(1)).expect("an air");
    // Two idle radios draw 0.2 W: 5 s, less what a packet costs by each.
    for (radio, to) in [(0, 1), (2, 3)] {
        air.send(Instant::ZERO, HostId(radio), unicast(to, 466, 1)).expect("room");
    }
    run(&mut air, secs(4), |_, _, _| {});
    let drawn_by = |air: &Air<u64>| [0, 2].map(|radio| air.stats(secs(4), HostId(radio)).drawn_nj);
    let (by_first, by_second) = (drawn_by(&air)[0], drawn_by(&air)[1]);
    assert_eq!(by_first, by_second);
    let left = [0, 2].map(|radio| air.stats(secs(4), HostId(radio)).battery_nj);
    assert_eq!(left, [Some(1_000_000_000 - by_first - by_second), None]);
    let mut returned = Vec::new();
    run(&mut air, secs(6), |_, _, _| {});
    for radio in [0, 2] {
        let stats = air.stats(secs(6), HostId(radio));
        assert!((joules(stats.drawn_nj) - 0.5).abs() < 1e-6, "{stats:?}");
        returned.extend(air.send(secs(6), HostId(radio), unicast(radio + 1, 100, 2)).err());
    }
    assert_eq!(returned.len(), 2, "neither sends any more");
    assert_eq!(air.stats(secs(6), HostId(0)).battery_nj, Some(0));
    assert_conserved(&air, secs(6), 4);
}

#[test]
fn radios_that_sleep_begin_no_exchange_and_draw_less() {
    let duty_cycle = Some(DutyCycle { period: Duration::from_secs(1), awake: Duration::from_millis(200) });
    let mac = MacConfig { duty_cycle, ..MacConfig::ns2() };
    let mut air = row(&[None, None], mac, POWERS).expect("an air");
    run(&mut air, Instant::from_millis(500), |_, _, _| {});
    air.send(Instant::from_millis(500), HostId(0), unicast(1, 100, 1)).expect("room");
    let mut received = None;
    run(&mut air, secs(10), |_, now, event| {
        if matches!(event, AirEvent::Received { .. }) {
            received = Some(now);
        }
    });
    let received = received.expect("the packet");
    assert!(received > secs(1) && received < Instant::from_millis(1010), "{received}");
    let stats = air.stats(secs(10), HostId(1));
    assert_eq!(stats.asleep, Duration::from_secs(8));
    let active = stats.sending.as_secs_f64() + stats.receiving.as_secs_f64();
    let expected = 8.0 * 0.001
        + (2.0 - active) * 0.1
        + stats.sending.as_secs_f64()
        + stats.receiving.as_secs_f64() * 0.5;
    assert!((joules(stats.drawn_nj) - expected).abs() < 1e-6, "{stats:?}, expected {expected} J");
}

#[test]
fn an_empty_battery_and_impossible_powers_are_refused_by_name() {
    let refused = |battery, energy| {
        row(&[Some(battery)], MacConfig::ns2(), energy).map(drop).map_err(|e| e.to_string())
    };
    let of_battery = "battery of h0: it must hold more than 0 J and less than 1e12 J";
    for joules in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(joules, POWERS), Err(of_battery.into()), "{joules} J");
    }
    let of_powers = "energy: powers must be from 0 to 1000 W";
    for idle_w in [-0.1, f64::NAN, 2000.0] {
        assert_eq!(refused(1.0, EnergyConfig { idle_w, ..POWERS }), Err(of_powers.into()), "{idle_w} W");
    }
    let amplifier_efficiency = Some(0.0);
    let of_amplifier = "energy: the efficiency of the amplifier must be above 0 and at most 1";
    assert_eq!(refused(1.0, EnergyConfig { amplifier_efficiency, ..POWERS }), Err(of_amplifier.into()));
}
