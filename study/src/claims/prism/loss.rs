//! T2: loss on one of two links.

use super::testbed::{self, device_queues};
use super::{mean, mean_over};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, words};
use crate::claims::plan::{Job, Outcomes, Scope, efficiency, point, ratios, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

pub(super) const T2: Experiment = Experiment {
    id: "T2",
    title: "1080 and 360 kbit/s, 300 ms; loss on the second link; 14 MB",
    claims: &["PR-005", "PR-006", "PR-007", "PR-008"],
    lab: true,
    jobs,
    judge,
};

const FILE: &str = "prism-loss-disparity";
const VARIANTS: [&str; 4] = ["prism", "today", "linux24", "vanilla"];
/// Loss in thousandths of a percent.
const LOSSES: [u64; 8] = [1, 10, 100, 200, 400, 600, 800, 1000];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for loss in LOSSES.into_iter().filter(|loss| !scope.quick || [1, 100, 400, 800, 1000].contains(loss)) {
        let mut set = device_queues(2);
        set.push(format!("links.wwan2.forward.loss={}", loss as f64 / 1e5));
        for variant in VARIANTS {
            jobs.extend(point(scope, format!("{variant}/{loss}"), FILE, Some(variant), &set)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |loss: &u64| !outcomes.results(&format!("prism/{loss}")).is_empty();
    let points: Vec<u64> = LOSSES.into_iter().filter(ran).collect();
    let keys = |within: &dyn Fn(u64) -> bool| -> Vec<String> {
        points.iter().filter(|loss| within(**loss)).map(|loss| format!("prism/{loss}")).collect()
    };
    let below = mean_over(outcomes, &keys(&|loss| loss < 800), efficiency);
    let above = mean_over(outcomes, &keys(&|loss| loss >= 800), efficiency);
    let at = |variant: &str, loss: u64| outcomes.values(&format!("{variant}/{loss}"), efficiency);
    let kept = |variant: &str| ratios(&at(variant, 1000), &at(variant, 1));
    let [prism, _, vanilla, textbook] = VARIANTS.map(kept);
    let falls = format!(
        "kept at 1 % loss by vanilla {}, by PRISM {}, by the textbook sender {}",
        words(&vanilla),
        words(&prism),
        words(&textbook)
    );
    let lowest = outcomes.mean("vanilla/1", efficiency);
    let findings = vec![
        Finding::shape("PR-006", is_above(&below, &above), two(&below, &above)).because("paired over seeds"),
        Finding::values("PR-005", below).because(testbed::WHOLE_TRANSFER),
        Finding::values("PR-007", at("linux24", 1)).because(format!(
            "the whole transfer; the textbook sender takes the reordering between links of 1080 and 360 kbit/s for \
             loss even at equal delays: {lowest:.2}"
        )),
        Finding::shape("PR-008", mean(&vanilla) < 1.0 && is_above(&prism, &vanilla), falls),
    ];
    let mut whole = Series::new("loss in %", "goodput over capacity for the whole 14 MB", &VARIANTS);
    let mut steady = Series::new("loss in %", "goodput over capacity in steady state", &VARIANTS);
    for loss in &points {
        let row = |of: fn(&RunResult) -> Option<f64>| {
            VARIANTS.iter().map(|variant| outcomes.summary(&format!("{variant}/{loss}"), of)).collect()
        };
        whole.row(*loss as f64 / 1e3, row(efficiency));
        steady.row(*loss as f64 / 1e3, row(steady_efficiency));
    }
    (findings, vec![whole, steady])
}

fn two(below: &[f64], above: &[f64]) -> String {
    format!("below 0.8 % loss {}, from 0.8 % {}", words(below), words(above))
}
