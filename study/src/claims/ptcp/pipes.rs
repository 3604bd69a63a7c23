//! Two to five pipes of constant rate.

use super::{
    COLUMNS, LARGE_KB, below_the_sum, duration, figures, ideal, jobs_at, least, mbps, mean, sockets, variant,
};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const PIPES: Experiment = Experiment {
    id: "P3",
    title: "2, 5, 0.5, 1 and 10 Mbit/s, joining in this order",
    claims: &["PT-004", "PT-005", "PT-006", "PT-007", "PT-008", "ST-010", "ST-011", "ST-012"],
    lab: false,
    jobs,
    judge,
};

pub(super) const ORDER: [usize; 5] = [1, 2, 3, 4, 5];
pub(super) const COUNTS: [usize; 4] = [2, 3, 4, 5];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = jobs_at(scope, "5", &ORDER, &[], &|_| vec![duration(scope)])?;
    for count in COUNTS {
        for way in super::WAYS {
            let set = [sockets(way, LARGE_KB), vec![duration(scope), super::links(&ORDER[..count])]].concat();
            jobs.extend(point(scope, format!("{way}/{count}"), super::FILE, Some(variant(way)), &set)?);
        }
    }
    Ok(jobs)
}

/// Share of the ideal of the first `count` pipes.
pub(super) fn share(outcomes: &Outcomes<'_>, way: &str, count: usize) -> Vec<f64> {
    ratios(&mbps(outcomes, way, &count.to_string()), &ideal(outcomes, "5", &ORDER[..count]))
}

/// Goodput by number of pipes.
pub(super) fn by_count(outcomes: &Outcomes<'_>) -> Series {
    let mut series = Series::new("pipes", "goodput, Mbit/s", &COLUMNS);
    for count in COUNTS {
        let mut cells = vec![Summary::of(&ideal(outcomes, "5", &ORDER[..count]))];
        cells.extend(super::WAYS.iter().map(|way| Summary::of(&mbps(outcomes, way, &count.to_string()))));
        series.row(count, cells);
    }
    series
}

/// The four claims that name the sum of the links' rates.
pub(super) fn sums(outcomes: &Outcomes<'_>, claims: [(&'static str, f64); 4]) -> Vec<Finding> {
    let one = |((claim, sum), count): ((&'static str, f64), usize)| {
        below_the_sum(
            claim,
            sum,
            &mbps(outcomes, "ptcp", &count.to_string()),
            &share(outcomes, "ptcp", count),
        )
    };
    claims.into_iter().zip(COUNTS).map(one).collect()
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ptcp = least(&COUNTS, |count| share(outcomes, "ptcp", count));
    let smart = least(&COUNTS, |count| share(outcomes, "smart", count));
    let unaware = COUNTS.map(|count| mbps(outcomes, "unaware", &count.to_string()));
    let means: Vec<f64> = unaware.iter().map(|values| mean(values)).collect();
    // The number of pipes with which it does best.
    let best =
        COUNTS.into_iter().zip(&means).max_by(|a, b| a.1.total_cmp(b.1)).map(|(count, _)| count as f64);
    let mut findings = sums(outcomes, [("PT-004", 7.0), ("PT-005", 7.5), ("PT-006", 8.5), ("PT-007", 18.5)]);
    findings.extend([
        Finding::shape(
            "PT-008",
            mean(&ptcp) >= 0.95,
            figures(&[("least share of ideal, 2 to 5 pipes", &ptcp)]),
        ),
        Finding::shape(
            "ST-010",
            means[1] < means[0],
            figures(&[("unaware, Mbit/s, 2 pipes", &unaware[0]), ("3 pipes", &unaware[1])]),
        ),
        Finding::values("ST-011", best.into_iter().collect())
            .because("the number of pipes with which it does best"),
        Finding::shape(
            "ST-012",
            mean(&smart) >= 0.95,
            figures(&[("least share of ideal, 2 to 5 pipes", &smart)]),
        )
        .because("near: 0.95; while one pipe repairs a loss its socket fills, and the application waits for its turn"),
    ]);
    (findings, vec![by_count(outcomes)])
}
