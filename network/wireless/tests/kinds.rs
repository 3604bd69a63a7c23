//! Radios of two kinds on one air.
mod common;

use common::{assert_conserved, named, run, secs, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    AddressResolution, Aggregation, Air, AirConfig, AirError, AirEvent, ArfConfig, ChannelConfig,
    EnergyConfig, Frame, FrameKind, HostConfig, HostId, HostStats, MacConfig, Mobility, Position,
    RadioConfig, RateControl,
};

fn at(x_m: f64) -> Mobility {
    Mobility::Static(Position { x_m, y_m: 0.0 })
}

/// The radio of ns-2 that reaches so far.
fn reaching(range_m: f64) -> RadioConfig {
    let mut radio = RadioConfig::wavelan();
    radio.receive_threshold_w = radio.mean_power_w(range_m);
    radio
}

/// 802.11b on all channels but 36, where radios are of this kind.
fn beside(radio: RadioConfig, mac: MacConfig) -> AirConfig {
    AirConfig {
        radio: RadioConfig::wavelan(),
        mac: MacConfig::dsss(),
        channels: vec![ChannelConfig { channel: 36, radio, mac }],
        energy: None,
        reports_frames: true,
    }
}

/// Of one kind.
fn alone(radio: RadioConfig, mac: MacConfig) -> AirConfig {
    AirConfig { reports_frames: true, ..AirConfig::new(radio, mac) }
}

/// Pairs of hosts with these names, which overlap in space.
fn pairs(names: &[&str], channel: u8) -> Vec<HostConfig> {
    let place = |index: usize| at(60.0 * index as f64);
    let host = |(index, name): (usize, &&str)| HostConfig {
        channel,
        ..HostConfig::new((*name).to_string(), place(index))
    };
    names.iter().enumerate().map(host).collect()
}

/// What the hosts of a kind do, whose numbers begin at `first`: each frame, and their counters.
type Deeds = (Vec<(Instant, Frame<u64>)>, Vec<HostStats>);

/// Each host sends packets to the next, from these numbers on.
fn play(config: &AirConfig, hosts: Vec<HostConfig>, groups: &[[u32; 2]]) -> Vec<Deeds> {
    let mut air = Air::new(config, hosts, Seed(7)).expect("a possible air");
    for &[first, count] in groups {
        for number in 0..40 {
            let from = number % count;
            let to = first + (from + 1) % count;
            let bytes = 200 + 30 * number;
            air.send(Instant::ZERO, HostId(first + from), unicast(to, bytes, number.into())).expect("room");
        }
    }
    let mut frames = Vec::new();
    run(&mut air, secs(2), |_, _, event| {
        if let AirEvent::OnAir { at, frame, .. } = event {
            frames.push((at, *frame));
        }
    });
    let of_group = |&[first, count]: &[u32; 2]| {
        let moved = |host: HostId| HostId(host.0.wrapping_sub(first));
        let own = frames.iter().filter(|(_, frame)| moved(frame.from).0 < count);
        let own =
            own.map(|&(at, frame)| (at, Frame { from: moved(frame.from), to: frame.to.map(moved), ..frame }));
        (own.collect(), (first..first + count).map(|host| air.stats(secs(2), HostId(host))).collect())
    };
    groups.iter().map(of_group).collect()
}

#[test]
fn kinds_side_by_side_do_frame_by_frame_what_each_does_alone() {
    let aggregates = MacConfig { aggregation: Some(Aggregation::ht()), ..MacConfig::ofdm() };
    let arf = RateControl::Arf(ArfConfig::kamerman_monteban());
    let slow = MacConfig { rate_control: arf, rts_threshold_bytes: 500, ..MacConfig::dsss() };
    for (radio, mac) in
        [(reaching(100.0), MacConfig::ofdm()), (RadioConfig::wavelan(), aggregates), (reaching(150.0), slow)]
    {
        let (b, other) = (["b0", "b1", "b2"], ["a0", "a1", "a2", "a3"]);
        let both = [pairs(&b, 1), pairs(&other, 36)].concat();
        let together = play(&beside(radio, mac), both, &[[0, 3], [3, 4]]);
        let of_b = play(&alone(RadioConfig::wavelan(), MacConfig::dsss()), pairs(&b, 1), &[[0, 3]]);
        let of_other = play(&alone(radio, mac), pairs(&other, 1), &[[0, 4]]);
        assert!(of_b[0].0.len() > 60 && of_other[0].0.len() > 10, "{} frames", of_other[0].0.len());
        assert_eq!(together, [of_b, of_other].concat());
    }
}

#[test]
fn a_radio_that_goes_to_a_channel_of_another_kind_sends_as_that_kind_does() {
    let mut air =
        Air::new(&beside(reaching(100.0), MacConfig::ofdm()), named(vec![at(0.0), at(80.0)]), Seed(1))
            .expect("a possible air");
    let mut seen = Vec::new();
    let mut until = |air: &mut Air<u64>, end| {
        run(air, end, |_, _, event| match event {
            AirEvent::OnAir { frame, .. } if frame.kind == FrameKind::Data => seen.push(frame.rate),
            AirEvent::Failed { payload, .. } => assert_eq!(payload, 2),
            _ => {}
        });
    };
    assert_eq!(air.range_m(HostId(0)).round(), 250.0);
    air.send(Instant::ZERO, HostId(0), unicast(1, 1000, 1)).expect("room");
    until(&mut air, secs(1));
    // Its neighbour leaves while it sends to it, and then itself: that packet comes back, the next goes at 54 Mbit/s.
    air.send(secs(1), HostId(0), unicast(1, 1000, 2)).expect("room");
    air.send(secs(1), HostId(0), unicast(1, 1000, 3)).expect("room");
    let amid = secs(1) + Duration::from_micros(400);
    until(&mut air, amid);
    air.tune(amid, HostId(1), Some(36));
    air.tune(amid, HostId(0), Some(36));
    assert_eq!(air.range_m(HostId(0)).round(), 100.0);
    until(&mut air, secs(2));
    assert_eq!(seen, [11, 11, 54].map(Rate::from_mbps));
    let stats = air.stats(secs(2), HostId(0));
    assert_eq!((stats.packets_sent, stats.packets_failed), (2, 1), "{stats:?}");
    assert_conserved(&air, secs(2), 2);
}

#[test]
fn what_a_radio_draws_follows_its_range_and_one_battery_feeds_both_kinds() {
    let energy = EnergyConfig { transmit_w: 0.0, amplifier_efficiency: Some(0.5), ..EnergyConfig::ns2() };
    let config = AirConfig { energy: Some(energy), ..beside(reaching(125.0), MacConfig::dsss()) };
    // The first and the third on channels of two kinds share one battery; the others hear them.
    let mut hosts = named(vec![at(0.0), at(50.0), at(0.0), at(50.0)]);
    hosts[0].battery_j = Some(10.0);
    (hosts[2].rides_with, hosts[2].channel, hosts[3].channel) = (Some(HostId(0)), 36, 36);
    let mut air: Air<u64> = Air::new(&config, hosts, Seed(1)).expect("a possible air");
    for (from, to) in [(0, 1), (2, 3)] {
        air.send(Instant::ZERO, HostId(from), unicast(to, 1000, from.into())).expect("room");
    }
    run(&mut air, secs(1), |_, _, _| {});
    let drawn = |air: &Air<u64>, host| air.stats(secs(1), HostId(host)).drawn_nj as f64 / 1e9;
    // Data and ACK: 192 us each, 1036 bytes at 11 Mbit/s in whole microseconds, 14 at 2 Mbit/s.
    let (data_s, ack_s) = ((192.0 + 754.0) * 1e-6, (192.0 + 56.0) * 1e-6);
    // Two-ray ground beyond 86 m: sixteen times as much for twice as far, over half an amplifier.
    let radiated_w = 2.0 * RadioConfig::wavelan().antenna.power_w;
    let expected = |transmit_w: f64| data_s * transmit_w + ack_s * 0.395;
    for (host, transmit_w) in [(0, radiated_w), (2, radiated_w / 16.0)] {
        let (drawn, expected) = (drawn(&air, host), expected(transmit_w));
        assert!((drawn - expected).abs() < 1e-6, "host {host}: {drawn} J, expected {expected} J");
    }
    let left = air.stats(secs(1), HostId(0)).battery_nj.expect("a battery") as f64 / 1e9;
    assert!((10.0 - drawn(&air, 0) - drawn(&air, 2) - left).abs() < 1e-6, "{left} J are left");
    // What was drawn before does not change with the kind.
    let before = drawn(&air, 1);
    air.tune(secs(1), HostId(1), Some(36));
    assert!((drawn(&air, 1) - before).abs() < 1e-8);
}

#[test]
fn kinds_that_cannot_be_side_by_side_are_refused() {
    let refused = |change: &dyn Fn(&mut AirConfig)| {
        let mut config = beside(RadioConfig::wavelan(), MacConfig::ofdm());
        change(&mut config);
        Air::<u64>::new(&config, named(vec![at(0.0)]), Seed(1)).err()
    };
    assert_eq!(refused(&|_| ()), None);
    let named = AirError::Radio("a channel of another kind is 0, or named twice");
    assert_eq!(refused(&|config| config.channels[0].channel = 0).as_ref(), Some(&named));
    assert_eq!(refused(&|config| config.channels.push(config.channels[0].clone())), Some(named));
    let slower =
        |config: &mut AirConfig| config.channels[0].radio.propagation_delay = Duration::from_micros(2);
    assert_eq!(refused(&slower), Some(AirError::Radio("frames take longer on one channel than on another")));
    let asks = |config: &mut AirConfig| config.channels[0].mac.address_resolution = AddressResolution::Arp;
    let differently = "radios sleep or resolve addresses differently on one channel";
    assert_eq!(refused(&asks), Some(AirError::Mac(differently)));
    let no_rate = |config: &mut AirConfig| config.channels[0].mac.data_rate = Rate::ZERO;
    assert_eq!(refused(&no_rate), Some(AirError::Mac("rates must be above 0 bit/s")));
}
