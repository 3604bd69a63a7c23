//! A radio link that damages packets in both directions.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{mean, words};
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;

pub(super) const WIRELESS_LOSS: Experiment = Experiment {
    id: "23a",
    title: "one flow, 2 Mbit/s and 15 ms of radio behind 10 Mbit/s and 50 ms, 0.01 to 10 % damaged",
    claims: &["RC-008", "RC-009", "RC-010", "RC-011"],
    lab: false,
    jobs,
    judge,
};

const PERCENT: [f64; 9] = [0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
const WAYS: [&str; 5] = ["tcp", "tcp-eln", "tcp-eln-sack", "rcp", "rcp-eln"];

/// Another reading of the setting, tried to refute a cause at [`TRIED_PERCENT`].
struct Reading {
    name: &'static str,
    set: &'static [&'static str],
}

const ONE_WAY: Reading =
    Reading { name: "damage on the way to the host alone", set: &["links.radio.reverse={ corrupt = 0 }"] };
const AGENT: Reading = Reading {
    name: "ns-2's Sack1 without the improvements",
    set: &["flows.download.tcp.rfc6675=false", "flows.download.tcp.forget_sacks=false"],
};
const QUICK_TIMER: Reading =
    Reading { name: "a least timeout of 200 ms", set: &["flows.download.tcp.min_rto=200 ms"] };
const FAR: Reading = Reading { name: "a round trip of 0.2 s", set: &["links.backbone.delay=84 ms"] };
const READINGS: [&Reading; 4] = [&ONE_WAY, &AGENT, &QUICK_TIMER, &FAR];
const TRIED_PERCENT: [f64; 2] = [5.0, 10.0];
const TRIED_WAYS: [&str; 3] = ["tcp", "tcp-eln", "rcp"];

impl Reading {
    fn key(&self, way: &str, percent: f64) -> String {
        format!("{way}, {}/{percent}", self.name)
    }

    fn jobs(&self, scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
        let mut jobs = Vec::new();
        for (percent, way) in TRIED_PERCENT.into_iter().flat_map(|p| TRIED_WAYS.map(|way| (p, way))) {
            let mut set = vec![format!("links.radio.corrupt={percent} %")];
            set.extend(self.set.iter().map(|change| (*change).to_string()));
            jobs.extend(point(scope, self.key(way, percent), "rcp-wireless-loss", Some(way), &set)?);
        }
        Ok(jobs)
    }

    /// One way's goodput over another's, in words.
    fn tried(&self, outcomes: &Outcomes<'_>, way: &str, other: &str) -> String {
        let of = |way: &str, percent| outcomes.values(&self.key(way, percent), steady);
        let at = |percent: f64| {
            format!("{} at {percent} %", words(&ratios(&of(way, percent), &of(other, percent))))
        };
        format!("{} with {}", TRIED_PERCENT.map(at).join(", "), self.name)
    }
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for percent in PERCENT {
        for way in WAYS {
            let set = [format!("links.radio.corrupt={percent} %")];
            jobs.extend(point(scope, format!("{way}/{percent}"), "rcp-wireless-loss", Some(way), &set)?);
        }
    }
    for reading in READINGS {
        jobs.extend(reading.jobs(scope)?);
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let of = |way: &str, percent: f64| outcomes.values(&format!("{way}/{percent}"), steady);
    let over = |way: &str, other: &str, percent: f64| ratios(&of(way, percent), &of(other, percent));
    let ratio = |way: &str, other: &str, percent: f64| mean(&over(way, other, percent));
    let list = |way: &str, other: &str, within: &dyn Fn(f64) -> bool| {
        let text = |percent: &f64| format!("{} at {percent} %", words(&over(way, other, *percent)));
        PERCENT.iter().filter(|percent| within(**percent)).map(text).collect::<Vec<_>>().join(", ")
    };
    let (middle, high) = (|percent: f64| (0.2..=2.0).contains(&percent), |percent: f64| percent >= 2.0);
    let all = |_: f64| true;
    let helps = PERCENT.iter().filter(|p| middle(**p)).all(|&p| ratio("tcp-eln", "tcp", p) >= 1.1);
    let fades =
        ratio("tcp-eln", "tcp", 10.0) < 1.1 && ratio("tcp-eln", "tcp", 10.0) < ratio("tcp-eln", "tcp", 2.0);
    let lossy = || PERCENT.iter().copied().filter(|&percent| percent >= 0.5);
    let never_worse = PERCENT.iter().all(|&p| ratio("rcp-eln", "tcp-eln", p) >= 0.98);
    let better = never_worse && lossy().all(|p| ratio("rcp-eln", "tcp-eln", p) >= 1.1);
    let rcp_better = PERCENT.iter().all(|&p| ratio("rcp", "tcp", p) >= 0.98)
        && lossy().all(|p| ratio("rcp", "tcp", p) > 1.0)
        && ratio("rcp", "tcp", 10.0) > ratio("rcp", "tcp", 0.5);
    let sack = list("tcp-eln-sack", "tcp", &|percent| percent >= 0.2);
    let tried = |readings: &[&Reading], way: &str, other: &str| {
        readings.iter().map(|reading| reading.tried(outcomes, way, other)).collect::<Vec<_>>().join("; ")
    };
    let findings = vec![
        Finding::shape("RC-008", helps, list("tcp-eln", "tcp", &middle)).because(format!(
            "ns-2's TCP-ELN (upon NewReno) over TCP with SACK as the source improved it, at least a tenth more. \
             While it waits for the segment that it has sent anew it sends nothing else, and the queue of 50 packets \
             feeds the link meanwhile, as it does while a halved window grows again. With other readings: upon \
             SACK, where new data goes on, {sack}"
        )),
        Finding::shape("RC-009", fades, list("tcp-eln", "tcp", &high)).because(format!(
            "none: less than a tenth at 10 %, and less than at 2 %. With other readings: {}. Upon SACK it does not \
             fade: {}",
            tried(&[&ONE_WAY, &AGENT, &QUICK_TIMER, &FAR], "tcp-eln", "tcp"),
            list("tcp-eln-sack", "tcp", &high)
        )),
        Finding::shape("RC-010", better, list("rcp-eln", "tcp-eln", &all)).because(format!(
            "RCP-ELN over TCP-ELN; much: at least a tenth more from 0.5 % on; over TCP-ELN upon SACK: {}",
            list("rcp-eln", "tcp-eln-sack", &all)
        )),
        Finding::shape("RC-011", rcp_better, list("rcp", "tcp", &all)).because(format!(
            "RCP over TCP with SACK as the source improved it: more from 0.5 % on, and more at 10 % than there. Both \
             repair by the same rules; a lost report is repeated by the next one, while a repair asked for needs its \
             request too, and few requests follow in a small window. With other readings: {}",
            tried(&READINGS, "rcp", "tcp")
        )),
    ];
    let mut series = Series::new("damaged packets in percent", "goodput in steady state, kbit/s", &WAYS);
    for percent in PERCENT {
        let cell = |way: &&str| {
            outcomes.summary(&format!("{way}/{percent}"), |result| steady(result).map(|bps| bps / 1e3))
        };
        series.row(percent, WAYS.iter().map(cell).collect());
    }
    (findings, vec![series])
}
