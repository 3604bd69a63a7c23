//! Ten bursty neighbours on each path, from quick to slow.

use super::IDEAL;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const FLUCTUATION: Experiment = Experiment {
    id: "30d",
    title: "4 Mbit/s each, ten flows of 500 kbit/s on each that burst for 0.1 t and pause for 0.2 t seconds",
    claims: &["R2-016"],
    lab: false,
    jobs,
    judge,
};

const FACTORS: [u64; 6] = [1, 2, 5, 10, 20, 50];
const WAYS: [&str; 5] = ["r2cp", "r2cp-s", "dealt", "first-alone", "second-alone"];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for factor in FACTORS {
        let mut set = Vec::new();
        for noise in ["noise1", "noise2"] {
            set.push(format!("flows.{noise}.on={} ms", 100 * factor));
            set.push(format!("flows.{noise}.off={} ms", 200 * factor));
        }
        for way in WAYS {
            let key = format!("{way}/{factor}");
            jobs.extend(point(scope, key, "r2cp-fluctuation", Some(way), &set)?);
        }
    }
    Ok(jobs)
}

fn steady(result: &RunResult) -> Option<f64> {
    result.flows.get("download")?.steady_goodput_bps
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let values = |way: &str, factor: u64| outcomes.values(&format!("{way}/{factor}"), steady);
    // The ideal: what each path gives to a connection of its own.
    let ideal = |factor: u64| -> Vec<f64> {
        let (first, second) = (values("first-alone", factor), values("second-alone", factor));
        first.iter().zip(&second).map(|(first, second)| first + second).collect()
    };
    let share = |factor: u64| Summary::of(&ratios(&values("r2cp", factor), &ideal(factor)));
    let mean = |factor: u64| share(factor).map_or(f64::NAN, |share| share.mean);
    let figures: Vec<String> =
        FACTORS.iter().map(|&factor| format!("{} at t = {factor}", digits(mean(factor)))).collect();
    let near = FACTORS.iter().all(|&factor| mean(factor) >= IDEAL);
    let finding = Finding::shape("R2-016", near, figures.join(", "))
        .because("share of the ideal, the sum of a connection alone on each path beside the same bursts");
    let quantity = "goodput in steady state, Mbit/s";
    let mut series =
        Series::new("factor t of bursts and pauses", quantity, &["ideal", "r2cp", "r2cp-s", "dealt"]);
    let mega = |values: Vec<f64>| Summary::of(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
    for factor in FACTORS {
        let mut row = vec![mega(ideal(factor))];
        row.extend(WAYS[..3].iter().map(|way| mega(values(way, factor))));
        series.row(factor, row);
    }
    (vec![finding], vec![series])
}
