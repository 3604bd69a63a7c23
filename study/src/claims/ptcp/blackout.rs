//! One of two pipes goes dark for 25 s.

use super::{figures, links, mean, throughput};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const BLACKOUT: Experiment = Experiment {
    id: "P6",
    title: "2 Mbit/s dark from 25 s to 50 s, 5 Mbit/s beside it",
    claims: &["PT-016", "PT-017", "ST-005", "ST-016"],
    lab: false,
    jobs,
    judge,
};

const WAYS: [&str; 2] = ["ptcp", "smart"];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for way in WAYS {
        let mut set = vec![
            links(&[1, 2]),
            "duration=80 s".to_string(),
            "events=[{at = \"25 s\", link = \"pipe1\", up = false}, {at = \"50 s\", link = \"pipe1\", up = true}]"
                .to_string(),
        ];
        set.extend(super::sockets(way, super::LARGE_KB));
        jobs.extend(point(scope, way, super::FILE, Some(way), &set)?);
    }
    Ok(jobs)
}

/// Mean throughput of a link between two times, one value for each seed.
fn during(outcomes: &Outcomes<'_>, way: &str, link: &str, from_s: f64, to_s: f64) -> Vec<f64> {
    outcomes.values(way, |result| Some(mean(&throughput(result, link, from_s, to_s))))
}

/// The longest time in the dark without a sample of the application's goodput above 1 Mbit/s, in seconds.
fn longest_gap(outcomes: &Outcomes<'_>, way: &str) -> Vec<f64> {
    outcomes.values(way, |result| {
        let series = result.series.as_ref()?;
        let index = |seconds: f64| (seconds / series.interval_s) as usize;
        let samples = series.flows.get("upload")?.goodput_bps.get(index(25.0)..index(50.0))?;
        let longest = samples.split(|bps| *bps > 1e6).map(<[f64]>::len).max().unwrap_or(0);
        Some(longest as f64 * series.interval_s)
    })
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let of = |way: &str, link: &str| during(outcomes, way, link, 25.0, 50.0);
    let (ptcp, smart) = (of("ptcp", "pipe2"), of("smart", "pipe2"));
    let before = during(outcomes, "ptcp", "pipe2", 15.0, 25.0);
    let smart_before = during(outcomes, "smart", "pipe2", 15.0, 25.0);
    let (gap, dark) = (longest_gap(outcomes, "ptcp"), of("ptcp", "pipe1"));
    let stalls = mean(&smart) < 0.1 * mean(&smart_before);
    let goes_on = mean(&ptcp) > 0.9 * mean(&before) && mean(&gap) < 2.0;
    let findings = vec![
        Finding::shape(
            "PT-016",
            goes_on,
            figures(&[
                ("pipe 2 in the dark, Mbit/s", &ptcp),
                ("before", &before),
                ("longest wait of the application, s", &gap),
            ]),
        ),
        Finding::shape("PT-017", mean(&dark) < 0.05, figures(&[("pipe 1 in the dark, Mbit/s", &dark)])),
        Finding::shape(
            "ST-005",
            stalls,
            figures(&[
                ("smart, pipe 2 in the dark, Mbit/s", &smart),
                ("before", &smart_before),
                ("longest wait of the application, s", &longest_gap(outcomes, "smart")),
            ]),
        ),
        Finding::shape(
            "ST-016",
            stalls,
            figures(&[("pipe 2 in the dark, Mbit/s", &smart), ("before", &smart_before)]),
        ),
    ];
    (findings, vec![in_time(outcomes)])
}

/// Both pipes of both ways, second by second.
fn in_time(outcomes: &Outcomes<'_>) -> Series {
    let columns = ["pTCP, pipe 1", "pTCP, pipe 2", "smart, pipe 1", "smart, pipe 2"];
    let mut series = Series::new("time, s", "throughput, Mbit/s", &columns);
    for second in 15..80 {
        let (from, to) = (f64::from(second), f64::from(second + 1));
        let cell = |way: &str, link: &str| Summary::of(&during(outcomes, way, link, from, to));
        let cells = WAYS.iter().flat_map(|way| ["pipe1", "pipe2"].map(|link| cell(way, link))).collect();
        series.row(second + 1, cells);
    }
    series
}
