//! Pipes of equal rate: figure 6.

use super::{Agreement, Bench, application_delays, loaded, resequencing, total};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_theory::queueing::figures::{EQUAL_LOADS, UNEVEN_SPLITS, largest_load, slope_beside_even};
use prismux_theory::queueing::simulation::{Estimate, Splitter};
use prismux_theory::queueing::{application, limits};

/// Points of a curve over the splits.
const POINTS: u32 = 2000;

pub(super) fn judge(bench: &Bench) -> Vec<Finding> {
    vec![
        crossing(bench),
        turning(),
        shape(bench, "QM-014", 0.35),
        shape(bench, "QM-015", 0.495),
        shape(bench, "QM-016", 0.55),
        stable_range(),
        full_load(bench),
        convexity(bench),
        penalty(bench),
        sensitivity(),
        bounded(),
    ]
}

/// In each run: where the difference of the two delays of resequencing, a nearly straight line over these loads, is
/// zero.
fn crossing(bench: &Bench) -> Finding {
    let loads = [0.305, 0.32, 0.335, 0.35, 0.365];
    let runs = |splitter| loads.map(|load| bench.run(&loaded(load, 1.0), 0.5, splitter));
    let (application, transport) = (runs(Splitter::Application), runs(Splitter::Transport));
    let zero = |run: usize| {
        let gains: Vec<f64> = (0..loads.len())
            .map(|at| application[at][run].resequencing - transport[at][run].resequencing)
            .collect();
        let n = loads.len() as f64;
        let (load_mean, gain_mean) = (loads.iter().sum::<f64>() / n, gains.iter().sum::<f64>() / n);
        let (mut both, mut square) = (0.0, 0.0);
        for (load, gain) in loads.iter().zip(&gains) {
            both += (load - load_mean) * (gain - gain_mean);
            square += (load - load_mean) * (load - load_mean);
        }
        load_mean - gain_mean * square / both
    };
    Finding::values("QM-012", (0..application[0].len()).map(zero).collect())
}

/// By bisection on the curvature of (12) at the even split.
fn turning() -> Finding {
    const STEP: f64 = 1e-4;
    let curvature = |load: f64| {
        let at = |split: f64| application_delays(&loaded(load, 1.0), split).resequencing;
        at(0.5 + STEP) - at(0.5)
    };
    let (mut low, mut high) = (0.1, 0.9);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if curvature(middle) < 0.0 { low = middle } else { high = middle }
    }
    Finding::values("QM-013", vec![low]).because("from (12), which QM-001 checks by simulation")
}

/// Resequencing against the split up to the even one, with the points that carry the shape simulated.
fn shape(bench: &Bench, claim: &'static str, load: f64) -> Finding {
    let pair = loaded(load, 1.0);
    let low = pair.stable_splits().0;
    let at = |split: f64| application_delays(&pair, split).resequencing;
    let inside = |step: u32| low + (0.5 - low) * f64::from(step) / f64::from(POINTS);
    let values: Vec<f64> = (1..=POINTS).map(|step| at(inside(step))).collect();
    let highest = (1..=POINTS).max_by(|a, b| at(inside(*a)).total_cmp(&at(inside(*b)))).unwrap_or(1);
    let rises = values.windows(2).all(|pair| pair[0] <= pair[1]);
    let falls_from = |step: u32| values[step as usize - 1..].windows(2).all(|pair| pair[0] >= pair[1]);
    let found = match claim {
        "QM-014" => at(0.0) == 0.0 && rises,
        "QM-015" => at(0.0) == 0.0 && (2..POINTS).contains(&highest) && falls_from(highest),
        _ => falls_from(1),
    };
    let mut agreement = Agreement::default();
    for share in [0.25, 0.5, 0.75, 1.0] {
        let split = low + (0.5 - low) * share;
        agreement.add(bench.mean(&pair, split, Splitter::Application, resequencing), at(split));
    }
    let split = inside(highest);
    let top = match claim {
        "QM-016" => format!("{} at split {}", digits(at(low + 0.01)), digits(low + 0.01)),
        _ => format!("highest {} at split {}", digits(at(split)), digits(split)),
    };
    let figures = format!("{top}, at the even split {}; {}", digits(at(0.5)), agreement.text());
    Finding::shape(claim, found && agreement.holds(), figures)
}

fn stable_range() -> Finding {
    let as_stated = |load: f64| {
        let pair = loaded(load, 1.0);
        let (low, high) = (1.0 - 1.0 / (2.0 * load), 1.0 / (2.0 * load));
        let finite =
            |split: f64| application::delays(&pair, split).is_some_and(|delays| delays.total().is_finite());
        finite(low + 1e-6) && finite(high - 1e-6) && !finite(low - 1e-6) && !finite(high + 1e-6)
    };
    let found = [0.55, 0.7, 0.9, 0.99].into_iter().all(as_stated);
    Finding::shape(
        "QM-017",
        found,
        "each pipe must serve more than it is given: at load 0.55, 0.7, 0.9, 0.99",
    )
}

fn full_load(bench: &Bench) -> Finding {
    let runs = bench.run(&loaded(0.99, 1.0), 0.5, Splitter::Transport);
    Finding::values("QM-018", runs.iter().map(resequencing).collect()).because("simulated at load 0.99")
}

fn convexity(bench: &Bench) -> Finding {
    let mut agreement = Agreement::default();
    let mut found = true;
    for load in [0.05, 0.2, 0.35, 0.45, 0.495, 0.55, 0.8, 0.95] {
        let pair = loaded(load, 1.0);
        let (low, high) = pair.stable_splits();
        let inside = |step: u32| low + (high - low) * (f64::from(step) + 0.5) / (f64::from(POINTS) + 1.0);
        let values: Vec<f64> =
            (0..=POINTS).map(|step| application_delays(&pair, inside(step)).total()).collect();
        found &= values.windows(3).all(|three| three[0] + three[2] >= 2.0 * three[1] - 1e-9 * three[1]);
        let least = (0..=POINTS).min_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
        found &= least.is_some_and(|step| (inside(step) - 0.5).abs() < 1e-3);
        if load < 0.9 {
            let split = low + 0.4 * (high - low);
            let expected = application_delays(&pair, split).total();
            agreement.add(bench.mean(&pair, split, Splitter::Application, total), expected);
        }
    }
    let figures = format!("second differences and minimum at eight loads; {}", agreement.text());
    Finding::shape("QM-019", found && agreement.holds(), figures)
}

fn penalty(bench: &Bench) -> Finding {
    let mut agreement = Agreement::default();
    let mut positive = true;
    for load in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let pair = loaded(load, 1.0);
        let (application, transport) =
            (bench.run(&pair, 0.5, Splitter::Application), bench.run(&pair, 0.5, Splitter::Transport));
        let gains: Vec<f64> =
            application.iter().zip(&transport).map(|(a, t)| a.total() - t.total()).collect();
        positive &= limits::penalty_equal(load) > 0.0;
        agreement.add(Estimate::of(gains.into_iter()), limits::penalty_equal(load));
    }
    Finding::shape("QM-020", positive && agreement.holds(), agreement.text())
}

fn sensitivity() -> Finding {
    let slopes: Vec<f64> = [0.3, 0.5, 0.7, 0.9].into_iter().filter_map(slope_beside_even).collect();
    let grows = slopes.len() == 4 && slopes.windows(2).all(|pair| pair[1] > 2.0 * pair[0]);
    let figures: Vec<String> = slopes.iter().map(|slope| digits(*slope)).collect();
    let figures = format!("slope at split 0.51, load 0.3, 0.5, 0.7, 0.9: {}", figures.join(", "));
    Finding::shape("QM-021", grows, figures)
}

fn bounded() -> Finding {
    let mut found = true;
    let mut figures = Vec::new();
    for bound in [1.5, 2.0, 4.0, 8.0] {
        let mut loads = vec![limits::largest_load_transport(bound), limits::largest_load_application(bound)];
        loads.extend(UNEVEN_SPLITS.map(|split| largest_load(bound, split)));
        found &= loads.windows(2).all(|pair| pair[0] > pair[1]);
        let text: Vec<String> = loads.iter().map(|load| digits(*load)).collect();
        figures.push(format!("bound {bound}: {}", text.join(" > ")));
    }
    let figures = format!("transport > even split > 0.45 > 0.4 > 0.3: {}", figures.join("; "));
    Finding::shape("QM-022", found, figures)
}

/// Figures 6(a) and 6(b) at the even split.
pub(super) fn table(bench: &Bench) -> Series {
    let columns = [
        "resequencing, application",
        "computed",
        "total, application",
        "computed",
        "total, transport",
        "computed",
    ];
    let mut series = Series::new("load over capacity", "mean delay in service times, even split", &columns);
    series.experiment = "Equal pipes (figure 6)".to_string();
    for load in EQUAL_LOADS.into_iter().chain([0.7, 0.9]) {
        let pair = loaded(load, 1.0);
        let application = bench.run(&pair, 0.5, Splitter::Application);
        let transport = bench.run(&pair, 0.5, Splitter::Transport);
        let simulated = |values: Vec<f64>| Summary::of(&values);
        let (even, free) = (limits::application_equal(load), limits::transport_equal(load));
        let cells = vec![
            simulated(application.iter().map(resequencing).collect()),
            Summary::of(&[even.resequencing]),
            simulated(application.iter().map(total).collect()),
            Summary::of(&[even.total()]),
            simulated(transport.iter().map(total).collect()),
            Summary::of(&[free.total()]),
        ];
        series.row(load, cells);
    }
    series
}
