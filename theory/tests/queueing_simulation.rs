//! The closed forms against simulations that use none of them.
use prismux_endpoint::random::Seed;
use prismux_theory::queueing::simulation::{Effort, Estimate, Splitter, delays, states_found};
use prismux_theory::queueing::{Delays, Pair, application, transport};

const EFFORT: Effort = Effort { replications: 24, packets: 40_000 };
const SEED: Seed = Seed(2004);
/// Student's t for 24 runs: 3.77 once in a thousand. Some 70 comparisons are made, with fixed seeds.
const STANDARD_ERRORS: f64 = 3.77;

/// Loads and ratios of rates, and splits as shares of the stable range.
fn grid() -> Vec<(f64, f64, f64)> {
    let mut grid = Vec::new();
    for intensity in [0.2, 0.5, 0.8] {
        for ratio in [1.0, 3.0, 8.0] {
            for share in [0.25, 0.6] {
                grid.push((intensity, ratio, share));
            }
        }
    }
    grid
}

/// The estimate must be near, and sharp enough for nearness to mean something.
#[track_caller]
fn assert_agrees(what: &str, runs: &[Delays], of: fn(&Delays) -> f64, expected: f64) {
    let estimate = Estimate::of(runs.iter().map(of));
    let (distance, sharpness) = (estimate.distance(expected), estimate.standard_error / expected);
    let seed = SEED.0;
    assert!(distance < STANDARD_ERRORS, "{what}: {estimate:?} against {expected} (seed {seed})");
    assert!(sharpness < 0.04, "{what}: {estimate:?} is too vague (seed {seed})");
}

#[test]
fn the_applications_queues_behave_as_computed() {
    for (intensity, ratio, share) in grid() {
        let pair = Pair::at_intensity(intensity, ratio).expect("below capacity");
        let (low, high) = pair.stable_splits();
        let split = low + share * (high - low);
        let expected = application::delays(&pair, split).expect("stable");
        let runs = delays(&pair, split, Splitter::Application, EFFORT, SEED).expect("stable");
        let what = format!("load {intensity}, ratio {ratio}, split {split:.3}");
        assert_agrees(&format!("{what}: queueing"), &runs, |run| run.queueing, expected.queueing);
        assert_agrees(&format!("{what}: resequencing"), &runs, |run| run.resequencing, expected.resequencing);
    }
}

#[test]
fn the_transports_queue_behaves_as_computed() {
    for (intensity, ratio, split) in grid() {
        let pair = Pair::at_intensity(intensity, ratio).expect("below capacity");
        let expected = transport::delays(&pair, split);
        let runs = delays(&pair, split, Splitter::Transport, EFFORT, SEED).expect("always stable");
        let what = format!("load {intensity}, ratio {ratio}, split {split}");
        assert_agrees(&format!("{what}: queueing"), &runs, |run| run.queueing, expected.queueing);
        assert_agrees(&format!("{what}: resequencing"), &runs, |run| run.resequencing, expected.resequencing);
    }
}

#[test]
fn arrivals_find_the_transports_states_as_often_as_computed() {
    for (intensity, ratio, split) in [(0.4, 1.0, 0.3), (0.8, 3.0, 0.0), (0.6, 8.0, 1.0)] {
        let pair = Pair::at_intensity(intensity, ratio).expect("below capacity");
        let states = transport::states(&pair, split);
        let expected =
            [states.idle, states.second_busy, states.first_busy, states.both_busy, states.waiting(3)];
        let runs = states_found(&pair, split, 3, EFFORT, SEED);
        for (state, expected) in expected.into_iter().enumerate() {
            let estimate = Estimate::of(runs.iter().map(|run| run[state]));
            let distance = estimate.distance(expected);
            assert!(distance < STANDARD_ERRORS, "state {state}: {estimate:?} against {expected}");
        }
    }
}

#[test]
fn a_wrong_formula_would_be_noticed() {
    // The proportional split's (31) taken for the best split's delay.
    let pair = Pair::at_intensity(0.9, 3.0).expect("below capacity");
    let split = application::least_resequencing_split(&pair);
    let runs = delays(&pair, split, Splitter::Application, EFFORT, SEED).expect("stable");
    let estimate = Estimate::of(runs.iter().map(|run| run.resequencing));
    let printed = prismux_theory::queueing::limits::application_proportional(0.9, 3.0).resequencing;
    assert!(estimate.distance(printed) > 20.0, "{estimate:?} against {printed}");
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_an_overloaded_pipe_none() {
    let pair = Pair::at_intensity(0.9, 1.0).expect("below capacity");
    let effort = Effort { replications: 2, packets: 1000 };
    let run = |seed| delays(&pair, 0.5, Splitter::Application, effort, Seed(seed));
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    assert_eq!(delays(&pair, 0.9, Splitter::Application, effort, SEED), None);
}
