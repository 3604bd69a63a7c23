//! The state machine, sample by sample: the example cases of the draft's appendix that one connection alone can show.
mod probes;

use super::super::policy::{CongestionControl, CongestionSignal, LostSegment, RateSample, Window};
use super::{Bbr3, State};
use crate::engine::interface::Phase;
use alloc::format;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration, Instant, Rate};

const MSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

/// A path that delivers what is sent at `rate`, one acknowledgement a round trip.
struct Drive {
    bbr: Bbr3,
    window: Window,
    sample: RateSample,
    rate: Rate,
}

impl Drive {
    fn new() -> Self {
        let sample = RateSample {
            now: Instant::from_secs(1),
            delivered: 0,
            newly_delivered: 0,
            newly_marked: 0,
            newly_lost: 0,
            prior_delivered: None,
            sent_in_flight: 0,
            lost_since: 0,
            rate: None,
            is_app_limited: false,
            rtt: Some(RTT),
            in_flight: 150 * MSS,
            prior_in_flight: 0,
            is_window_limited: false,
            phase: Phase::Open,
        };
        let window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS as u32 };
        Self { bbr: Bbr3::new(10), window, sample, rate: Rate::ZERO }
    }

    /// In ProbeBW on a path of 8 Mbit/s: 100 segments of product.
    fn cruising() -> Self {
        let mut drive = Self::new();
        for mbps in [1, 2, 4, 8, 8, 8, 8] {
            drive.round(mbps);
        }
        assert_eq!(drive.bbr.state, State::Drain);
        drive.sample.in_flight = 90 * MSS;
        drive.round(8);
        assert_eq!(drive.bbr.state, State::Cruise, "down, and at once below the product");
        drive
    }

    /// Probing for bandwidth.
    fn probing() -> Self {
        let mut drive = Self::cruising();
        drive.pass(Duration::from_secs(3));
        drive.round(8);
        assert_eq!(drive.bbr.state, State::Refill);
        drive.round(8);
        assert_eq!(drive.bbr.state, State::Up);
        drive
    }

    fn pass(&mut self, time: Duration) {
        self.sample.now += time;
    }

    /// A round trip in which the path delivers at `mbps`.
    fn round(&mut self, mbps: u64) {
        self.rate = Rate::from_mbps(mbps);
        let bytes = self.rate.bytes_in(RTT).as_u64();
        let prior = self.sample.delivered;
        self.pass(RTT);
        // A little less each time, so that the minimum stays young.
        self.sample.rtt = self.sample.rtt.map(|rtt| rtt - Duration::from_nanos(1));
        self.sample.prior_delivered = Some(prior);
        self.sample.newly_delivered = bytes;
        self.sample.delivered += bytes;
        self.sample.rate = Some(self.rate);
        self.bbr.on_rate_sample(&self.sample, &mut self.window);
    }

    /// Losses of `segments`, one here and one there, of a flight of `in_flight` bytes.
    fn lose(&mut self, segments: u64, in_flight: u64) {
        for number in 1..=segments {
            let lost = LostSegment {
                now: self.sample.now,
                bytes: MSS,
                sent_in_flight: in_flight,
                lost_since: number * MSS,
                is_app_limited: self.sample.is_app_limited,
                begins_range: true,
            };
            self.bbr.on_lost(&lost, &self.window);
        }
        (self.sample.lost_since, self.sample.sent_in_flight) = (segments * MSS, in_flight);
    }

    fn product(&self) -> u64 {
        ByteCount::new(100 * MSS).as_u64()
    }
}

#[test]
fn startup_doubles_the_rate_and_ends_on_a_plateau() {
    let mut drive = Drive::new();
    for mbps in [1, 2, 4, 8] {
        drive.round(mbps);
        let pacing = drive.bbr.pacing_rate().unwrap();
        assert!(pacing > Rate::from_mbps(2 * mbps), "{pacing:?} for {mbps} Mbit/s");
        assert_eq!(drive.bbr.state, State::Startup);
    }
    for _ in 0..2 {
        drive.round(8);
        assert_eq!(drive.bbr.state, State::Startup, "two rounds say nothing");
    }
    drive.round(9);
    assert!(drive.bbr.full.now && drive.bbr.full.reached);
    assert_eq!(drive.bbr.state, State::Drain);
    assert!(drive.bbr.pacing_rate().unwrap() < Rate::from_mbps(5), "half of the rate");
}

#[test]
fn startup_goes_on_as_long_as_the_application_is_the_limit_and_nothing_is_lost() {
    let mut drive = Drive::new();
    drive.round(8);
    drive.sample.is_app_limited = true;
    for _ in 0..20 {
        drive.round(1);
    }
    assert_eq!(drive.bbr.state, State::Startup);
    assert_eq!(drive.bbr.max_bandwidth.get(), Some(Rate::from_mbps(8)), "what it limits lowers no estimate");
}

#[test]
fn startup_ends_on_many_losses_even_where_the_application_is_the_limit() {
    for (losses, expected) in [(5, State::Startup), (6, State::Drain)] {
        let mut drive = Drive::new();
        for mbps in [1, 2, 4] {
            drive.round(mbps);
        }
        drive.sample.is_app_limited = true;
        drive.sample.phase = Phase::Recovery;
        drive.lose(losses, 50 * MSS);
        drive.round(8);
        assert_eq!(drive.bbr.state, expected, "{losses} ranges lost");
        assert_eq!(drive.bbr.inflight_longterm.is_some(), expected == State::Drain);
    }
}

#[test]
fn drain_ends_when_the_queue_is_gone_or_after_three_rounds() {
    let mut drive = Drive::new();
    for mbps in [1, 2, 4, 8, 8, 8, 8] {
        drive.round(mbps);
    }
    let mut patient = drive.bbr.clone();
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Drain);
    drive.sample.in_flight = 99 * MSS;
    drive.round(8);
    assert!(drive.bbr.state.is_probe_bw());

    core::mem::swap(&mut drive.bbr, &mut patient);
    drive.sample.in_flight = 150 * MSS;
    let rounds = (0..10).take_while(|_| {
        drive.round(8);
        drive.bbr.state == State::Drain
    });
    assert_eq!(rounds.count(), 3);
    assert_eq!(drive.bbr.state, State::Down);
}

#[test]
fn probe_rtt_takes_its_window_from_the_minimum_that_expired() {
    let mut drive = Drive::cruising();
    drive.sample.rtt = Some(RTT * 2);
    drive.sample.in_flight = 180 * MSS;
    let cwnd = drive.window.cwnd;
    drive.pass(Duration::from_secs(11));
    drive.round(8);
    assert_eq!(drive.bbr.state, State::ProbeRtt);
    let probed_with = drive.window.cwnd;
    assert!(probed_with.abs_diff(50 * MSS) < MSS, "half of 8 Mbit/s for 100 ms, not for 200: {probed_with}");
    drive.round(8);
    assert_eq!(drive.window.cwnd, probed_with);
    drive.sample.in_flight = 49 * MSS;
    drive.round(8);
    drive.round(8);
    assert_eq!(drive.bbr.state, State::ProbeRtt, "200 ms have not passed");
    drive.round(8);
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Cruise);
    assert!(drive.window.cwnd >= cwnd.min(200 * MSS), "the window of before: {}", drive.window.cwnd);
}

#[test]
fn probe_rtt_before_the_pipe_is_full_leads_back_to_startup_and_a_pause_saves_it() {
    for pauses in [false, true] {
        let mut drive = Drive::new();
        drive.round(1);
        drive.pass(Duration::from_secs(11));
        // It fills nothing.
        drive.sample.is_app_limited = true;
        drive.sample.rtt = Some(RTT * 2);
        if pauses {
            drive.bbr.on_idle(Duration::from_secs(11));
        }
        drive.round(1);
        let expected = if pauses { State::Startup } else { State::ProbeRtt };
        assert_eq!(drive.bbr.state, expected);
        drive.sample.in_flight = 4 * MSS;
        for _ in 0..5 {
            drive.round(1);
        }
        assert_eq!(drive.bbr.state, State::Startup);
    }
}

#[test]
fn acknowledgements_in_bunches_get_more_window() {
    let mut drive = Drive::cruising();
    let before = drive.window.cwnd;
    for _ in 0..6 {
        // Half a second of silence, then all of it at once.
        drive.pass(Duration::from_millis(400));
        let bytes = 500 * MSS;
        drive.sample.prior_delivered = Some(drive.sample.delivered);
        (drive.sample.newly_delivered, drive.sample.delivered) = (bytes, drive.sample.delivered + bytes);
        drive.pass(RTT);
        drive.bbr.on_rate_sample(&drive.sample, &mut drive.window);
    }
    assert!(drive.bbr.aggregation.extra() > 50 * MSS, "{:?}", drive.bbr.aggregation);
    assert!(drive.window.cwnd > before, "{} over {before}", drive.window.cwnd);
}

#[test]
fn a_path_of_less_than_a_segment_keeps_four_in_flight() {
    let mut drive = Drive::new();
    for _ in 0..40 {
        drive.rate = Rate::from_kbps(8);
        let prior = drive.sample.delivered;
        drive.pass(Duration::from_secs(1));
        drive.sample.prior_delivered = Some(prior);
        (drive.sample.newly_delivered, drive.sample.delivered) = (MSS, prior + MSS);
        drive.sample.rate = Some(drive.rate);
        drive.bbr.on_rate_sample(&drive.sample, &mut drive.window);
        assert!(drive.window.cwnd >= 4 * MSS);
    }
    assert!(drive.bbr.full.reached);
    assert!(drive.bbr.pacing_rate().unwrap() <= Rate::from_kbps(11), "{:?}", drive.bbr.pacing_rate());
}

#[test]
fn losses_that_were_none_are_taken_back() {
    let mut drive = Drive::probing();
    let cwnd = drive.window.cwnd;
    drive.bbr.threshold(CongestionSignal::Loss, &drive.window);
    drive.lose(8, 120 * MSS);
    assert_eq!(drive.bbr.state, State::Down);
    drive.sample.phase = Phase::Recovery;
    drive.sample.lost_since = 0;
    drive.round(8);
    drive.sample.phase = Phase::Open;
    drive.bbr.on_undo(&drive.window);
    assert_eq!(drive.bbr.state, State::Refill, "it goes on to probe");
    assert_eq!(drive.bbr.inflight_longterm, None);
    drive.round(8);
    assert!(drive.window.cwnd >= cwnd.min(200 * MSS), "{} of {cwnd}", drive.window.cwnd);

    let mut drive = Drive::new();
    for mbps in [1, 2, 4] {
        drive.round(mbps);
    }
    drive.sample.phase = Phase::Recovery;
    drive.lose(10, 50 * MSS);
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Drain);
    drive.bbr.on_undo(&drive.window);
    assert_eq!((drive.bbr.state, drive.bbr.full.reached), (State::Startup, false));
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut drive = Drive::cruising();
    drive.bbr.threshold(CongestionSignal::EcnMark, &drive.window);
    drive.round(6);
    drive.round(6);
    assert!(drive.bbr.short_term.rate.is_some());

    let mut drive = Drive::probing();
    drive.sample.sent_in_flight = 120 * MSS;
    drive.bbr.threshold(CongestionSignal::EcnMark, &drive.window);
    drive.round(8);
    assert!(matches!(drive.bbr.state, State::Down | State::Cruise), "the probe is over");
    assert_eq!(drive.bbr.inflight_longterm, Some(120 * MSS));
}

#[test]
fn two_flows_do_not_wait_equally_long() {
    let wait = |nanoseconds| {
        let mut bbr = Bbr3::new(10);
        bbr.start_down(Instant::from_secs(1) + Duration::from_nanos(nanoseconds));
        format!("{:?}", bbr.cycle)
    };
    let mut waits: Vec<_> = (0..50).map(wait).collect();
    waits.sort();
    waits.dedup();
    assert_eq!(waits.len(), 50);
}
