//! Time-division multiple access: throughput follows from the timetable alone.
mod common;

use common::{assert_conserved, named, run, saturate, secs, stats, unicast};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    Air, AirConfig, AirError, AirEvent, Coordination, DutyCycle, HostConfig, HostId, MacConfig, Mobility,
    Position, RadioConfig, Role, SlotConfig,
};

const PACKET_BYTES: u32 = 1000;
/// 34 bytes of header at 2 Mbit/s behind a preamble of 192 us.
const AIRTIME_US: u64 = 192 + (1000 + 34) * 4;

fn frame(slots: u32, slot_us: u64) -> SlotConfig {
    SlotConfig { slots, slot: Duration::from_micros(slot_us), guard: Duration::from_micros(10) }
}

/// Hosts in a row of 30 m, each with the slots that it owns.
fn hosts(slots: &[&[u32]]) -> Vec<HostConfig> {
    let place = |k: usize| Mobility::Static(Position { x_m: 30.0 * k as f64, y_m: 0.0 });
    let mut hosts = named((0..slots.len()).map(place).collect());
    for (host, slots) in hosts.iter_mut().zip(slots) {
        host.role = Role::SlotOwner(slots.to_vec());
    }
    hosts
}

fn config(slots: SlotConfig) -> AirConfig {
    let mac = MacConfig { coordination: Coordination::Slots(slots), ..MacConfig::ns2() };
    AirConfig { reports_frames: true, ..AirConfig::new(RadioConfig::wavelan(), mac) }
}

#[test]
fn each_owner_gets_as_many_packets_over_as_fit_into_its_slots_and_nothing_collides() {
    // Host 1 owns one slot, host 2 two, host 3 one; a slot takes three packets, 1 us apart, and a part of a fourth.
    let slots = frame(5, 3 * AIRTIME_US + 2 + 10 + 500);
    let mut air =
        Air::new(&config(slots), hosts(&[&[], &[0], &[1, 3], &[4]]), Seed(1)).expect("a possible air");
    let frames = 100;
    let end = Instant::ZERO + slots.slot * 5 * frames;
    saturate(&mut air, &[(1, 0), (2, 0), (3, 0)], PACKET_BYTES, end - Duration::from_micros(1));
    let all = stats(&air, end, 4);
    // Slot 2 is nobody's.
    assert_eq!(all[1].packets_sent, 3 * frames);
    assert_eq!(all[2].packets_sent, 2 * 3 * frames);
    assert_eq!(all[3].packets_sent, 3 * frames);
    assert_eq!(all[0].packets_received, 4 * 3 * frames);
    for host in &all {
        assert_eq!(
            (host.lost_collided, host.lost_overpowered, host.lost_while_sending),
            (0, 0, 0),
            "{host:?}"
        );
        assert_eq!(host.frames_sent(), host.data_sent, "nothing but data: {host:?}");
    }
    assert_conserved(&air, end, 4);
}

#[test]
fn packets_begin_when_the_timetable_says_so() {
    let slots = frame(4, 10_000);
    let mut air = Air::new(&config(slots), hosts(&[&[0], &[2]]), Seed(1)).expect("a possible air");
    let mut begun = Vec::new();
    // One before its slot, one within it, one too late for what is left of it.
    for at_us in [5000, 21_000, 26_000] {
        let now = Instant::ZERO + Duration::from_micros(at_us);
        run(&mut air, now, |_, _, event| begun.extend(on_air(event)));
        air.send(now, HostId(1), unicast(0, PACKET_BYTES, at_us)).expect("room");
    }
    run(&mut air, secs(1), |_, _, event| begun.extend(on_air(event)));
    let expected = [20_000, 20_000 + AIRTIME_US + 1, 60_000].map(Duration::from_micros);
    assert_eq!(begun, expected.map(|after| Instant::ZERO + after));
}

fn on_air(event: AirEvent<u64>) -> Option<Instant> {
    match event {
        AirEvent::OnAir { at, .. } => Some(at),
        _ => None,
    }
}

#[test]
fn packets_that_fit_into_no_slot_are_refused_and_counted() {
    let slots = frame(2, 2000);
    let mut air = Air::new(&config(slots), hosts(&[&[0], &[]]), Seed(1)).expect("a possible air");
    let now = Instant::ZERO;
    assert!(air.send(now, HostId(0), unicast(1, PACKET_BYTES, 1)).is_err(), "too long");
    assert!(air.send(now, HostId(1), unicast(0, 20, 2)).is_err(), "no slot");
    assert!(air.send(now, HostId(0), unicast(1, 20, 3)).is_ok());
    run(&mut air, secs(1), |_, _, _| {});
    let all = stats(&air, secs(1), 2);
    assert_eq!([all[0].packets_without_slot, all[1].packets_without_slot], [1, 1]);
    assert_eq!(all[1].packets_received, 1);
    assert_conserved(&air, secs(1), 2);
}

#[test]
fn impossible_timetables_are_refused_by_name() {
    let with = |slots: SlotConfig, owners: &[&[u32]], change: fn(&mut MacConfig)| {
        let mut config = config(slots);
        change(&mut config.mac);
        Air::<u64>::new(&config, hosts(owners), Seed(1)).map(drop).expect_err("impossible")
    };
    let nothing = |_: &mut MacConfig| {};
    let cases = [
        (with(frame(0, 100), &[], nothing), AirError::Mac("a frame needs at least 1 slot")),
        (with(frame(2, 10), &[], nothing), AirError::Mac("a slot must be longer than its guard time")),
        (
            with(SlotConfig { guard: Duration::ZERO, ..frame(2, 100) }, &[], nothing),
            AirError::Mac("the guard time must cover the propagation delay"),
        ),
        (
            with(frame(2, 5000), &[&[0], &[0]], nothing),
            AirError::Role { host: "h1".into(), what: "one of its slots is another host's, or named twice" },
        ),
        (
            with(frame(2, 5000), &[&[2]], nothing),
            AirError::Role { host: "h0".into(), what: "the frame has no such slot" },
        ),
        (
            with(frame(2, 5000), &[&[0]], |mac| {
                let second = Duration::from_secs(1);
                mac.duty_cycle = Some(DutyCycle { period: second, awake: second });
            }),
            AirError::Mac("radios sleep by their slots: leave the duty cycle out"),
        ),
        (
            with(frame(2, 5000), &[&[0]], |mac| mac.coordination = Coordination::Distributed),
            AirError::Role { host: "h0".into(), what: "there are no slots to own" },
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn hosts_on_a_channel_where_nobody_owns_a_slot_contend_with_rts_and_acknowledgements() {
    let slots = frame(2, 3 * AIRTIME_US + 2 + 10);
    let end = secs(2);
    let played = |coordination: Coordination| {
        let owners = |host: usize| match (host, coordination) {
            (0 | 1, Coordination::Slots(_)) => Role::SlotOwner(vec![host as u32]),
            _ => Role::Station,
        };
        let mut hosts = hosts(&[&[], &[], &[], &[], &[]]);
        for (index, host) in hosts.iter_mut().enumerate() {
            (host.role, host.channel) = (owners(index), if index < 2 { 1 } else { 6 });
        }
        let mac = MacConfig { coordination, ..MacConfig::ns2() };
        let mut air = Air::new(&AirConfig { mac, ..config(slots) }, hosts, Seed(1)).expect("a possible air");
        saturate(&mut air, &[(0, 1), (1, 0), (3, 2), (4, 2)], PACKET_BYTES, end);
        assert_conserved(&air, end, 5);
        stats(&air, end, 5)
    };
    let (slotted, alone) = (played(Coordination::Slots(slots)), played(Coordination::Distributed));
    assert_eq!(slotted[2..], alone[2..]);
    assert!(alone[3].rts_sent > 0 && slotted[0].rts_sent == 0);
    assert!(slotted[0].packets_received > 0 && slotted[0].acks_sent == 0, "{:?}", slotted[0]);
}

#[test]
fn slots_work_at_54_mbit_per_s_too() {
    let slots = SlotConfig { guard: Duration::from_micros(2), ..frame(2, 600) };
    let mac = MacConfig { coordination: Coordination::Slots(slots), ..MacConfig::ofdm() };
    let config = AirConfig { mac, ..config(slots) };
    let mut air = Air::new(&config, hosts(&[&[0], &[1]]), Seed(1)).expect("a possible air");
    let airtime = mac.modulation.airtime(PACKET_BYTES + mac.data_overhead_bytes, Rate::from_mbps(54));
    let per_slot = (598_000 + 1000) / (airtime.as_nanos() + 1000);
    let end = Instant::ZERO + slots.slot * 2 * 50;
    saturate(&mut air, &[(0, 1), (1, 0)], PACKET_BYTES, end - Duration::from_micros(1));
    let received = stats(&air, end, 2).iter().map(|host| host.packets_received).collect::<Vec<_>>();
    assert_eq!(received, [50 * per_slot; 2]);
}
