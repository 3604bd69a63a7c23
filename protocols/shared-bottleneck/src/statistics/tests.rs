//! Each statistic of RFC 8382 section 3.2 against values computed by hand.
use super::*;

/// Base intervals of these delays, in milliseconds.
fn after(intervals: &[&[f64]]) -> Statistics {
    let mut statistics = Statistics::default();
    for delays_ms in intervals {
        delays_ms.iter().for_each(|delay_ms| statistics.passed(delay_ms / 1e3));
        statistics.end_interval();
    }
    statistics
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn skewness_counts_packets_on_both_sides_of_the_mean_before() {
    // The first interval has no mean to be compared with. Mean 20 ms: of 10, 10, 10, 50 three lie below, one above.
    let statistics = after(&[&[20.0, 20.0], &[10.0, 10.0, 10.0, 50.0]]);
    close(statistics.summary().unwrap().skew, (3.0 - 1.0) / 6.0);
    // Then the mean of both means, 20 ms each, is 20 ms, which is neither below nor above.
    let statistics = after(&[&[20.0, 20.0], &[10.0, 10.0, 10.0, 50.0], &[20.0, 30.0]]);
    close(statistics.summary().unwrap().skew, (2.0 - 1.0) / 8.0);
}

#[test]
fn variability_is_the_mean_distance_from_the_mean_of_the_interval_before() {
    // The first interval has none before it. 20 ms: 10, 10, 10, 30. Then 20 ms again: 0 and 10.
    let statistics = after(&[&[20.0, 20.0], &[10.0, 10.0, 10.0, 50.0], &[20.0, 30.0]]);
    close(statistics.summary().unwrap().variability_s, (60.0 + 10.0) / 8.0 / 1e3);
}

#[test]
fn oscillation_counts_means_that_cross_by_more_than_the_margin() {
    // Means of 20, 60, 20 and 60 ms. The margin is 0.7 of the variability before the interval:
    // 60 ms is above 20 + 0; 20 ms is below 40 - 14, a crossing; 60 ms is above 33.3 + 18.7, another.
    let statistics = after(&[&[20.0, 20.0], &[60.0, 60.0], &[20.0, 20.0], &[60.0, 60.0]]);
    close(statistics.summary().unwrap().frequency, 2.0 / 50.0);
    // A mean within the margin crosses nothing.
    let statistics = after(&[&[20.0, 20.0], &[60.0, 60.0], &[35.0, 35.0], &[60.0, 60.0]]);
    close(statistics.summary().unwrap().frequency, 0.0);
}

#[test]
fn loss_is_the_share_of_all_packets_over_the_long_time() {
    let mut statistics = after(&[&[20.0; 9], &[20.0; 9]]);
    statistics.lost(2);
    statistics.passed(0.02);
    statistics.end_interval();
    close(statistics.summary().unwrap().loss, 2.0 / 21.0);
    // An interval without packets is none, and its losses are those of the next.
    statistics.lost(1);
    statistics.end_interval();
    close(statistics.summary().unwrap().loss, 2.0 / 21.0);
    statistics.passed(0.02);
    statistics.end_interval();
    close(statistics.summary().unwrap().loss, 3.0 / 23.0);
}

#[test]
fn the_constant_of_the_clocks_does_not_matter_and_old_intervals_are_forgotten() {
    let intervals = |offset: f64| {
        let mut statistics = Statistics::default();
        for number in 0..200_u32 {
            (0..10).for_each(|packet| {
                statistics.passed(offset + f64::from((number * 7 + packet * 3) % 11) / 100.0)
            });
            statistics.end_interval();
        }
        statistics
    };
    let (near, far) = (intervals(0.0), intervals(64.0));
    assert_eq!(near.intervals.len(), LONG_INTERVALS);
    let (near, far) = (near.summary().unwrap(), far.summary().unwrap());
    assert!((near.skew - far.skew).abs() < 0.02 && (near.variability_s - far.variability_s).abs() < 1e-6);
}
