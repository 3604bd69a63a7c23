//! Q: T1 under other readings of what the papers leave open: length of the links' queues, delay on the way back, TCP
//! timestamps. Printed beside the main result, never in its place.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;

pub(super) const Q: Experiment = Experiment {
    id: "Q",
    title: "PRISM in T1 with other queues, with delay on the way back, with timestamps",
    claims: &["PR-001", "PR-002"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-delay-disparity";
const DIFFERENCES_MS: [u64; 6] = [0, 100, 200, 300, 400, 500];
/// Name and what it changes; the first is T1 itself.
const READINGS: [(&str, &[&str]); 6] = [
    ("50 packets", &[]),
    ("100 packets", &["links.wwan1.queue=100 packets", "links.wwan2.queue=100 packets"]),
    ("1 bdp", &["links.wwan1.queue=1 bdp", "links.wwan2.queue=1 bdp"]),
    ("unlimited", &["links.wwan1.queue=unlimited", "links.wwan2.queue=unlimited"]),
    ("delay both ways", &["links.wwan1.reverse.delay=500 ms", "links.wwan2.reverse.delay=500 ms"]),
    ("timestamps", &["flows.download.tcp.timestamps=true"]),
];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for difference in DIFFERENCES_MS {
        for (name, changes) in READINGS {
            let mut set: Vec<String> = changes.iter().map(|change| (*change).to_string()).collect();
            set.push(format!("links.wwan2.forward.delay={} ms", 500 + difference));
            jobs.extend(point(scope, format!("{name}/{difference}"), FILE, Some("prism"), &set)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = READINGS.map(|(name, _)| name);
    let quantity = "PRISM's goodput over capacity in steady state";
    let mut series = Series::new("delay difference in ms", quantity, &columns);
    for ms in DIFFERENCES_MS {
        let cell = |name: &str| outcomes.summary(&format!("{name}/{ms}"), steady_efficiency);
        series.row(ms, columns.iter().map(|name| cell(name)).collect());
    }
    (Vec::new(), vec![series])
}
