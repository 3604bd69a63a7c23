//! Q: T1 under other readings of what the papers leave open: length of the links' queues, delay on the way back, TCP
//! timestamps. Printed beside the main result, never in its place.

use super::Measure;
use super::testbed::device_queues;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, efficiency, point, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;

pub(super) const Q: Experiment = Experiment {
    id: "Q",
    title: "T1 with other queues, with delay on the way back, with timestamps",
    claims: &["PR-001", "PR-002"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-delay-disparity";
const DIFFERENCES_MS: [u64; 6] = [0, 100, 200, 300, 400, 500];
/// Name and what it changes; the first is T1 itself.
const READINGS: [(&str, &str, &[&str]); 7] = [
    ("100 packets", "prism", &[]),
    ("50 packets", "prism", &["links.wwan1.queue=50 packets", "links.wwan2.queue=50 packets"]),
    ("1 bdp", "prism", &["links.wwan1.queue=1 bdp", "links.wwan2.queue=1 bdp"]),
    ("unlimited", "prism", &["links.wwan1.queue=unlimited", "links.wwan2.queue=unlimited"]),
    ("delay both ways", "prism", &["links.wwan1.reverse.delay=500 ms", "links.wwan2.reverse.delay=500 ms"]),
    ("timestamps", "prism", &["flows.download.tcp.timestamps=true"]),
    ("Linux 2.4, unlimited", "linux24", &["links.wwan1.queue=unlimited", "links.wwan2.queue=unlimited"]),
];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for difference in DIFFERENCES_MS {
        for (name, variant, changes) in READINGS {
            let mut set = device_queues(2);
            set.extend(changes.iter().map(|change| (*change).to_string()));
            set.push(format!("links.wwan2.forward.delay={} ms", 500 + difference));
            jobs.extend(point(scope, format!("{name}/{difference}"), FILE, Some(variant), &set)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = READINGS.map(|(name, ..)| name);
    let mut tables = Vec::new();
    let quantities: [(&str, Measure); 2] = [
        ("goodput over capacity for the whole 14 MB", efficiency),
        ("goodput over capacity in steady state", steady_efficiency),
    ];
    for (quantity, of) in quantities {
        let mut series = Series::new("delay difference in ms", quantity, &columns);
        for ms in DIFFERENCES_MS {
            let cell = |name: &&str| outcomes.summary(&format!("{name}/{ms}"), of);
            series.row(ms, columns.iter().map(cell).collect());
        }
        tables.push(series);
    }
    (Vec::new(), tables)
}
