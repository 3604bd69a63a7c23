//! Two pipes whose round trips differ: what arrives, and how full the buffer is that they share.

use super::{APPS, IDEAL, WAYS, WINDOW_KB, nearly_full_percent, point_of};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, steady, steady_efficiency};
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

/// Other readings of the second pipe's rate and of the buffer, which the source does not state: 64 kB for each pipe,
/// and slower second pipes with a buffer of the sum of the rates times the longest round trip, and a fifth more.
const READINGS: [(&str, u64, u64); 4] = [
    ("128 kB", 4, 128),
    ("4 and 3 Mbit/s, 220 kB", 3, 220),
    ("4 and 2 Mbit/s, 190 kB", 2, 190),
    ("4 and 2 Mbit/s, 128 kB", 2, 128),
];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for ms in ROUND_TRIPS_MS {
        let set = |mbps: u64| {
            vec![
                format!("links.path2.delay={} ms", ms / 2),
                format!("links.path2.rate={mbps} Mbit/s"),
                "links.*.queue=1 bdp".to_string(),
            ]
        };
        for way in WAYS {
            let key = format!("{way}/{ms}");
            jobs.extend(point_of(scope, key, ("r2cp-round-trips", way), &set(4), WINDOW_KB)?);
        }
        for way in ["r2cp", "r2cp-s", APPS] {
            for (name, mbps, kb) in READINGS {
                let key = format!("{way}, {name}/{ms}");
                jobs.extend(point_of(scope, key, ("r2cp-round-trips", way), &set(mbps), kb)?);
            }
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
    let ratio = last_good("r2cp-s");
    let text = |ratio: Option<f64>| ratio.map_or_else(|| "none".to_string(), digits);
    let by_reading: Vec<String> = READINGS
        .iter()
        .map(|(name, ..)| {
            let [simple, ranked] = ["r2cp-s", "r2cp"].map(|way| text(last_good(&format!("{way}, {name}"))));
            format!("{simple}, of R²CP itself {ranked} ({name})")
        })
        .collect();
    let mean_full =
        |way: &str| ROUND_TRIPS_MS.iter().map(|&ms| full(way, ms)).sum::<f64>() / ROUND_TRIPS_MS.len() as f64;
    let most = mean_full("apps") > mean_full("r2cp-s") && mean_full("apps") > mean_full("r2cp");
    let (near_ms, far_ms) = (ROUND_TRIPS_MS[0], ROUND_TRIPS_MS[ROUND_TRIPS_MS.len() - 1]);
    let grows = full("r2cp-s", near_ms) < 5.0 && full("r2cp-s", far_ms) > full("r2cp-s", near_ms) + 5.0;
    let low = full("r2cp", far_ms) < 10.0;
    let percent = "percent of arrivals that found the buffer three quarters full";
    let crowded: Vec<String> = READINGS.iter().map(|(name, ..)| crowding_text(outcomes, name)).collect();
    let waiting = format!(
        "percent of arrivals; of R²CP what waits for a gap is counted, of an application what its connection holds \
         unread. Equal pipes drain equal send buffers alike, so only the difference of their delays is held. With \
         other rates and buffers, from {near_ms} to {far_ms} ms: {}",
        crowded.join("; ")
    );
    let findings = vec![
        Finding::shape("R2-011", near, list("r2cp", &share))
            .because("share of the ideal by round trip of the second pipe"),
        Finding::values("R2-012", ratio.into_iter().collect()).because(format!(
            "largest ratio up to which {IDEAL} of the ideal are reached, over all seeds. Rates and buffer are not \
             stated: here 4 Mbit/s each and the sum of the rates times the longest round trip, and a fifth more: {}. \
             Refuted: that another buffer or rate alone brings the source's 3 while R²CP stays near the ideal: {}",
            list("r2cp-s", &share),
            by_reading.join("; ")
        )),
        Finding::shape("R2-013", most, list("apps", &full)).because(waiting.clone()),
        Finding::shape("R2-014", grows, list("r2cp-s", &full)).because(format!(
            "{waiting}. What has been asked for has its room reserved, so that what waits can fill the rest at most: \
             with 64 kB for each pipe (section 4.2.5) and a second one of 2 Mbit/s the growth appears, and R²CP no \
             longer reaches {IDEAL} of the ideal at the far end"
        )),
        Finding::shape("R2-015", low, list("r2cp", &full)).because(percent),
    ];
    (findings, vec![goodputs(outcomes), crowding(outcomes)])
}

/// How many arrivals find the buffer three quarters full by one reading, at the ends of the range.
fn crowding_text(outcomes: &Outcomes<'_>, reading: &str) -> String {
    let full =
        |way: &str, ms: u64| digits(outcomes.mean(&format!("{way}, {reading}/{ms}"), nearly_full_percent));
    let [near, far] = [ROUND_TRIPS_MS[0], ROUND_TRIPS_MS[ROUND_TRIPS_MS.len() - 1]];
    let range = |way: &str| format!("{way} {} to {}", full(way, near), full(way, far));
    format!("{} ({reading})", ["r2cp", "r2cp-s", APPS].map(range).join(", "))
}

fn goodputs(outcomes: &Outcomes<'_>) -> Series {
    let columns = ["ideal", "r2cp", "r2cp-s", "dealt", "apps"];
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
