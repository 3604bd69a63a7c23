use super::*;
use crate::link_model::PROBE_GAIN;

const MBPS: u64 = 1_000_000;

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A link of 20 Mbit/s and 50 ms, by its receipts.
fn calm() -> LinkEstimate {
    LinkEstimate {
        capacity: Some(Rate::from_bps(20 * MBPS)),
        busy_rate: Some(Rate::from_bps(20 * MBPS)),
        delivery_rate: Some(Rate::from_bps(20 * MBPS)),
        offered_rate: Some(Rate::from_bps(20 * MBPS)),
        is_busy: true,
        queueing_delay: Some(millis(6)),
        jitter_p95: Some(Duration::ZERO),
        min_rtt: Some(millis(50)),
        ..LinkEstimate::default()
    }
}

/// A model that has heard of `calm()` for half a second, packets of 50 ms under way.
fn measured() -> (LinkModel, Instant) {
    let mut model = LinkModel::new(None);
    model.learn();
    let mut now = Instant::from_secs(1);
    for index in 1..=50_u32 {
        now += millis(10);
        let calm = LinkEstimate { intervals: u64::from(index), ..calm() };
        model.on_sent(now, 1448, index, 1448);
        model.on_delivered(now, 1448, (index, index + 1), Some(millis(56)), 0);
        model.on_estimate(now, &calm, 36);
    }
    (model, now)
}

fn mbps(model: &LinkModel) -> f64 {
    model.rate().map_or(0.0, |rate| rate.as_bps() as f64 / 1e6)
}

#[test]
fn the_rate_is_what_receipts_say_less_headers_and_late_acks_do_not_change_it() {
    let (mut model, now) = measured();
    assert!((18.0..19.5).contains(&mbps(&model)), "{}", mbps(&model));
    let before = mbps(&model);
    for (index, late) in [(51, 40), (52, 90), (53, 10)] {
        model.on_delivered(now + millis(late), 1448, (index, index + 1), Some(millis(56 + late)), 0);
    }
    assert!((mbps(&model) - before).abs() < 1e-9, "{before} before, {} after", mbps(&model));
}

#[test]
fn delay_that_may_be_jitter_lowers_no_rate_and_a_link_that_delivers_less_than_it_is_given_does() {
    let (mut model, mut now) = measured();
    let slow = Some(Rate::from_bps(5 * MBPS));
    let jittered = LinkEstimate {
        capacity: slow,
        busy_rate: slow,
        delivery_rate: slow,
        offered_rate: slow,
        queueing_delay: Some(millis(20)),
        jitter_p95: Some(millis(10)),
        ..calm()
    };
    // What came before is forgotten as a reason.
    now += millis(400);
    model.on_estimate(now, &LinkEstimate { is_busy: false, queueing_delay: None, ..calm() }, 36);
    for intervals in 51..71 {
        now += millis(10);
        model.on_estimate(now, &LinkEstimate { intervals, ..jittered }, 36);
    }
    assert!(mbps(&model) > 18.0, "{}", mbps(&model));
    for intervals in 71..74 {
        now += millis(10);
        let offered_rate = Some(Rate::from_bps(20 * MBPS));
        model.on_estimate(now, &LinkEstimate { intervals, offered_rate, ..jittered }, 36);
    }
    assert!((4.0..6.0).contains(&mbps(&model)), "{}", mbps(&model));
}

#[test]
fn without_receipts_the_rate_they_told_last_is_where_the_guess_begins() {
    let (mut model, now) = measured();
    let before = mbps(&model);
    model.on_sent(now + Duration::from_secs(5), 1448, 100, 1448);
    assert!(!model.is_measured());
    assert!((mbps(&model) - before).abs() < 1e-6, "{before} before, {} after", mbps(&model));
}

#[test]
fn a_link_that_carried_more_is_asked_for_it_again_unless_its_queue_has_overflowed() {
    let (mut model, mut now) = measured();
    // It carries half of what it did.
    for index in 51..=80_u32 {
        now += millis(10);
        let half = Some(Rate::from_bps(10 * MBPS));
        let slower = LinkEstimate {
            intervals: u64::from(index),
            busy_rate: half,
            delivery_rate: half,
            queueing_delay: Some(millis(40)),
            ..calm()
        };
        model.on_estimate(now, &slower, 36);
    }
    assert!(model.swing_gain() > 1.5, "{}", model.swing_gain());
    model.overload.on_overflow(now, millis(50));
    assert!((model.swing_gain() - 1.0).abs() < 1e-9, "others may have the rest: {}", model.swing_gain());
    for _ in 0..20 {
        now += Duration::from_secs(2);
        model.overload.recover(now);
    }
    model.on_estimate(now, &LinkEstimate { intervals: 81, ..calm() }, 36);
    assert!(!model.overload.has_overflowed(), "forgiven in the end");
}

/// `measured()`, then packets far apart that jitter, then closely following ones that all take about as long.
fn jittered() -> LinkModel {
    let (mut model, mut now) = measured();
    now += millis(400);
    let lone = LinkEstimate { is_busy: false, queueing_delay: None, jitter_p95: Some(millis(30)), ..calm() };
    model.on_estimate(now, &lone, 36);
    for intervals in 51..151 {
        now += millis(10);
        model.on_estimate(now, &dense(intervals), 36);
    }
    model
}

/// 12 Mbit/s of packets that all take 30 ms longer than the quickest ever.
fn dense(intervals: u64) -> LinkEstimate {
    let came = Some(Rate::from_bps(12 * MBPS));
    LinkEstimate {
        intervals,
        busy_rate: came,
        delivery_rate: came,
        offered_rate: came,
        queueing_delay: Some(millis(30)),
        jitter_p95: Some(millis(7)),
        ..calm()
    }
}

#[test]
fn delay_of_closely_following_packets_is_no_queue_where_lone_packets_jittered_as_much() {
    let model = jittered();
    assert!(mbps(&model) > 18.0, "as fast as before, though less was sent: {}", mbps(&model));
}

/// A link of 500 kbit/s and 200 ms that is given ten packets at once now and then: its queue is empty again before
/// the next burst.
#[test]
fn the_startup_of_a_link_that_is_given_bursts_alone_ends_when_they_take_long_to_come_evenly() {
    let mut model = LinkModel::new(None);
    model.learn();
    let mut now = Instant::from_secs(1);
    for index in 1..=40_u32 {
        let burst = LinkEstimate {
            capacity: Some(Rate::from_bps(500_000)),
            delivery_rate: Some(Rate::from_bps(500_000)),
            offered_rate: Some(Rate::from_bps(20 * MBPS)),
            queue_growth: millis(48),
            intervals: u64::from(index),
            min_rtt: Some(millis(200)),
            ..LinkEstimate::default()
        };
        now += millis(24);
        let in_flight = model.cap_bytes();
        model.on_sent(now, 1448, index, in_flight);
        model.on_delivered(now, 1448, (index, index + 1), Some(millis(250)), in_flight);
        model.on_estimate(now, &burst, 36);
    }
    assert!(!model.in_startup());
    assert!(model.cap_bytes() < 30_000, "{} bytes", model.cap_bytes());
}

/// Jitter makes some packets late too, but by another time each.
#[test]
fn bursts_that_take_long_to_come_unevenly_end_no_startup() {
    let mut model = LinkModel::new(None);
    model.learn();
    let mut now = Instant::from_secs(1);
    for index in 1..=40_u32 {
        let came = if index % 2 == 0 { 4 * MBPS } else { 9 * MBPS };
        let burst = LinkEstimate {
            capacity: Some(Rate::from_bps(came)),
            delivery_rate: Some(Rate::from_bps(came)),
            offered_rate: Some(Rate::from_bps(20 * MBPS)),
            queue_growth: millis(30),
            intervals: u64::from(index),
            min_rtt: Some(millis(50)),
            ..LinkEstimate::default()
        };
        now += millis(13);
        model.on_sent(now, 1448, index, model.cap_bytes());
        model.on_delivered(now, 1448, (index, index + 1), Some(millis(60)), model.cap_bytes());
        model.on_estimate(now, &burst, 36);
    }
    assert!(model.in_startup());
}

#[test]
fn a_link_whose_queue_jitter_hides_is_given_more_in_one_round_of_some() {
    let known = |model| LinkModel { startup: false, ..model };
    let (calm, mut jittered) = (known(measured().0), known(jittered()));
    for rounds in 1..=2 * PROBE_ROUNDS {
        jittered.rounds = rounds;
        let expected = if rounds.is_multiple_of(PROBE_ROUNDS) { PROBE_GAIN } else { 1.0 };
        assert_eq!(jittered.pace_gain(), expected, "round {rounds}");
        assert_eq!(LinkModel { rounds, ..calm.clone() }.pace_gain(), 1.0, "without jitter, round {rounds}");
    }
}
