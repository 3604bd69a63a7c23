//! A satellite link with a crowded way back: NewReno and STP, sender- and receiver-driven.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, is_not_below};
use crate::claims::plan::{Job, Outcomes, Scope, point, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_trace::results::RunResult;

pub(super) const SATELLITE: Experiment = Experiment {
    id: "23c",
    title: "1.5 Mbit/s by satellite, 50 to 250 ms, uploads and web traffic beside the download",
    claims: &["RC-015", "RC-016", "RC-017"],
    lab: false,
    jobs,
    judge,
};

const DELAYS_MS: [u64; 5] = [50, 100, 150, 200, 250];
/// The last is another reading of RCP-STP: its grants are spread.
const WAYS: [&str; 6] = ["tcp", "tcp-sack", "stp", "rcp", "rcp-stp", SPREAD];
const SPREAD: &str = "rcp-stp-spread";
/// What the source does not state: the number of uploads, the queue of the satellite link, and how often STP reports.
/// Judged with the scenario's.
const READINGS: [(&str, &[&str]); 4] = [
    ("1 upload, 50 packets", &["flows.upload.count=1", "links.satellite.queue=50 packets"]),
    ("10 uploads, 20 packets", &["flows.upload.count=10"]),
    ("6 reports in a round trip", &["flows.download.tcp.polls_per_rtt=6"]),
    ("12 reports in a round trip", &["flows.download.tcp.polls_per_rtt=12"]),
];
/// Much better: by a tenth or more.
const MUCH: f64 = 1.1;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for ms in DELAYS_MS.into_iter().filter(|ms| !scope.quick || [50, 150, 250].contains(ms)) {
        let delay = format!("links.satellite.delay={ms} ms");
        for way in WAYS {
            let set = [delay.clone()];
            jobs.extend(point(scope, format!("{way}/{ms}"), "rcp-satellite", Some(way), &set)?);
            for (name, changes) in READINGS {
                let mut set: Vec<String> = changes.iter().map(|change| (*change).to_string()).collect();
                set.push(delay.clone());
                let key = format!("{way}, {name}/{ms}");
                jobs.extend(point(scope, key, "rcp-satellite", Some(way), &set)?);
            }
        }
    }
    Ok(jobs)
}

/// Of the download, in kbit/s.
fn download_kbps(result: &RunResult) -> Option<f64> {
    let flow = result.flows.get("download")?;
    flow.steady_goodput_bps.or_else(|| steady(result)).map(|bps| bps / 1e3)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |ms: &u64| !outcomes.results(&format!("stp/{ms}")).is_empty();
    let points: Vec<u64> = DELAYS_MS.into_iter().filter(ran).collect();
    let kbps = |way: &str, ms: u64| mean_kbps(outcomes, way, ms);
    let list = |ways: &[&str]| {
        let at = |ms: &u64| {
            let of: Vec<String> = ways.iter().map(|way| digits(kbps(way, *ms))).collect();
            format!("{} at {ms} ms", of.join("/"))
        };
        format!("kbit/s of {}: {}", ways.join("/"), points.iter().map(at).collect::<Vec<_>>().join(", "))
    };
    let all = |holds: &dyn Fn(u64) -> bool| !points.is_empty() && points.iter().all(|&ms| holds(ms));
    let much = all(&|ms| kbps("stp", ms) >= MUCH * kbps("tcp", ms).max(kbps("rcp", ms)));
    let poor = all(&|ms| MUCH * kbps("tcp", ms).max(kbps("rcp", ms)) <= kbps("rcp-stp", ms));
    let of = |way: &str, ms: u64| outcomes.values(&format!("{way}/{ms}"), download_kbps);
    let whole = |way: &str| -> Vec<f64> {
        let columns: Vec<Vec<f64>> = points.iter().map(|&ms| of(way, ms)).collect();
        let seeds = columns.iter().map(Vec::len).min().unwrap_or(0);
        (0..seeds).map(|seed| columns.iter().map(|column| column[seed]).sum()).collect()
    };
    let turned = all(&|ms| is_not_below(&of("rcp-stp", ms), &of("stp", ms)))
        && is_above(&whole("rcp-stp"), &whole("stp"));
    let abstract_says = format!(
        "much: by a tenth at every delay. Its own paper says that STP \"performs comparably to TCP-Sack in terms of \
         forward throughput\" (T. Henderson, R. Katz, WOSBIS 1997, abstract) and spares the way back; as rebuilt it \
         does. {}; {}",
        by_reading(outcomes, &points),
        with_grants_spread(outcomes, &points)
    );
    let findings = vec![
        Finding::shape("RC-015", much, list(&["tcp", "rcp", "stp"])).because(abstract_says.clone()),
        Finding::shape("RC-016", poor, list(&["tcp", "rcp", "rcp-stp"]))
            .because(format!("poor: a tenth below RCP-STP at every delay; {abstract_says}")),
        Finding::shape("RC-017", turned, list(&["stp", "rcp-stp"])).because(format!(
            "paired over seeds: better over all delays together, worse at none. RCP-STP's reports are the data \
             themselves; a request asks for up to a third of a window, which its sender sends at once. More, smaller \
             requests spread it: see the figures of RC-016 with other readings; {}",
            with_grants_spread(outcomes, &points)
        )),
    ];
    (findings, tables(outcomes, &points))
}

/// Mean goodput of the download in kbit/s.
fn mean_kbps(outcomes: &Outcomes<'_>, way: &str, ms: u64) -> f64 {
    outcomes.mean(&format!("{way}/{ms}"), download_kbps)
}

/// STP and RCP-STP over the better of both NewRenos in the other readings, by delay.
fn by_reading(outcomes: &Outcomes<'_>, points: &[u64]) -> String {
    let text = |(name, _): &(&str, &[&str])| {
        let at = |ms: &u64| {
            let of = |way: &str| mean_kbps(outcomes, &format!("{way}, {name}"), *ms);
            let newreno = of("tcp").max(of("rcp"));
            format!("{}/{}", digits(of("stp") / newreno), digits(of("rcp-stp") / newreno))
        };
        format!("{} ({name})", points.iter().map(at).collect::<Vec<_>>().join(", "))
    };
    format!(
        "With other readings, STP/RCP-STP over the better NewReno by delay: {}",
        READINGS.iter().map(text).collect::<Vec<_>>().join("; ")
    )
}

/// RCP-STP whose grants are spread, over STP and over the better of both NewRenos, by delay.
fn with_grants_spread(outcomes: &Outcomes<'_>, points: &[u64]) -> String {
    let by_delay = |other: &dyn Fn(u64) -> f64| {
        let share = |ms: &u64| digits(mean_kbps(outcomes, SPREAD, *ms) / other(*ms));
        points.iter().map(share).collect::<Vec<_>>().join(", ")
    };
    let kbps = |way: &str, ms: u64| mean_kbps(outcomes, way, ms);
    format!(
        "asked for segment by segment over a third of a round trip (rcp-stp-spread) by delay {} times STP, {} times \
         the better NewReno",
        by_delay(&|ms| kbps("stp", ms)),
        by_delay(&|ms| kbps("tcp", ms).max(kbps("rcp", ms)))
    )
}

/// What is judged by, then the other readings.
fn tables(outcomes: &Outcomes<'_>, points: &[u64]) -> Vec<Series> {
    let table = |suffix: &str, quantity: &str| {
        let mut series = Series::new("delay of the satellite link in ms", quantity, &WAYS);
        for &ms in points {
            let cell = |way: &&str| outcomes.summary(&format!("{way}{suffix}/{ms}"), download_kbps);
            series.row(ms, WAYS.iter().map(cell).collect());
        }
        series
    };
    let mut tables = vec![table("", "goodput of the download, kbit/s")];
    for (name, _) in READINGS {
        tables.push(table(&format!(", {name}"), &format!("goodput of the download, kbit/s; {name}")));
    }
    tables
}
