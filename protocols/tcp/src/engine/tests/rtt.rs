use crate::engine::config::{EngineConfig, RtoStyle};
use crate::engine::rtt::RttEstimator;
use prismux_units::{Duration, Instant};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn estimator(style: RtoStyle, min_rto: u64) -> RttEstimator {
    let granularity = if style == RtoStyle::Ticks { ms(10) } else { ms(1) };
    RttEstimator::new(&EngineConfig {
        rto_style: style,
        min_rto: ms(min_rto),
        clock_granularity: granularity,
        ..EngineConfig::modern()
    })
}

fn feed(estimator: &mut RttEstimator, samples: &[u64]) {
    let mut now = Instant::from_secs(1);
    for (round, &sample) in samples.iter().enumerate() {
        now += ms(1000);
        estimator.sample(now, ms(sample), round as u64 * 10 + 1, round as u64 * 10 + 10);
    }
}

#[test]
fn rfc6298_first_sample_gives_srtt_r_rttvar_half_and_rto_three_times_r() {
    let mut e = estimator(RtoStyle::Rfc6298, 0);
    assert_eq!(e.rto(), ms(1000), "(2.1): one second before any sample");
    feed(&mut e, &[100]);
    assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Some(ms(100)), ms(50), ms(300)));
}

#[test]
fn rfc6298_later_samples_move_by_an_eighth_and_a_quarter() {
    let mut e = estimator(RtoStyle::Rfc6298, 0);
    feed(&mut e, &[100, 180]);
    // RTTVAR = 3/4 50 + 1/4 80 = 57.5; SRTT = 7/8 100 + 1/8 180 = 110; RTO = 110 + 230.
    assert_eq!((e.srtt(), e.rttvar()), (Some(ms(110)), Duration::from_micros(57_500)));
    assert_eq!(e.rto(), ms(340));
}

#[test]
fn rfc6298_bounds_and_back_off() {
    let mut e = estimator(RtoStyle::Rfc6298, 1000);
    feed(&mut e, &[100]);
    assert_eq!(e.rto(), ms(1000), "(2.4): the minimum");
    e.back_off();
    e.back_off();
    assert_eq!(e.rto(), ms(4000), "(5.5): doubled each time");
    for _ in 0..20 {
        e.back_off();
    }
    assert_eq!(e.rto(), Duration::from_secs(120), "(2.5): the maximum");
    feed(&mut e, &[100]);
    assert_eq!(e.rto(), ms(1000), "a sample ends the back-off");
}

#[test]
fn linux_adds_the_minimum_to_a_steady_srtt() {
    let mut e = estimator(RtoStyle::Linux, 200);
    feed(&mut e, &[100; 200]);
    let rto = e.rto().as_millis();
    assert!((300..=301).contains(&rto), "SRTT + max(4 RTTVAR, 200 ms), not {rto}");
}

#[test]
fn ns2_counts_whole_ticks_between_the_two_instants() {
    let mut e = estimator(RtoStyle::Ticks, 200);
    // From 1,003 ms to 1,048 ms lie 4 ticks of 10 ms (1010, 1020, 1030, 1040).
    e.sample(Instant::from_millis(1048), ms(45), 1, 2);
    assert_eq!((e.srtt(), e.rttvar()), (Some(ms(40)), ms(20)));
    // t_rtxcur = srtt + 4 rttvar = 12 ticks, below the minimum.
    assert_eq!(e.rto(), ms(200));
    e.back_off();
    assert_eq!(e.rto(), ms(400), "the minimum is applied before the back-off");
}

#[test]
fn the_minimum_rises_only_after_its_lifetime() {
    let mut e = estimator(RtoStyle::Linux, 200);
    e.note_minimum(Instant::from_secs(1), ms(50));
    e.note_minimum(Instant::from_secs(200), ms(80));
    assert_eq!(e.min_rtt(), Some(ms(50)));
    e.note_minimum(Instant::from_secs(302), ms(80));
    assert_eq!(e.min_rtt(), Some(ms(80)), "the path has become longer");
}
