//! Two pipes whose round trips differ: what arrives, and how full the buffer is that they share.

use super::{IDEAL, WAYS, nearly_full_percent, once};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, steady, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_trace::results::RunResult;

pub(super) const ROUND_TRIPS: Experiment = Experiment {
    id: "30b",
    title: "4 Mbit/s each, 30 ms and 30 to 210 ms",
    claims: &["R2-011", "R2-012", "R2-013", "R2-014", "R2-015"],
    lab: false,
    jobs,
    judge,
};

/// The first pipe's round trip, and the second's.
const FIRST_MS: u64 = 30;
const ROUND_TRIPS_MS: [u64; 7] = [30, 60, 90, 120, 150, 180, 210];

/// Another reading of the buffer, which the source does not state: 64 kB for each pipe.
const SMALL_BUFFER: &str = "flows.download.tcp.window=128 kB";

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for ms in ROUND_TRIPS_MS {
        for way in WAYS {
            let set = [format!("links.path2.delay={} ms", ms / 2)];
            jobs.extend(point(&once(scope), format!("{way}/{ms}"), "r2cp-round-trips", Some(way), &set)?);
        }
        for way in ["r2cp", "r2cp-s"] {
            let set = [format!("links.path2.delay={} ms", ms / 2), SMALL_BUFFER.to_string()];
            let key = format!("{way} small/{ms}");
            jobs.extend(point(&once(scope), key, "r2cp-round-trips", Some(way), &set)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let share = |way: &str, ms: u64| outcomes.mean(&format!("{way}/{ms}"), steady_efficiency);
    let full = |way: &str, ms: u64| outcomes.mean(&format!("{way}/{ms}"), nearly_full_percent);
    let list = |way: &str, of: &dyn Fn(&str, u64) -> f64| {
        let text = |ms: &u64| format!("{} at {ms} ms", digits(of(way, *ms)));
        ROUND_TRIPS_MS.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let near = ROUND_TRIPS_MS.iter().all(|&ms| share("r2cp", ms) >= IDEAL);
    let last_good = |way: &str| {
        let last = ROUND_TRIPS_MS.iter().take_while(|ms| share(way, **ms) >= IDEAL).last();
        last.map(|&ms| ms as f64 / FIRST_MS as f64)
    };
    let (ratio, small_ratio) = (last_good("r2cp-s"), last_good("r2cp-s small"));
    let mean_full =
        |way: &str| ROUND_TRIPS_MS.iter().map(|&ms| full(way, ms)).sum::<f64>() / ROUND_TRIPS_MS.len() as f64;
    let most = mean_full("apps") > mean_full("r2cp-s") && mean_full("apps") > mean_full("r2cp");
    let (near_ms, far_ms) = (ROUND_TRIPS_MS[0], ROUND_TRIPS_MS[ROUND_TRIPS_MS.len() - 1]);
    let grows = full("r2cp-s", near_ms) < 5.0 && full("r2cp-s", far_ms) > full("r2cp-s", near_ms) + 5.0;
    let low = full("r2cp", far_ms) < 10.0;
    let percent = "percent of arrivals that found the buffer three quarters full";
    let waiting = "percent of arrivals; what waits for a gap is counted, and of two equal pipes only the \
        quicker one's data waits: room for \
                   the other's is reserved, so three quarters are hardly ever reached";
    let findings = vec![
        Finding::shape("R2-011", near, list("r2cp", &share))
            .because("share of the ideal by round trip of the second pipe"),
        Finding::values("R2-012", ratio.into_iter().collect()).because(format!(
            "largest ratio with {IDEAL} of the ideal; it depends on the buffer, which is not stated: here \
                    the sum of the rates times \
                 the longest round trip, and a fifth more; {}. With 64 kB for each pipe the ratio is {}, but \
                 then R²CP itself is not \
                 near the ideal: {}",
            list("r2cp-s", &share),
            small_ratio.map_or_else(|| "none".to_string(), digits),
            list("r2cp small", &share)
        )),
        Finding::shape("R2-013", most, list("apps", &full)).because(waiting),
        Finding::shape("R2-014", grows, list("r2cp-s", &full)).because(waiting),
        Finding::shape("R2-015", low, list("r2cp", &full)).because(percent),
    ];
    (findings, vec![goodputs(outcomes), crowding(outcomes)])
}

fn goodputs(outcomes: &Outcomes<'_>) -> Series {
    let columns = ["ideal", "r2cp", "r2cp-s", "apps"];
    let mut series = Series::new("second round trip in ms", "goodput in steady state, Mbit/s", &columns);
    let ideal = |result: &RunResult| Some(result.total.capacity_bps / 1e6);
    for ms in ROUND_TRIPS_MS {
        let mut row = vec![outcomes.summary(&format!("r2cp/{ms}"), ideal)];
        let cell = |way: &&str| {
            outcomes.summary(&format!("{way}/{ms}"), |result| steady(result).map(|bps| bps / 1e6))
        };
        row.extend(WAYS.iter().map(cell));
        series.row(ms, row);
    }
    series
}

fn crowding(outcomes: &Outcomes<'_>) -> Series {
    let quantity = "percent of arrivals that found the buffer three quarters full";
    let mut series = Series::new("second round trip in ms", quantity, &WAYS);
    for ms in ROUND_TRIPS_MS {
        let cell = |way: &&str| outcomes.summary(&format!("{way}/{ms}"), nearly_full_percent);
        series.row(ms, WAYS.iter().map(cell).collect());
    }
    series
}
