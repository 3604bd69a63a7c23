//! A satellite link with a crowded way back: NewReno and STP, sender- and receiver-driven.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_trace::results::RunResult;

pub(super) const SATELLITE: Experiment = Experiment {
    id: "23c",
    title: "1.5 Mbit/s by satellite, 50 to 250 ms, an upload and web traffic beside the download",
    claims: &["RC-015", "RC-016", "RC-017"],
    lab: false,
    jobs,
    judge,
};

const DELAYS_MS: [u64; 5] = [50, 100, 150, 200, 250];
const WAYS: [&str; 5] = ["tcp", "tcp-sack", "stp", "rcp", "rcp-stp"];
/// Much better: by a tenth or more.
const MUCH: f64 = 1.1;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for ms in DELAYS_MS.into_iter().filter(|ms| !scope.quick || [50, 150, 250].contains(ms)) {
        for way in WAYS {
            let set = [format!("links.satellite.delay={ms} ms")];
            jobs.extend(point(scope, format!("{way}/{ms}"), "rcp-satellite", Some(way), &set)?);
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
    let kbps = |way: &str, ms: u64| outcomes.mean(&format!("{way}/{ms}"), download_kbps);
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
    let turned = all(&|ms| kbps("rcp-stp", ms) > kbps("stp", ms));
    let findings = vec![
        Finding::shape("RC-015", much, list(&["tcp", "rcp", "stp"])).because(
            "much better: by a tenth at every delay. STP's algorithm is not in the source; as rebuilt its \
                window grows and halves as NewReno's \
             does, and its reports come a sixth of a round trip later. NewReno suffers little here: \
             acknowledgements are \
             cumulative, and a way back crowded by one upload and browsers loses few of them in a row. What STP \
             spares is that way back",
        ),
        Finding::shape("RC-016", poor, list(&["tcp", "rcp", "rcp-stp"]))
            .because("poor: a tenth below RCP-STP at every delay; for the causes above neither is"),
        Finding::shape("RC-017", turned, list(&["stp", "rcp-stp"])).because(
            "at every delay; RCP-STP's reports are the data themselves, which shows on long paths; why it stays \
                behind on short ones \
             was not found",
        ),
    ];
    let mut series =
        Series::new("delay of the satellite link in ms", "goodput of the download, kbit/s", &WAYS);
    for ms in points {
        let cell = |way: &&str| outcomes.summary(&format!("{way}/{ms}"), download_kbps);
        series.row(ms, WAYS.iter().map(cell).collect());
    }
    (findings, vec![series])
}
