//! Pipes of unequal rates: figure 7.

use super::{Agreement, Bench, application_delays, loaded, resequencing, total};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_theory::queueing::application::{least_resequencing_split, least_total_split};
use prismux_theory::queueing::figures::{RATIO, RATIOS};
use prismux_theory::queueing::simulation::Splitter;
use prismux_theory::queueing::{Pair, limits, transport};

/// Steps between splits 0 and 1 of the transport.
const SPLITS: u32 = 100;

pub(super) fn judge(bench: &Bench) -> Vec<Finding> {
    vec![
        best_split_in_the_limit(),
        Finding::values("QM-024", vec![least_resequencing_split(&loaded(0.8, RATIO))]),
        Finding::values("QM-025", vec![least_resequencing_split(&loaded(0.95, RATIO))]),
        fast_pipe_alone(),
        more_unequal(bench),
        transport_in_the_limit(bench),
        transport_split(),
        flattening(),
        transport_wins(bench),
        sensitivity(),
    ]
}

fn best_split_in_the_limit() -> Finding {
    let off = |ratio: f64| (least_resequencing_split(&loaded(1.0 - 1e-6, ratio)) - 1.0 / (1.0 + ratio)).abs();
    let worst = [1.5, 3.0, 8.0].into_iter().map(off).fold(0.0, f64::max);
    Finding::shape("QM-023", worst < 1e-3, format!("at load 0.999999 off by {worst:.1e} at most"))
        .because("the split tends there, the delay does not tend to that of the proportional split (QM-029)")
}

fn fast_pipe_alone() -> Finding {
    let splits = [0.3, 0.5, 0.7, 0.745].map(|load| least_resequencing_split(&loaded(load, RATIO)));
    Finding::values("QM-026", vec![splits.into_iter().fold(0.0, f64::max)])
}

/// Capacity 1: resequencing at the best and at the proportional split as the ratio grows. The load is above the
/// faster pipe's rate throughout; the formula is simulated at a lower one.
fn more_unequal(bench: &Bench) -> Finding {
    let mut agreement = Agreement::default();
    for ratio in [3.0, 8.0] {
        let pair = loaded(0.9, ratio);
        let split = least_resequencing_split(&pair);
        let simulated = bench.mean(&pair, split, Splitter::Application, resequencing);
        agreement.add(simulated, application_delays(&pair, split).resequencing);
    }
    let (mut best, mut proportional) = (Vec::new(), Vec::new());
    for ratio in [3.0, 8.0, 30.0, 100.0] {
        let pair = loaded(0.995, ratio);
        let at = |split: f64| application_delays(&pair, split).resequencing * pair.capacity();
        best.push(at(least_resequencing_split(&pair)));
        proportional.push(at(pair.proportional_split()));
    }
    let grows = best.windows(2).all(|pair| pair[1] > pair[0]);
    let text = |values: &[f64]| values.iter().map(|value| digits(*value)).collect::<Vec<_>>().join(", ");
    let figures = format!(
        "load 0.995, ratio 3, 8, 30, 100: best split {}, proportional split {}; at load 0.9 {}",
        text(&best),
        text(&proportional),
        agreement.text()
    );
    Finding::shape("QM-029", grows && agreement.holds(), figures).because(
        "the source takes (31), the delay at the proportional split, for that at the best one. That one does grow; \
         the least delay falls, near full load as 2 sqrt(k) / ((1 + k) (1 - rho))",
    )
}

fn transport_in_the_limit(bench: &Bench) -> Finding {
    let mut worst = 0.0_f64;
    let mut agreement = Agreement::default();
    for ratio in [1.0, 3.0, 10.0] {
        let limit = limits::transport_resequencing_full(ratio);
        for split in [0.0, 0.5, 1.0] {
            let near = transport::delays(&loaded(1.0 - 1e-9, ratio), split).resequencing;
            worst = worst.max((near / limit - 1.0).abs());
            let pair = loaded(0.9, ratio);
            let expected = transport::delays(&pair, split).resequencing;
            agreement.add(bench.mean(&pair, split, Splitter::Transport, resequencing), expected);
        }
    }
    let figures = format!("formula off by {worst:.1e} at most; at load 0.9 {}", agreement.text());
    Finding::shape("QM-031", worst < 1e-6 && agreement.holds(), figures)
}

/// Splits of the transport from 0 to 1.
fn splits() -> impl Iterator<Item = f64> {
    (0..=SPLITS).map(|step| f64::from(step) / f64::from(SPLITS))
}

fn transport_split() -> Finding {
    let mut worst = 0.0_f64;
    for load in [0.1, 0.3, 0.5, 0.7, 0.95, 0.99] {
        let pair = loaded(load, RATIO);
        for of in [resequencing, total] {
            let cost = |split: &f64| of(&transport::delays(&pair, *split));
            let best = splits().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(f64::NAN);
            worst = worst.max(best);
        }
    }
    Finding::values("QM-032", vec![worst])
        .because("largest of the best splits at six loads, resequencing and total")
}

fn flattening() -> Finding {
    let spread = |load: f64| {
        let at = |split: f64| transport::delays(&loaded(load, RATIO), split).resequencing;
        at(1.0) / at(0.0) - 1.0
    };
    let spreads = [0.7, 0.8, 0.9, 0.95, 0.99].map(spread);
    let found = spreads.windows(2).all(|pair| pair[1] < pair[0]);
    let text: Vec<String> = spreads.iter().map(|spread| digits(spread * 100.0)).collect();
    Finding::shape(
        "QM-033",
        found,
        format!("split 1 over split 0, % more, load 0.7 to 0.99: {}", text.join(", ")),
    )
}

/// At the transport's worst and the application's best split.
fn transport_wins(bench: &Bench) -> Finding {
    let mut gains = Vec::new();
    let mut agreement = Agreement::default();
    for load in [0.76, 0.8, 0.85, 0.9, 0.95] {
        let pair = loaded(load, RATIO);
        let split = least_total_split(&pair);
        let best = application_delays(&pair, split).total();
        let cost = |split: f64| transport::delays(&pair, split).total();
        let (worst_split, worst) = splits()
            .map(|split| (split, cost(split)))
            .fold((0.0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst });
        gains.push(best - worst);
        agreement.add(bench.mean(&pair, split, Splitter::Application, total), best);
        agreement.add(bench.mean(&pair, worst_split, Splitter::Transport, total), worst);
    }
    let grows = gains.windows(2).all(|pair| pair[1] > pair[0]);
    let text: Vec<String> = gains.iter().map(|gain| digits(*gain)).collect();
    let figures = format!(
        "application's best less transport's worst, load 0.76, 0.8, 0.85, 0.9, 0.95: {}; {}",
        text.join(", "),
        agreement.text()
    );
    let found = grows && gains[0] > 0.0 && agreement.holds();
    let light = loaded(0.8, 8.0);
    let exception = format!(
        "below the faster pipe's rate it can fail: ratio 8, load 0.8: application {}, transport {} at best",
        digits(application_delays(&light, least_total_split(&light)).total()),
        digits(transport::delays(&light, 0.0).total())
    );
    Finding::shape("QM-034", found, figures).because(&exception)
}

/// How much of its final value the best split gains per unit of load, and where it ends. The loads lie between the
/// faster pipe's rate, below which the best split is 0, and the capacity.
fn sensitivity() -> Finding {
    let best = |load: f64, ratio: f64| least_resequencing_split(&loaded(load, ratio));
    let gain = |ratio: f64| {
        let (from, range) = (ratio / (1.0 + ratio), 1.0 / (1.0 + ratio));
        let (low, high) = (from + 0.1 * range, from + 0.9 * range);
        (best(high, ratio) - best(low, ratio)) / (high - low)
    };
    let slopes = RATIOS.map(gain);
    let relative: Vec<f64> = RATIOS.iter().zip(slopes).map(|(ratio, slope)| slope * (1.0 + ratio)).collect();
    let ends = RATIOS.map(|ratio| (best(1.0 - 1e-6, ratio) - 1.0 / (1.0 + ratio)).abs());
    let found = relative.windows(2).all(|pair| pair[1] > pair[0]) && ends.into_iter().all(|end| end < 1e-3);
    let text = |values: &[f64]| values.iter().map(|value| digits(*value)).collect::<Vec<_>>().join(", ");
    let figures = format!(
        "ratio 1.5, 2, 3, 5, 10: gain per unit of load, relative to the final value {}; absolute {}",
        text(&relative),
        text(&slopes)
    );
    Finding::shape("QM-035", found, figures)
}

/// The best splits and their delays against the proportional split and the transport.
pub(super) fn table(bench: &Bench) -> Series {
    let columns = [
        "best split",
        "total at best split",
        "computed",
        "total at proportional split",
        "total, transport",
        "computed",
    ];
    let mut series = Series::new(
        "load over capacity",
        "mean delay in service times of the slower pipe, ratio 3",
        &columns,
    );
    series.experiment = "Unequal pipes (figure 7)".to_string();
    for load in [0.5, 0.7, 0.8, 0.9, 0.95] {
        let pair: Pair = loaded(load, RATIO);
        let best = least_total_split(&pair);
        let simulated = |split: f64, splitter| {
            Summary::of(&bench.run(&pair, split, splitter).iter().map(total).collect::<Vec<_>>())
        };
        let proportional = application_delays(&pair, pair.proportional_split()).total();
        let cells = vec![
            Summary::of(&[best]),
            simulated(best, Splitter::Application),
            Summary::of(&[application_delays(&pair, best).total()]),
            Summary::of(&[proportional]),
            simulated(0.0, Splitter::Transport),
            Summary::of(&[transport::delays(&pair, 0.0).total()]),
        ];
        series.row(load, cells);
    }
    series
}
