//! The controls against the equations of their sources.
use super::{WindowView, terms};
use crate::config::Coupling;

fn view(window: f64, rtt: f64) -> WindowView {
    WindowView { window, rtt, loss_interval: window * window }
}

const ALL: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::Balia];

#[test]
fn one_subflow_alone_is_newreno() {
    for coupling in ALL {
        let terms = terms(coupling, &[view(20.0, 0.1)], 0);
        assert!((terms.increase - 1.0).abs() < 1e-12, "{coupling:?}: {terms:?}");
        assert!((terms.keep - 0.5).abs() < 1e-12, "{coupling:?}: {terms:?}");
    }
}

/// Two equal subflows: together they grow by no more than one TCP would. RFC 6356: alpha = 1/2, so each takes a quarter
/// of NewReno's increase; so does OLIA's first term, and BALIA's whole.
#[test]
fn two_equal_subflows_take_a_quarter_each() {
    let all = [view(20.0, 0.1), view(20.0, 0.1)];
    for coupling in ALL {
        for own in 0..2 {
            let increase = terms(coupling, &all, own).increase;
            assert!((increase - 0.25).abs() < 1e-12, "{coupling:?}: {increase}");
        }
    }
}

/// RFC 6356 equation 2 by hand: windows of 10 and 40 segments, 50 ms and 200 ms. alpha = 50 (10 / 0.05²) / (200 + 200)²
/// = 1.25; 1.25 × 10 / 50 and min(1.25 × 40 / 50, 1).
#[test]
fn lia_follows_the_equation_of_rfc_6356() {
    let all = [view(10.0, 0.05), view(40.0, 0.2)];
    assert!((terms(Coupling::Lia, &all, 0).increase - 0.25).abs() < 1e-12);
    assert!((terms(Coupling::Lia, &all, 1).increase - 1.0).abs() < 1e-12);
}

/// The path with fewer losses has the smaller window: it gains 1/2 of a segment per window beyond its share of the
/// squares, the one with the largest window gives as much up.
#[test]
fn olia_moves_the_window_to_the_better_path() {
    let good = WindowView { loss_interval: 4000.0, ..view(10.0, 0.1) };
    let crowded = WindowView { loss_interval: 100.0, ..view(30.0, 0.1) };
    let all = [good, crowded];
    assert!((terms(Coupling::Olia, &all, 0).increase - (1.0 / 16.0 + 0.5)).abs() < 1e-12);
    assert!((terms(Coupling::Olia, &all, 1).increase - (9.0 / 16.0 - 0.5)).abs() < 1e-12);
}

/// Peng et al., equation of the decrease: a subflow at most 1.5 times slower than the best loses half of 1.5 windows.
#[test]
fn balia_cuts_slow_subflows_harder() {
    let all = [view(40.0, 0.1), view(10.0, 0.1)];
    assert!((terms(Coupling::Balia, &all, 0).keep - 0.5).abs() < 1e-12);
    assert!((terms(Coupling::Balia, &all, 1).keep - 0.25).abs() < 1e-12);
}

#[test]
fn weighted_vegas_shares_ten_queued_segments_by_rate() {
    let all = [view(30.0, 0.1), view(10.0, 0.1)];
    assert_eq!(terms(Coupling::Wvegas, &all, 0).queued_segments, Some(7.5));
    assert_eq!(terms(Coupling::Wvegas, &all, 1).queued_segments, Some(2.5));
}
