use crate::engine::HyStartKind;
use crate::engine::congestion::{
    AckSample, Bbr, Congestion, CongestionControl, CongestionSignal, Cubic, CustomControl, HyStart, NewReno,
    Stp, Window,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

const MSS: u32 = 1000;

fn window(segments: u64, threshold: u64) -> Window {
    Window { cwnd: segments * 1000, ssthresh: threshold * 1000, mss: MSS }
}

/// One round trip: an ACK for each segment of the window, spread over `rtt`.
fn round(
    policy: &mut dyn CongestionControl,
    window: &mut Window,
    now: &mut Instant,
    rtt: Duration,
    next: &mut u64,
) {
    let acks = window.cwnd / 1000;
    let end = *next + window.cwnd;
    for _ in 0..acks {
        *now += rtt / acks;
        *next += 1000;
        let sample =
            AckSample { now: *now, bytes: 1000, acked: *next, next: end, rtt: Some(rtt), srtt: Some(rtt) };
        policy.on_ack(&sample, window);
    }
}

#[test]
fn rfc5681_slow_start_doubles_and_avoidance_adds_one_segment_per_round_trip() {
    for per_ack in [false, true] {
        let mut policy = NewReno::new(None, per_ack);
        let (mut w, mut now, mut next) = (window(4, 32), Instant::from_secs(1), 0);
        let rtt = Duration::from_millis(100);
        for expected in [8, 16, 32] {
            round(&mut policy, &mut w, &mut now, rtt, &mut next);
            assert_eq!(w.cwnd / 1000, expected);
        }
        for rounds in 1..=10u64 {
            round(&mut policy, &mut w, &mut now, rtt, &mut next);
            let grown = w.cwnd as f64 / 1000.0 - 32.0;
            assert!(
                (grown - rounds as f64).abs() < 1.01,
                "{grown} after {rounds} round trips, per ack {per_ack}"
            );
        }
    }
}

#[test]
fn rfc5681_the_threshold_is_half_the_window_and_at_least_two_segments() {
    let mut policy = NewReno::new(None, false);
    assert_eq!(policy.threshold(CongestionSignal::Loss, &window(20, 100)), 10_000);
    assert_eq!(policy.threshold(CongestionSignal::Timeout, &window(3, 100)), 2000);
}

#[test]
fn rfc9438_the_window_follows_the_cubic_function_of_time() {
    let mut policy = Cubic::new(None);
    let mut w = window(1000, u64::MAX / 1000);
    w.ssthresh = policy.threshold(CongestionSignal::Loss, &w);
    assert_eq!(w.ssthresh, 700_000, "beta is 0.7");
    w.cwnd = w.ssthresh;
    let k = libm::cbrt(1000.0_f64 * 0.3 / 0.4);
    // A long RTT keeps the Reno-friendly window below.
    let rtt = Duration::from_millis(200);
    let (begun, mut now, mut next) = (Instant::from_secs(1), Instant::from_secs(1), 0);
    while (now - begun).as_secs_f64() < 1.7 * k {
        round(&mut policy, &mut w, &mut now, rtt, &mut next);
        // The target lies one RTT ahead; it is reached one RTT later.
        let t = (now - begun).as_secs_f64();
        let formula = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
        let cwnd = w.cwnd as f64 / 1000.0;
        assert!((cwnd / formula - 1.0).abs() < 0.01, "at {t:.2} s: {cwnd:.1}, W_cubic {formula:.1}");
    }
    assert!(w.cwnd > 1_000_000, "convex beyond the plateau");
}

#[test]
fn rfc9438_fast_convergence_gives_way_when_the_window_shrinks_twice() {
    let mut policy = Cubic::new(None);
    policy.threshold(CongestionSignal::Loss, &window(100, 1000));
    policy.threshold(CongestionSignal::Loss, &window(80, 1000));
    // W_max is 80 (1 + 0.7) / 2 = 68, below where the window was; K follows from it.
    let mut w = window(56, 56);
    let (mut now, mut next) = (Instant::from_secs(1), 0);
    let begun = now;
    let k = libm::cbrt(12.0_f64 / 0.4);
    while (now - begun).as_secs_f64() < k {
        round(&mut policy, &mut w, &mut now, Duration::from_millis(400), &mut next);
    }
    assert!((w.cwnd as f64 / 1000.0 - 68.0).abs() < 1.5, "the plateau lies at {}", w.cwnd);
}

#[test]
fn rfc9438_undo_restores_the_plateau() {
    let mut policy = Cubic::new(None);
    policy.threshold(CongestionSignal::Loss, &window(100, 1000));
    policy.threshold(CongestionSignal::Loss, &window(50, 1000));
    policy.on_undo(&window(50, 1000));
    // With W_max 100 again, the next reduction at 90 is a shrinking one: 90 * 0.85 = 76.5.
    policy.threshold(CongestionSignal::Loss, &window(90, 1000));
    let mut w = window(63, 63);
    let (mut now, mut next) = (Instant::from_secs(1), 0);
    let k = libm::cbrt(13.5_f64 / 0.4);
    while (now - Instant::from_secs(1)).as_secs_f64() < k {
        round(&mut policy, &mut w, &mut now, Duration::from_millis(400), &mut next);
    }
    assert!((w.cwnd as f64 / 1000.0 - 76.5).abs() < 1.5, "{}", w.cwnd);
}

/// Rounds of slow start with the given RTTs; the window after each.
fn hystart_rounds(rtts: &[u64]) -> (Vec<u64>, Window) {
    let mut policy = NewReno::new(Some(HyStart::new(HyStartKind::Rfc9406)), false);
    let (mut w, mut now, mut next) = (window(16, u64::MAX / 1000), Instant::from_secs(1), 0);
    let windows = rtts
        .iter()
        .map(|&rtt| {
            round(&mut policy, &mut w, &mut now, Duration::from_millis(rtt), &mut next);
            w.cwnd / 1000
        })
        .collect();
    (windows, w)
}

#[test]
fn rfc9406_a_steady_rtt_leaves_slow_start_alone() {
    let (windows, _) = hystart_rounds(&[100; 6]);
    assert_eq!(windows, [32, 64, 128, 256, 512, 1024]);
}

#[test]
fn rfc9406_a_risen_rtt_slows_growth_to_a_quarter_and_ends_slow_start_after_five_rounds() {
    // The threshold is an eighth of 100 ms, between 4 and 16 ms.
    let (windows, w) = hystart_rounds(&[100, 100, 100, 115, 115, 115, 115, 115, 115, 115, 115]);
    assert_eq!(windows[..3], [32, 64, 128]);
    let ratio = windows[4] as f64 / windows[3] as f64;
    assert!((1.2..1.3).contains(&ratio), "a quarter of the growth: {windows:?}");
    assert!(w.ssthresh < u64::MAX / 1000, "congestion avoidance: {windows:?}");
    let last = windows[windows.len() - 1] - windows[windows.len() - 2];
    assert!(last <= 2, "one segment per round trip: {windows:?}");
}

#[test]
fn rfc9406_a_passing_rise_resumes_slow_start() {
    let (windows, w) = hystart_rounds(&[100, 100, 115, 100, 100, 100]);
    assert!(w.ssthresh > 1 << 40, "no threshold set");
    let ratio = windows[5] as f64 / windows[4] as f64;
    assert!(ratio > 1.9, "exponential again: {windows:?}");
}

/// ACKs of one segment each to a CUBIC sender with Linux's HyStart, whose window is 40 segments, at these times in
/// microseconds, all with this RTT; true when slow start has ended.
fn linux_ends_slow_start(micros: impl Iterator<Item = u64>, rtt: Duration) -> bool {
    let mut policy = Cubic::new(Some(HyStart::new(HyStartKind::Linux)));
    let (mut w, start) = (window(40, u64::MAX / 1000), Instant::from_secs(1));
    let nearest = Duration::from_millis(40);
    let ack = |after: u64, acked, next, rtt| {
        let now = start + Duration::from_micros(after);
        AckSample { now, bytes: 1000, acked, next, rtt: Some(rtt), srtt: Some(rtt) }
    };
    // The first round, of one ACK, shows the least round trip.
    policy.on_ack(&ack(0, 1000, 1000, nearest), &mut w);
    for (count, micros) in micros.enumerate() {
        policy.on_ack(&ack(micros, 2000 + 1000 * count as u64, 41_000, rtt), &mut w);
    }
    !w.in_slow_start()
}

#[test]
fn linux_hystart_ends_slow_start_at_a_train_of_acks_longer_than_half_a_round_trip() {
    let rtt = Duration::from_millis(40);
    assert!(!linux_ends_slow_start((1..=21).map(|n| n * 1000), rtt), "half a round trip is 20 ms");
    assert!(linux_ends_slow_start((1..=22).map(|n| n * 1000), rtt));
}

#[test]
fn linux_hystart_sees_no_train_after_a_gap_of_more_than_two_milliseconds() {
    let rtt = Duration::from_millis(40);
    let gap_at_8 = (1..=35).map(|n| if n > 8 { n * 1000 + 1500 } else { n * 1000 });
    assert!(!linux_ends_slow_start(gap_at_8, rtt));
}

#[test]
fn linux_hystart_ends_slow_start_when_a_rounds_min_rtt_has_risen_by_an_eighth() {
    let apart = || (1..=9).map(|n| n * 2500);
    assert!(!linux_ends_slow_start(apart(), Duration::from_millis(45)));
    assert!(linux_ends_slow_start(apart(), Duration::from_millis(46)));
    assert!(!linux_ends_slow_start(apart().take(8), Duration::from_millis(46)), "eight samples are too few");
}

/// Wants no window at all.
#[derive(Debug, Clone)]
struct Nothing;

impl CongestionControl for Nothing {
    fn on_ack(&mut self, _sample: &AckSample, window: &mut Window) {
        window.cwnd = 0;
    }

    fn threshold(&mut self, _signal: CongestionSignal, _window: &Window) -> u64 {
        0
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {}

    fn on_undo(&mut self, _window: &Window) {}

    fn on_idle(&mut self, _idle: Duration) {}
}

impl CustomControl for Nothing {
    fn boxed(&self) -> Box<dyn CustomControl> {
        Box::new(self.clone())
    }
}

#[test]
fn a_policy_from_outside_leaves_one_segment_of_window_and_two_of_threshold() {
    let mut policy = Congestion::Custom(Box::new(Nothing));
    let (mut w, mut now, mut next) = (window(4, 32), Instant::from_secs(1), 0);
    round(&mut policy, &mut w, &mut now, Duration::from_millis(100), &mut next);
    assert_eq!(w.cwnd, 1000);
    assert_eq!(policy.threshold(CongestionSignal::Loss, &window(20, 100)), 2000);
}

/// Segments by which avoidance grows in `rounds` round trips of 100 ms from a window of 100, with `share` of the
/// increase.
fn growth(policy: &mut dyn CongestionControl, share: f64, rounds: u32) -> f64 {
    let mut w = window(143, 143);
    w.ssthresh = policy.threshold(CongestionSignal::Loss, &w);
    w.cwnd = w.ssthresh;
    policy.set_increase_share(share).expect("it has an increase");
    let (before, mut now, mut next) = (w.cwnd, Instant::from_secs(1), 0);
    for _ in 0..rounds {
        round(policy, &mut w, &mut now, Duration::from_millis(100), &mut next);
    }
    (w.cwnd - before) as f64 / 1000.0
}

#[test]
fn a_share_of_the_increase_is_taken_by_every_control_that_has_one() {
    type Make = fn() -> Box<dyn CongestionControl>;
    let controls: [(&str, Make); 4] = [
        ("newreno", || Box::new(NewReno::new(None, false))),
        ("newreno per ack", || Box::new(NewReno::new(None, true))),
        ("cubic", || Box::new(Cubic::new(None))),
        ("stp", || Box::new(Stp::default())),
    ];
    for (name, make) in controls {
        let (whole, half) = (growth(make().as_mut(), 1.0, 40), growth(make().as_mut(), 0.5, 40));
        assert_eq!(growth(make().as_mut(), 0.0, 40), 0.0, "{name}");
        assert!(half > 0.0 && half < 0.9 * whole, "{name}: {half} of {whole}");
    }
    // CUBIC's stage goes by at half the speed: after twice the time it is where it would have been.
    let (whole, half) = (growth(&mut Cubic::new(None), 1.0, 20), growth(&mut Cubic::new(None), 0.5, 40));
    assert!((half / whole - 1.0).abs() < 0.1, "{half} and {whole}");
}

#[test]
fn bbr_has_no_increase_to_share() {
    assert!(Bbr::new(10).set_increase_share(0.5).is_err());
}
