//! A channel that is good or bad: TCP goes on, an RCP receiver sleeps while it is bad.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkChange, LossModel};
use prismux_plan::{Action, FlowId, LinkId, Plan};
use prismux_trace::results::RunResult;
use prismux_units::{Duration, Probability};

pub(super) const SLEEP: Experiment = Experiment {
    id: "23d",
    title: "a channel good for 10 s in the mean (0.01 % lost), bad for 1 to 10 s (10 % lost)",
    claims: &["RC-019", "RC-020", "RC-021"],
    lab: false,
    jobs,
    judge,
};

const BAD_MEANS_S: [u64; 6] = [1, 2, 4, 6, 8, 10];
const WAYS: [&str; 2] = ["tcp", "rcp"];
const GOOD_MEAN_S: f64 = 10.0;
const DURATION: Duration = Duration::from_secs(300);
const RADIO_BPS: f64 = 2e6;
/// Power of the radio in watts. A radio that is awake and does not send listens, at the price of receiving.
const SEND_W: f64 = 1.65;
const RECEIVE_W: f64 = 1.4;
const SLEEP_W: f64 = 0.045;
/// Share of its sleep for which a radio is awake: 2 ms in each 100 ms, to hear a beacon.
const LISTENS: f64 = 0.02;

/// The scenario with a channel of its own in every run, in place of the one in the file.
fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for bad_mean_s in BAD_MEANS_S {
        for way in WAYS {
            let set = ["duration=300 s".to_string()];
            let runs = point(scope, format!("{way}/{bad_mean_s}"), "rcp-sleep", Some(way), &set)?;
            jobs.extend(runs.into_iter().map(|job| with_channel(job, bad_mean_s)));
        }
    }
    Ok(jobs)
}

fn with_channel(mut job: Job, bad_mean_s: u64) -> Job {
    let plan = &mut job.scenario.plan;
    let radio = plan.links.iter().position(|link| link.shared).unwrap_or_default();
    let (radio, download) = (LinkId::new(radio), FlowId::new(0));
    let sleeps = plan[download].transport.rcp().is_some();
    plan.events.clear();
    for (from, to) in bad_periods(job.seed, bad_mean_s) {
        channel(plan, radio, from, 0.1);
        channel(plan, radio, to, 0.0001);
        if sleeps {
            plan.event(from, Action::Sleep(download));
            plan.event(to, Action::Wake(download));
        }
    }
    job
}

fn channel(plan: &mut Plan, radio: LinkId, at: Duration, loss: f64) {
    let loss = Probability::new(loss).map(LossModel::Bernoulli);
    plan.event(at, Action::both_ways(radio, LinkChange { loss, ..LinkChange::default() }));
}

/// Bad periods until the end: beginning and end of each.
fn bad_periods(seed: u64, bad_mean_s: u64) -> Vec<(Duration, Duration)> {
    let mut random = Seed(seed).stream("channel");
    let mut draw = |mean_s: f64| exponential(&mut random, mean_s);
    let mut periods = Vec::new();
    let mut from = draw(GOOD_MEAN_S);
    while from < DURATION {
        let to = from + draw(bad_mean_s as f64);
        periods.push((from, to.min(DURATION)));
        from = to + draw(GOOD_MEAN_S);
    }
    periods
}

fn exponential(random: &mut RandomStream, mean_s: f64) -> Duration {
    let seconds = -mean_s * (1.0 - random.uniform()).ln();
    Duration::from_micros((seconds * 1e6) as u64)
}

/// Mean power of the mobile's radio in watts.
fn watts(result: &RunResult) -> Option<f64> {
    let sent_bytes = result.links.get("radio")?.reverse.as_ref()?.delivered_bytes;
    let sending_s = sent_bytes as f64 * 8.0 / RADIO_BPS;
    let slept_ms = result.nodes.get("mobile").and_then(|counters| counters.get("asleep_ms"));
    let asleep_s = slept_ms.map_or(0.0, |&ms| ms as f64 / 1e3) * (1.0 - LISTENS);
    let awake_s = result.duration_s - asleep_s - sending_s;
    Some((sending_s * SEND_W + awake_s * RECEIVE_W + asleep_s * SLEEP_W) / result.duration_s)
}

fn kbps(result: &RunResult) -> Option<f64> {
    Some(result.total.goodput_bps / 1e3)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let mean = |way: &str, bad_mean_s: u64, of: fn(&RunResult) -> Option<f64>| {
        outcomes.mean(&format!("{way}/{bad_mean_s}"), of)
    };
    let list = |of: fn(&RunResult) -> Option<f64>| {
        let text =
            |&s: &u64| format!("{}/{} at {s} s", digits(mean("rcp", s, of)), digits(mean("tcp", s, of)));
        BAD_MEANS_S.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let falls = BAD_MEANS_S.windows(2).all(|pair| mean("rcp", pair[1], watts) < mean("rcp", pair[0], watts));
    let faster = BAD_MEANS_S.iter().all(|&s| mean("rcp", s, kbps) >= mean("tcp", s, kbps));
    let cheaper = BAD_MEANS_S.iter().all(|&s| mean("rcp", s, watts) < mean("tcp", s, watts));
    let findings = vec![
        Finding::shape("RC-019", falls, list(watts)).because("mean power of RCP/TCP in W over 300 s"),
        Finding::shape("RC-020", faster, list(kbps)).because(
            "goodput of RCP/TCP in kbit/s; TCP gets something \
            through the bad channel, which a sleeper forgoes, and a sleeper notices a good channel at the next \
            beacon; what arrives at a sleeping radio is lost",
        ),
        Finding::shape("RC-021", cheaper, list(watts)).because("mean power of RCP/TCP in W"),
    ];
    let series = |quantity: &str, of: fn(&RunResult) -> Option<f64>| {
        let mut series = Series::new("mean bad period in s", quantity, &WAYS);
        for s in BAD_MEANS_S {
            series.row(s, WAYS.iter().map(|way| outcomes.summary(&format!("{way}/{s}"), of)).collect());
        }
        series
    };
    (findings, vec![series("mean power of the radio in W", watts), series("goodput in kbit/s", kbps)])
}
