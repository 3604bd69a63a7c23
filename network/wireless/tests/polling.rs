//! Contention-free periods: what is polled in them, exactly, and what happens between them.
mod common;

use common::{assert_conserved, named, run, saturate, secs, stats, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    AccessRules, Air, AirConfig, AirError, AirEvent, Coordination, Frame, FrameKind, HostConfig, HostId,
    MacConfig, Mobility, PollingConfig, Position, RadioConfig, Role,
};
use std::fmt::Write as _;
use std::io::Write as _;

const PACKET_BYTES: u32 = 1000;

fn polling(period_ms: u64, max_ms: u64) -> PollingConfig {
    PollingConfig { period: Duration::from_millis(period_ms), max_duration: Duration::from_millis(max_ms) }
}

fn mac(polling: PollingConfig) -> MacConfig {
    let coordination = Coordination::Polling(polling);
    MacConfig { coordination, basic_rate: Rate::from_mbps(2), queue_packets: 200, ..MacConfig::dsss() }
}

/// An access point among stations, of which it polls the first `polled`.
fn hosts(stations: u32, polled: u32) -> Vec<HostConfig> {
    let place = |k: u32| Mobility::Static(Position { x_m: 10.0 * f64::from(k), y_m: 0.0 });
    let mut hosts = named((0..=stations).map(place).collect());
    hosts[0].role = Role::AccessPoint((1..=polled).map(HostId).collect());
    hosts
}

fn air(mac: MacConfig, hosts: Vec<HostConfig>) -> Air<u64> {
    let config = AirConfig { reports_frames: true, ..AirConfig::new(RadioConfig::wavelan(), mac) };
    Air::new(&config, hosts, Seed(1)).expect("a possible air")
}

/// All frames until `end`, with saturated `flows`.
fn frames(air: &mut Air<u64>, flows: &[(u32, u32)], end: Instant) -> Vec<(Instant, Frame<u64>)> {
    for &(from, to) in flows {
        for _ in 0..2 {
            air.send(Instant::ZERO, HostId(from), unicast(to, PACKET_BYTES, 0)).expect("room");
        }
    }
    let mut frames = Vec::new();
    run(air, end, |air, now, event| match event {
        AirEvent::OnAir { at, frame, .. } => frames.push((at, *frame)),
        AirEvent::Sent { host, to: Some(to), .. } | AirEvent::Failed { host, next_hop: to, .. } => {
            air.send(now, host, unicast(to.0, PACKET_BYTES, 0)).expect("room for what was sent");
        }
        _ => {}
    });
    frames
}

/// How many polled packets fit behind a beacon that began at `beacon`, in a period that was due at `due`.
fn closed_form(mac: &MacConfig, polling: &PollingConfig, due: Instant, beacon: Instant) -> u64 {
    let airtime = |bytes, rate| mac.modulation.airtime(bytes, rate);
    let (sifs, delay) = (mac.sifs, Duration::from_micros(1));
    let null = airtime(28, mac.basic_rate);
    let data = airtime(PACKET_BYTES + mac.data_overhead_bytes, mac.data_rate);
    let (longest, ack) = (airtime(2346, mac.data_rate), airtime(14, mac.basic_rate));
    let least = null + sifs + longest + sifs + ack + sifs + airtime(20, mac.basic_rate) + delay * 4;
    let room = (due + polling.max_duration) - (beacon + airtime(72, mac.basic_rate) + sifs);
    // A poll begins while there is room for the longest answer. Each exchange is a poll, a packet, and the ways.
    let each = null + sifs + data + sifs + delay * 2;
    (room - least).as_nanos() / each.as_nanos() + 1
}

#[test]
fn as_many_packets_go_in_each_period_as_fit_behind_its_beacon() {
    let polling = polling(100, 60);
    let mac = mac(polling);
    let mut air = air(mac, hosts(5, 5));
    let flows: Vec<_> = (1..=5).map(|station| (station, 0)).collect();
    let frames = frames(&mut air, &flows, secs(10));
    assert_conserved(&air, secs(10), 6);
    let mut periods = 0;
    let (mut polled, mut contended) = (0, 0);
    let mut begun: Option<(Instant, u64)> = None;
    for (at, frame) in &frames {
        match (frame.kind, begun) {
            (FrameKind::Beacon, _) => begun = Some((*at, 0)),
            (FrameKind::Data, Some((beacon, count))) => begun = Some((beacon, count + 1)),
            (FrameKind::Data, None) => contended += 1,
            (FrameKind::CfEnd, Some((beacon, count))) => {
                let due = Instant::ZERO + polling.period * periods;
                assert_eq!(count, closed_form(&mac, &polling, due, beacon), "period {periods}");
                assert!(*at + frame.airtime <= due + polling.max_duration, "period {periods} ends late");
                (begun, periods, polled) = (None, periods + 1, polled + count);
            }
            _ => {}
        }
    }
    assert_eq!(periods, 100);
    let all = stats(&air, secs(10), 6);
    // Polled packets never collide; the others do.
    let received = all[0].packets_received;
    assert!(received >= polled + contended / 2 && contended > 1000, "{polled} and {contended} of {received}");
    let fair: Vec<u64> = all[1..].iter().map(|host| host.packets_sent).collect();
    let (least, most) = (fair.iter().min().copied().unwrap_or(0), fair.iter().max().copied().unwrap_or(0));
    assert!(least * 10 > most * 9, "{fair:?}");
    let _ = writeln!(
        std::io::stdout(),
        "10 s of 60 ms in 100 ms: {polled} packets polled, {contended} frames between the periods, {received} received"
    );
}

#[test]
fn goodput_of_a_whole_second_of_polling_is_payload_over_exchange() {
    // A period of one second, but for the room that contention must have.
    let polling = polling(1100, 1000);
    let (mut table, mut worst) = (String::new(), 0.0_f64);
    for stations in [1, 5, 20] {
        let mac = mac(polling);
        let mut air = air(mac, hosts(stations, stations));
        let flows: Vec<_> = (1..=stations).flat_map(|station| [(station, 0), (0, station)]).collect();
        for &(from, to) in flows.iter().filter(|(from, _)| *from == 0) {
            // Enough for the whole period, so that no packet waits for another to be given back.
            for _ in 0..2 {
                air.send(Instant::ZERO, HostId(from), unicast(to, PACKET_BYTES, 0)).expect("room");
            }
        }
        saturate(&mut air, &flows, PACKET_BYTES, secs(1));
        let received: u64 =
            stats(&air, secs(1), stations as usize + 1).iter().map(|host| host.packets_received).sum();
        let found = received as f64 * f64::from(PACKET_BYTES) * 8.0;
        // Each exchange is a packet down and one up, SIFS apart.
        let data = mac.modulation.airtime(PACKET_BYTES + mac.data_overhead_bytes, mac.data_rate);
        let each = (data + mac.sifs + Duration::from_micros(1)) * 2;
        let model = 2.0 * f64::from(PACKET_BYTES) * 8.0 / each.as_secs_f64();
        worst = worst.max((found / model - 1.0).abs());
        let _ = writeln!(
            table,
            "{stations:2} stations: {found:8.0} bit/s, closed form {model:8.0}, ratio {:.4}",
            found / model
        );
    }
    let _ = writeln!(std::io::stdout(), "{table}");
    assert!(worst < 0.02, "{table}");
}

#[test]
fn a_packet_that_is_not_acknowledged_goes_with_later_polls_and_is_given_up() {
    let mut list = hosts(2, 2);
    list[1].mobility = Mobility::Static(Position { x_m: 900.0, y_m: 0.0 });
    let mut air = air(mac(polling(100, 60)), list);
    air.send(Instant::ZERO, HostId(0), unicast(1, PACKET_BYTES, 7)).expect("room");
    let mut ends = Vec::new();
    run(&mut air, secs(1), |_, _, event| {
        if let AirEvent::Failed { next_hop, payload, .. } = event {
            ends.push((next_hop, payload));
        }
    });
    assert_eq!(ends, [(HostId(1), 7)]);
    let access_point = stats(&air, secs(1), 3)[0];
    assert_eq!((access_point.data_sent, access_point.packets_failed, access_point.timeouts), (7, 1, 7));
    assert_conserved(&air, secs(1), 3);
}

#[test]
fn packets_between_two_hosts_stay_in_order_whichever_way_they_go() {
    let mut air = air(mac(polling(20, 12)), hosts(3, 2));
    let mut latest = std::collections::BTreeMap::new();
    for payload in 0..3000_u64 {
        let now = Instant::ZERO + Duration::from_millis(1) * payload;
        let mut seen = Vec::new();
        run(&mut air, now, |_, _, event| {
            if let AirEvent::Received { host, from, payload, .. } = event {
                seen.push(((from, host), payload));
            }
        });
        for (pair, payload) in seen {
            let before = latest.insert(pair, payload);
            assert!(before < Some(payload), "{pair:?}: {payload} after {before:?}");
        }
        for (from, to) in [(0, 1), (1, 0), (2, 3), (3, 0), (0, 3)] {
            let _ = air.send(now, HostId(from), unicast(to, 300, payload));
        }
    }
    assert_eq!(latest.len(), 5, "{latest:?}");
    assert_conserved(&air, secs(3), 4);
}

#[test]
fn hosts_on_a_channel_without_access_point_contend_as_if_nobody_polled() {
    let end = secs(2);
    let played = |mac: MacConfig, polls: bool| {
        // h1 is polled by h0; h3 and h4 send to h2 on a channel of their own.
        let mut hosts = hosts(4, 1);
        hosts[2..].iter_mut().for_each(|host| host.channel = 6);
        hosts[0].role = if polls { hosts[0].role.clone() } else { Role::Station };
        let mut air = air(mac, hosts);
        saturate(&mut air, &[(1, 0), (3, 2), (4, 2)], PACKET_BYTES, end);
        assert_conserved(&air, end, 5);
        stats(&air, end, 5)
    };
    let polled = played(mac(polling(100, 60)), true);
    let coordination = Coordination::Distributed;
    let alone = played(MacConfig { coordination, ..mac(polling(100, 60)) }, false);
    assert_eq!(polled[2..], alone[2..]);
    assert!(polled[0].beacons_sent > 0 && polled[0].packets_received > 0, "{:?}", polled[0]);
    assert!(polled[0].packets_received != alone[0].packets_received);
}

#[test]
fn cells_that_poll_on_channels_of_their_own_do_what_each_does_alone() {
    // h0 polls h1 and h2 on channel 1, h3 polls h4 and h5 on channel 6.
    let cells = |other: u8| {
        let mut hosts = hosts(5, 2);
        hosts[3].role = Role::AccessPoint(vec![HostId(4), HostId(5)]);
        hosts[3..].iter_mut().for_each(|host| host.channel = other);
        hosts
    };
    let alone = |own: std::ops::Range<u32>, flows: &[(u32, u32)]| {
        let mut air = air(mac(polling(50, 40)), cells(6));
        let frames = frames(&mut air, flows, secs(1));
        let of_cell = |(_, frame): &(Instant, Frame<u64>)| own.contains(&frame.from.0);
        frames.into_iter().filter(of_cell).map(|(at, frame)| (at, frame.from, frame.kind)).collect::<Vec<_>>()
    };
    let (first, second) = ([(0, 1), (2, 0)], [(3, 4), (5, 3)]);
    let both = [first, second].concat();
    for (own, flows) in [(0..3, first), (3..6, second)] {
        let frames = alone(own.clone(), &flows);
        assert!(
            frames.iter().filter(|(.., kind)| *kind == FrameKind::Data).count() > 400,
            "{}",
            frames.len()
        );
        assert_eq!(frames, alone(own, &both));
    }
}

#[test]
fn impossible_periods_and_lists_are_refused_by_name() {
    let refused = |mac: MacConfig, hosts: Vec<HostConfig>| {
        let config = AirConfig::new(RadioConfig::wavelan(), mac);
        Air::<u64>::new(&config, hosts, Seed(1)).map(drop).expect_err("impossible")
    };
    let role = |host: &str, what| AirError::Role { host: host.into(), what };
    let good = mac(polling(100, 60));
    let with = |list: Vec<HostId>, index: usize| {
        let mut hosts = hosts(2, 2);
        hosts[index].role = Role::AccessPoint(list);
        hosts
    };
    let mut nobody = hosts(2, 2);
    nobody[0].role = Role::Station;
    let cases = [
        (
            refused(mac(polling(100, 1)), hosts(1, 1)),
            AirError::Mac(
                "a contention-free period must have room for a beacon, a poll, the longest packet and its end",
            ),
        ),
        (
            refused(mac(polling(100, 99)), hosts(1, 1)),
            AirError::Mac("between contention-free periods there must be room for the longest packet"),
        ),
        (
            refused(MacConfig { rules: AccessRules::Ns2, ..good }, hosts(1, 1)),
            AirError::Mac("polling is of the standard, not of ns-2's rules"),
        ),
        (
            refused(good, with(vec![HostId(0)], 0)),
            role("h0", "it polls itself, or a host that is not on its channel"),
        ),
        (
            refused(good, with(vec![HostId(9)], 0)),
            role("h0", "it polls itself, or a host that is not on its channel"),
        ),
        (refused(good, with(vec![], 1)), role("h1", "its channel has another access point")),
        (refused(good, nobody), role("h0", "there is no access point on any channel")),
        (refused(MacConfig::dsss(), hosts(1, 1)), role("h0", "there are no contention-free periods")),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}
