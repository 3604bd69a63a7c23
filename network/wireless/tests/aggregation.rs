//! Several packets in one transmission: efficiency, order, and what is sent again.
mod common;

use common::{air, assert_conserved, named, run, saturate, secs, stats, still, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    AccessRules, Aggregation, Air, AirConfig, AirError, AirEvent, Fading, FrameKind, HostId, HtFormat,
    MacConfig, Mobility, Position, RadioConfig,
};
use std::fmt::Write as _;
use std::io::Write as _;

const PACKET_BYTES: u32 = 1500;

fn mac(max_packets: u8) -> MacConfig {
    let aggregation = Some(Aggregation { max_packets, ..Aggregation::ht() });
    MacConfig { queue_packets: 200, aggregation, ..MacConfig::ht(HtFormat::Mixed) }
}

/// Bits per second of one sender with packets at all times: packets over the whole exchange. A packet has 36 bytes
/// around it, a delimiter of 4, and is padded to 4.
fn closed_form(mac: &MacConfig, packets: u32) -> f64 {
    let air = |bytes, rate| mac.modulation.airtime(bytes, rate).as_secs_f64();
    let (sifs, slot, delay) = (mac.sifs.as_secs_f64(), mac.slot.as_secs_f64(), 1e-6);
    let back_off = f64::from(mac.min_window) / 2.0 * slot;
    let data = air(packets * (PACKET_BYTES + 36 + 4), mac.data_rate);
    let exchange = sifs + 2.0 * slot + back_off + data + sifs + air(32, mac.basic_rate) + 2.0 * delay;
    f64::from(packets * PACKET_BYTES * 8) / exchange
}

#[test]
fn goodput_of_one_sender_is_payload_over_exchange() {
    let (mut table, mut worst) = (String::new(), 0.0_f64);
    for packets in [1, 2, 4, 8, 16, 32] {
        let mac = mac(packets);
        let mut air = still(mac, &[(0.0, 0.0), (50.0, 0.0)], 1);
        for _ in 0..150 {
            air.send(Instant::ZERO, HostId(0), unicast(1, PACKET_BYTES, 0)).expect("room");
        }
        saturate(&mut air, &[(0, 1)], PACKET_BYTES, secs(5));
        assert_conserved(&air, secs(5), 2);
        let host = stats(&air, secs(5), 2)[1];
        let found = host.packets_received as f64 * f64::from(PACKET_BYTES) * 8.0 / 5.0;
        let model = closed_form(&mac, u32::from(packets));
        worst = worst.max((found / model - 1.0).abs());
        let _ = writeln!(
            table,
            "{packets:2} packets: {found:10.0} bit/s, closed form {model:10.0}, ratio {:.4}, {:.3} of the rate",
            found / model,
            found / mac.data_rate.as_bps() as f64
        );
        assert_eq!(host.duplicates, 0);
    }
    writeln!(std::io::stdout(), "{table}").expect("a standard output");
    assert!(worst < 0.02, "{table}");
}

#[test]
fn limits_of_bytes_and_of_airtime_hold() {
    for (limits, packets) in [
        (Aggregation { max_bytes: 1540 * 5 + 1539, ..Aggregation::ht() }, 5),
        // Seven last 596 us at 150 Mbit/s, eight 680 us.
        (Aggregation { max_airtime: Duration::from_micros(679), ..Aggregation::ht() }, 7),
        // One goes, however small the limit.
        (Aggregation { max_bytes: 1, ..Aggregation::ht() }, 1),
    ] {
        let config = MacConfig { aggregation: Some(limits), ..mac(1) };
        let mut air = still(config, &[(0.0, 0.0), (50.0, 0.0)], 1);
        for _ in 0..50 {
            air.send(Instant::ZERO, HostId(0), unicast(1, PACKET_BYTES, 0)).expect("room");
        }
        saturate(&mut air, &[(0, 1)], PACKET_BYTES, secs(1));
        let host = stats(&air, secs(1), 2)[1];
        // The last one may be under way.
        let whole = host.packets_received / packets;
        assert!(whole > 100 && whole.abs_diff(host.acks_sent) <= 1, "{limits:?}: {host:?}");
    }
}

/// Sends `packets` over a channel that fades, and collects what arrives, in order.
fn over_fading(distance_m: f64, packets: u64, seed: u64) -> (Air<u64>, Vec<u64>) {
    let radio = RadioConfig { fading: Fading::Rayleigh, ..RadioConfig::wavelan() };
    let place = |x_m| Mobility::Static(Position { x_m, y_m: 0.0 });
    let mut air = air(radio, mac(16), vec![place(0.0), place(distance_m)], seed);
    let (mut arrived, mut given_back) = (Vec::new(), 0);
    for payload in 0..packets {
        let now = Instant::ZERO + Duration::from_micros(200) * payload;
        run(&mut air, now, |_, _, event| note(event, &mut arrived, &mut given_back));
        if air.send(now, HostId(0), unicast(1, PACKET_BYTES, payload)).is_err() {
            given_back += 1;
        }
        assert_conserved(&air, now, 2);
    }
    run(&mut air, secs(60), |_, _, event| note(event, &mut arrived, &mut given_back));
    assert_eq!(given_back, packets, "each is given back once");
    (air, arrived)
}

fn note(event: AirEvent<u64>, arrived: &mut Vec<u64>, given_back: &mut u64) {
    match event {
        AirEvent::Received { payload, .. } => arrived.push(payload),
        AirEvent::Sent { .. } | AirEvent::Failed { .. } => *given_back += 1,
        _ => {}
    }
}

#[test]
fn packets_arrive_once_and_in_order_though_each_is_lost_alone() {
    for (seed, distance_m) in [(1, 60.0), (2, 120.0), (3, 180.0), (4, 230.0)] {
        let (air, arrived) = over_fading(distance_m, 3000, seed);
        assert!(arrived.is_sorted_by(|a, b| a < b), "at {distance_m} m");
        let [sender, receiver] = stats(&air, secs(60), 2)[..] else { panic!("two hosts") };
        assert_eq!(receiver.packets_received, arrived.len() as u64);
        // Every packet that was acknowledged has arrived; some that were given up have, their acknowledgement was lost.
        assert!(sender.packets_sent <= receiver.packets_received, "{sender:?} {receiver:?}");
        assert!(receiver.packets_received <= sender.packets_sent + sender.packets_failed);
        // A packet comes twice only if the acknowledgement of the first time was lost: 16 of them at most each time.
        assert!(receiver.duplicates <= 16 * sender.timeouts, "{sender:?} {receiver:?}");
        assert_eq!(air.waiting_packets(HostId(0)), 0);
        assert!(distance_m < 100.0 || receiver.lost_weak > 0, "some were lost: {receiver:?}");
    }
}

#[test]
fn several_senders_share_the_medium_and_nothing_is_lost_twice() {
    let places: Vec<_> = (0..5).map(|k| (20.0 * f64::from(k), 0.0)).collect();
    let mut air = still(mac(32), &places, 9);
    let flows: Vec<_> = (1..5).map(|station| (station, 0)).collect();
    for _ in 0..60 {
        for &(from, to) in &flows {
            air.send(Instant::ZERO, HostId(from), unicast(to, PACKET_BYTES, 0)).expect("room");
        }
    }
    saturate(&mut air, &flows, PACKET_BYTES, secs(2));
    assert_conserved(&air, secs(2), 5);
    let all = stats(&air, secs(2), 5);
    let goodput = all[0].packets_received as f64 * f64::from(PACKET_BYTES) * 8.0 / 2.0;
    // Collisions cost a part of it.
    let alone = closed_form(&mac(32), 32);
    assert!((0.6..1.02).contains(&(goodput / alone)), "{goodput} of {alone}");
    let timeouts: u64 = all.iter().map(|host| host.timeouts).sum();
    assert!(all[0].duplicates <= 32 * timeouts, "{all:?}");
}

#[test]
fn an_rts_reserves_the_whole_of_an_aggregate() {
    let mac = MacConfig { rts_threshold_bytes: 0, ..mac(4) };
    let config = AirConfig { reports_frames: true, ..AirConfig::new(RadioConfig::wavelan(), mac) };
    let place = |x_m| Mobility::Static(Position { x_m, y_m: 0.0 });
    let mut air: Air<u64> =
        Air::new(&config, named(vec![place(0.0), place(50.0)]), Seed(1)).expect("a possible air");
    for payload in 0..4 {
        air.send(Instant::ZERO, HostId(0), unicast(1, PACKET_BYTES, payload)).expect("room");
    }
    let mut frames = Vec::new();
    run(&mut air, secs(1), |_, _, event| {
        if let AirEvent::OnAir { at, frame, .. } = event {
            frames.push((at, frame));
        }
    });
    let kinds: Vec<FrameKind> = frames.iter().map(|(_, frame)| frame.kind).collect();
    use FrameKind::{BlockAck, Cts, Data, Rts};
    assert_eq!(kinds, [Rts, Cts, Data, Data, Data, Data, BlockAck]);
    let ends = |index: usize| frames[index].0 + frames[index].1.airtime;
    // Each frame reserves the medium up to the end of the last; the way there takes 1 us for each change of sender.
    for (index, changes) in [(0, 3), (1, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 0)] {
        let reserved = ends(index) + frames[index].1.nav;
        assert_eq!(ends(6) - reserved, Duration::from_micros(changes), "{:?}", kinds[index]);
    }
    // The parts follow one another at once.
    for index in 2..5 {
        assert_eq!(ends(index), frames[index + 1].0);
    }
}

#[test]
fn impossible_aggregates_are_refused_by_name() {
    let b = MacConfig { aggregation: Some(Aggregation::ht()), ..MacConfig::dsss() };
    for (mac, what) in [
        (mac(0), "an aggregate holds 1 to 64 packets"),
        (mac(65), "an aggregate holds 1 to 64 packets"),
        (b, "aggregates are of OFDM: 802.11a, g or n"),
        (
            MacConfig { rules: AccessRules::Ns2, ..mac(8) },
            "aggregates are of the standard, not of ns-2's rules",
        ),
    ] {
        let config = AirConfig::new(RadioConfig::wavelan(), mac);
        let refused = Air::<u64>::new(&config, Vec::new(), Seed(1)).map(drop);
        assert_eq!(refused, Err(AirError::Mac(what)));
    }
}
