//! The closed forms against their definitions: sums over states, the balance of flows, quadrature, the claims on
//! shapes.
use prismux_theory::queueing::figures::{largest_load, slope_beside_even};
use prismux_theory::queueing::{Pair, application, limits, transport};

fn pair(arrivals: f64, service: [f64; 2]) -> Pair {
    Pair::new(arrivals, service).expect("a stream that the pipes can carry")
}

fn loaded(intensity: f64, ratio: f64) -> Pair {
    Pair::at_intensity(intensity, ratio).expect("a load below one")
}

#[track_caller]
fn assert_close(got: f64, want: f64, relative: f64) {
    assert!((got - want).abs() <= relative * want.abs().max(1e-9), "{got} instead of {want}");
}

const GRID: [(f64, [f64; 2], f64); 6] = [
    (0.9, [1.0, 1.0], 0.5),
    (1.2, [1.0, 1.0], 0.55),
    (1.8, [1.0, 3.0], 0.2),
    (3.2, [1.0, 3.0], 0.14),
    (0.7, [1.0, 1.0], 0.1),
    (0.5, [2.0, 0.7], 0.8),
];

#[test]
fn a_pair_needs_positive_rates_and_a_load_below_its_capacity() {
    assert!(Pair::new(1.0, [0.5, 0.6]).is_some());
    let unsound = [(1.1, [0.5, 0.6]), (0.0, [1.0, 1.0]), (1.0, [-1.0, 3.0]), (f64::NAN, [1.0, 1.0])];
    for (arrivals, service) in unsound {
        assert_eq!(Pair::new(arrivals, service), None);
    }
    assert_eq!(Pair::new(1.0, [f64::INFINITY, 1.0]), None);
}

/// Mean of (7) over what a packet of the own pipe finds, with these utilisations.
fn resequencing_found(own: f64, other: f64, own_load: f64, other_load: f64) -> f64 {
    const NEGLIGIBLE: f64 = 1e-13;
    let (mut sum, mut ahead_chance) = (0.0, 1.0 - own_load);
    for ahead in 0.. {
        let mut chance = ahead_chance * (1.0 - other_load);
        if chance < NEGLIGIBLE {
            break;
        }
        for beside in 0.. {
            if chance < NEGLIGIBLE {
                break;
            }
            sum += chance * application::resequencing_behind(own, other, ahead, beside);
            chance *= other_load;
        }
        ahead_chance *= own_load;
    }
    sum
}

#[test]
fn application_resequencing_is_the_sum_over_what_an_arrival_finds() {
    for (arrivals, [first, second], split) in GRID {
        let (left, right) = (arrivals * split / first, arrivals * (1.0 - split) / second);
        let sum = split * resequencing_found(first, second, left, right)
            + (1.0 - split) * resequencing_found(second, first, right, left);
        let delays = application::delays(&pair(arrivals, [first, second]), split).expect("stable");
        assert_close(delays.resequencing, sum, 1e-5);
    }
}

#[test]
fn the_generating_functions_sum_what_they_say() {
    for (own, other, own_load, other_load) in
        [(1.0, 3.0, 0.4, 0.6), (3.0, 1.0, 0.7, 0.3), (1.0, 1.0, 0.5, 0.5)]
    {
        let mut sum = 0.0;
        for ahead in 0..120u32 {
            for beside in 0..120u32 {
                let weight = f64::powi(own_load, ahead as i32) * f64::powi(other_load, beside as i32);
                if weight > 1e-12 {
                    sum += weight * application::resequencing_behind(own, other, ahead, beside);
                }
            }
        }
        assert_close(application::resequencing_sum(own, other, own_load, other_load), sum, 1e-5);
    }
}

#[test]
fn overtaking_chances_add_up_to_one() {
    let sum: f64 = (0..400).map(|overtaken| application::overtaking_chance(1.0, 1.5, 4, overtaken)).sum();
    assert_close(sum, 1.0, 1e-9);
}

#[test]
fn the_wait_beside_a_busy_pipe_is_the_integral_with_the_minus_sign() {
    // Integral over t of exp(-m2 t) / m2 * m1 exp(sign m1 t): the inner integral of (14), done.
    let integral = |own: f64, other: f64, sign: f64| {
        let steps = 400_000;
        let width = 60.0 / f64::from(steps);
        let value = |t: f64| (-other * t).exp() / other * own * (sign * own * t).exp();
        (0..steps).map(|step| value((f64::from(step) + 0.5) * width) * width).sum::<f64>()
    };
    for (own, other) in [(1.0, 1.0), (1.0, 3.0), (2.0, 0.7)] {
        assert_close(transport::wait_beside_busy(own, other), integral(own, other, -1.0), 1e-4);
    }
    assert!((integral(1.0, 3.0, 1.0) - transport::wait_beside_busy(1.0, 3.0)).abs() > 0.05);
}

/// Every state's rate in equals its rate out.
#[test]
fn the_transports_states_are_in_balance() {
    for (arrivals, [first, second], split) in GRID {
        let states = transport::states(&pair(arrivals, [first, second]), split);
        let both = first + second;
        assert_close(arrivals * states.idle, first * states.first_busy + second * states.second_busy, 1e-9);
        assert_close(
            (arrivals + second) * states.second_busy,
            arrivals * (1.0 - split) * states.idle + first * states.both_busy,
            1e-9,
        );
        assert_close(
            (arrivals + first) * states.first_busy,
            arrivals * split * states.idle + second * states.both_busy,
            1e-9,
        );
        assert_close(
            (arrivals + both) * states.waiting(0),
            arrivals * (states.first_busy + states.second_busy) + both * states.waiting(1),
            1e-9,
        );
        let all_busy = states.both_busy / (1.0 - states.intensity);
        assert_close(states.idle + states.first_busy + states.second_busy + all_busy, 1.0, 1e-9);
        // Little: packets in the system over the arrival rate is the delay.
        let waiting: f64 = (0..3000).map(|n| (f64::from(n) + 2.0) * states.waiting(n)).sum();
        let inside = states.first_busy + states.second_busy + waiting;
        let delays = transport::delays(&pair(arrivals, [first, second]), split);
        assert_close(delays.queueing, inside / arrivals, 1e-9);
    }
}

#[test]
fn equal_pipes_have_the_simple_forms() {
    for intensity in [0.1, 1.0 / 3.0, 0.5, 0.9] {
        let pair = loaded(intensity, 1.0);
        for split in [0.0, 0.37, 1.0] {
            let (got, want) = (transport::delays(&pair, split), limits::transport_equal(intensity));
            assert_close(got.queueing, want.queueing, 1e-9);
            assert_close(got.resequencing, want.resequencing, 1e-9);
        }
        let even = application::delays(&pair, 0.5).expect("stable");
        let want = limits::application_equal(intensity);
        assert_close(even.queueing, want.queueing, 1e-9);
        assert_close(even.resequencing, want.resequencing, 1e-9);
        let penalty = even.total() - transport::delays(&pair, 0.5).total();
        assert_close(limits::penalty_equal(intensity), penalty, 1e-9);
    }
}

#[test]
fn the_even_split_turns_from_worst_to_best_at_the_stated_load() {
    let around = |load: f64| {
        let at = |split: f64| application::delays(&loaded(load, 1.0), split).expect("stable").resequencing;
        at(0.5 + 1e-3) - at(0.5)
    };
    assert!(around(limits::EVEN_SPLIT_TURNS_AT - 2e-3) < 0.0);
    assert!(around(limits::EVEN_SPLIT_TURNS_AT + 2e-3) > 0.0);
}

#[test]
fn the_transport_resequences_less_from_a_third_of_the_capacity_on() {
    let gain =
        |load: f64| limits::application_equal(load).resequencing - limits::transport_equal(load).resequencing;
    assert!(gain(limits::TRANSPORT_RESEQUENCES_LESS_FROM - 1e-6) < 0.0);
    assert!(gain(limits::TRANSPORT_RESEQUENCES_LESS_FROM + 1e-6) > 0.0);
}

#[test]
fn the_proportional_split_has_31_and_32_and_is_not_the_best() {
    for (ratio, intensity) in [(2.0, 0.5), (3.0, 0.8), (3.0, 0.9), (10.0, 0.95)] {
        let pair = loaded(intensity, ratio);
        let got = application::delays(&pair, pair.proportional_split()).expect("stable");
        let want = limits::application_proportional(intensity, ratio);
        assert_close(got.queueing, want.queueing, 1e-9);
        assert_close(got.resequencing, want.resequencing, 1e-9);
        let best = application::delays(&pair, application::least_resequencing_split(&pair)).expect("stable");
        assert!(best.resequencing < 0.97 * got.resequencing, "ratio {ratio}, load {intensity}");
    }
}

#[test]
fn near_full_load_the_best_splits_have_the_corrected_delays() {
    for ratio in [1.5, 3.0, 8.0] {
        let intensity = 1.0 - 1e-4;
        let pair = loaded(intensity, ratio);
        let split = application::least_resequencing_split(&pair);
        let best = application::delays(&pair, split).expect("stable").resequencing;
        assert_close(best, limits::least_resequencing_heavy(intensity, ratio), 2e-3);
        assert_close(split, 1.0 / (1.0 + ratio), 2e-3);
        let split = application::least_total_split(&pair);
        let best = application::delays(&pair, split).expect("stable").total();
        assert_close(best, limits::least_total_heavy(intensity, ratio), 2e-3);
        let spare = [1.0 - pair.arrivals * split, ratio - pair.arrivals * (1.0 - split)];
        assert_close(spare[0], spare[1], 2e-2);
        for split in [0.0, 0.5, 1.0] {
            let full = transport::delays(&loaded(1.0 - 1e-9, ratio), split).resequencing;
            assert_close(full, limits::transport_resequencing_full(ratio), 1e-6);
        }
    }
}

#[test]
fn a_bounded_delay_allows_the_stated_loads() {
    for bound in [1.5, 2.0, 4.0] {
        let load = limits::largest_load_transport(bound);
        assert_close(limits::transport_equal(load).total(), bound, 1e-9);
        let even = limits::largest_load_application(bound);
        assert_close(limits::application_equal(even).total(), bound, 1e-9);
        assert_close(largest_load(bound, 0.5), even, 1e-6);
        assert!(load > even && even > largest_load(bound, 0.4));
    }
}

#[test]
fn a_split_beyond_the_stable_range_has_no_mean_delay() {
    let pair = loaded(0.8, 1.0);
    let (low, high) = pair.stable_splits();
    assert_close(low, 1.0 - 1.0 / 1.6, 1e-12);
    assert_close(high, 1.0 / 1.6, 1e-12);
    for split in [low - 1e-9, high + 1e-9, -0.1, 1.1, f64::NAN] {
        assert_eq!(application::delays(&pair, split), None, "split {split}");
    }
    assert!(application::delays(&pair, low + 1e-3).is_some());
    assert!(slope_beside_even(0.97).is_some());
    assert_eq!(slope_beside_even(0.99), None);
}
