//! Two pipes whose rates differ.

use super::{APPS, IDEAL, WAYS, WINDOW_KB, point_of};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, steady, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_trace::results::RunResult;

pub(super) const RATES: Experiment = Experiment {
    id: "30a",
    title: "4 Mbit/s and 1 to 6 Mbit/s, 30 ms each",
    claims: &["R2-008", "R2-009", "R2-010"],
    lab: false,
    jobs,
    judge,
};

const MBPS: [u64; 6] = [1, 2, 3, 4, 5, 6];
const EQUAL: u64 = 4;
/// Other buffers of all together, in kB: the default of section 4.2.5 for each of two connections, and one that never
/// binds.
const OTHER_KB: [u64; 2] = [128, 500];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for mbps in MBPS {
        let set = [format!("links.path2.rate={mbps} Mbit/s")];
        for way in WAYS {
            jobs.extend(point_of(scope, format!("{way}/{mbps}"), ("r2cp-rates", way), &set, WINDOW_KB)?);
        }
        for kb in OTHER_KB {
            for way in ["r2cp", "r2cp-s", APPS] {
                let key = format!("{way}, {kb} kB/{mbps}");
                jobs.extend(point_of(scope, key, ("r2cp-rates", way), &set, kb)?);
            }
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let share = |way: &str, mbps: u64| outcomes.mean(&format!("{way}/{mbps}"), steady_efficiency);
    let list = |way: &str| {
        let text = |mbps: &u64| format!("{} at {mbps}", digits(share(way, *mbps)));
        MBPS.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let ideal = |way: &str| MBPS.iter().all(|&mbps| share(way, mbps) >= IDEAL);
    let unequal = || MBPS.iter().copied().filter(|&mbps| mbps != EQUAL);
    let others = |way: &str| {
        OTHER_KB.map(|kb| format!("{kb} kB {}", list(&format!("{way}, {kb} kB")))).join("; with ")
    };
    let behind = unequal().all(|mbps| share("apps", mbps) < IDEAL);
    let findings = vec![
        Finding::shape("R2-008", ideal("r2cp"), list("r2cp"))
            .because(format!("share of the ideal by Mbit/s of the second pipe; with {}", others("r2cp"))),
        Finding::shape("R2-009", ideal("r2cp-s"), list("r2cp-s"))
            .because(format!("the same; with {}", others("r2cp-s"))),
        Finding::shape("R2-010", behind, list("apps"))
            .because(format!(
                "the same, at every rate but the first pipe's, with which two pipes stay in step; of an application \
                 over two RCP connections that share the buffer of figure 30 in halves, {} kB each, read in order. \
                 Buffers bridge a small difference of rates: with {}. R²CP that deals segments one to one: {}",
                WINDOW_KB / 2,
                others(APPS),
                list("dealt")
            )),
    ];
    (findings, vec![series(outcomes)])
}

fn series(outcomes: &Outcomes<'_>) -> Series {
    let columns = ["ideal", "r2cp", "r2cp-s", "dealt", "apps"];
    let mut series = Series::new("second pipe in Mbit/s", "goodput in steady state, Mbit/s", &columns);
    let ideal = |result: &RunResult| Some(result.total.capacity_bps / 1e6);
    for mbps in MBPS {
        let mut row = vec![outcomes.summary(&format!("r2cp/{mbps}"), ideal)];
        let cell = |way: &&str| {
            outcomes.summary(&format!("{way}/{mbps}"), |result| steady(result).map(|bps| bps / 1e6))
        };
        row.extend(WAYS.iter().map(cell));
        series.row(mbps, row);
    }
    series
}
