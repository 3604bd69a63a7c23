//! T2: loss on one of two links.

use super::{figures, mean, mean_over};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, efficiency, point, steady_efficiency};
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
const VARIANTS: [&str; 4] = ["prism", "today", "vanilla", "linux24"];
/// Loss in thousandths of a percent.
const LOSSES: [u64; 8] = [1, 10, 100, 200, 400, 600, 800, 1000];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for loss in LOSSES.into_iter().filter(|loss| !scope.quick || [1, 100, 400, 800, 1000].contains(loss)) {
        let set = [format!("links.wwan2.forward.loss={}", loss as f64 / 1e5)];
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
    let below = mean_over(outcomes, &keys(&|loss| loss < 800), steady_efficiency);
    let above = mean_over(outcomes, &keys(&|loss| loss >= 800), steady_efficiency);
    let at = |variant: &str, loss: u64| outcomes.mean(&format!("{variant}/{loss}"), steady_efficiency);
    let kept = |variant: &str| at(variant, 1000) / at(variant, 1);
    let (prism, vanilla, adaptive) = (kept("prism"), kept("vanilla"), kept("linux24"));
    let adapted = at("linux24", 1);
    let no_reordering = if outcomes.in_lab() {
        "the sender of this kernel adapts to the reordering between the links, which costs it nothing at equal delays"
            .to_string()
    } else {
        format!(
            "the textbook sender takes the reordering between links of 1080 and 360 kbit/s for loss even at \
                equal delays; \
             Linux 2.4, which adapts to reordering, reaches {adapted:.2}"
        )
    };
    let (low, high) = (mean(&below), mean(&above));
    let findings = vec![
        Finding::values("PR-005", below).because("steady state, headers counted as overhead of the links"),
        Finding::shape("PR-006", high < low, figures(&[("below 0.8 % loss", low), ("from 0.8 %", high)])),
        Finding::values("PR-007", outcomes.values("vanilla/1", steady_efficiency)).because(no_reordering),
        Finding::shape(
            "PR-008",
            vanilla < 1.0 && vanilla < prism,
            figures(&[
                ("kept at 1 % loss by vanilla", vanilla),
                ("by PRISM", prism),
                ("for information, by Linux 2.4", adaptive),
            ]),
        ),
    ];
    let mut steady = Series::new("loss in %", "goodput over capacity in steady state", &VARIANTS);
    let mut whole = Series::new("loss in %", "goodput over capacity for the whole 14 MB", &VARIANTS);
    for loss in &points {
        let row = |of: fn(&RunResult) -> Option<f64>| {
            VARIANTS.iter().map(|variant| outcomes.summary(&format!("{variant}/{loss}"), of)).collect()
        };
        steady.row(*loss as f64 / 1e3, row(steady_efficiency));
        whole.row(*loss as f64 / 1e3, row(efficiency));
    }
    (findings, vec![steady, whole])
}
