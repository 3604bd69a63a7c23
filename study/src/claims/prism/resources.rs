//! Memory, energy, and claims that other programs answer.

use super::{design, scheduling_cost};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

pub(super) const MEMORY: Experiment = Experiment {
    id: "M",
    title: "held ACKs at 5 Mbit/s and 120 ms",
    claims: &["PR-054", "PR-055"],
    lab: false,
    jobs: memory_jobs,
    judge: judge_memory,
};

pub(super) const ENERGY: Experiment = Experiment {
    id: "E",
    title: "energy of a 10 MB upload, by arithmetic",
    claims: &["PR-059", "PR-060", "PR-061", "PR-062", "PR-063"],
    lab: true,
    jobs: |_| Ok(Vec::new()),
    judge: |_| (judge_energy(), Vec::new()),
};

pub(super) const OTHER: Experiment = Experiment {
    id: "O",
    title: "claims that no run of a network answers",
    claims: &["PR-018", "PR-052", "PR-053", "PR-057"],
    lab: true,
    jobs: |_| Ok(Vec::new()),
    judge: |_| (judge_other(), Vec::new()),
};

/// An ACK with its headers, as the papers count.
const ACK_BYTES: f64 = 60.0;

fn memory_jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let set: Vec<String> = [
        "nodes.proxy.profile=paper",
        "duration=30 s",
        "events=[]",
        "links.wwan1.rate=3750 kbit/s",
        "links.wwan2.rate=1250 kbit/s",
        "links.wwan1.delay=60 ms",
        "links.wwan2.delay=60 ms",
        "links.wwan1.jitter=1 ms",
        "links.wwan2.jitter=1 ms",
        "flows.download.profile=linux-2.4",
        "flows.download.transport=tcp-prism",
        "flows.download.tcp.window=500 kB",
        "measure.interval=5 ms",
    ]
    .map(String::from)
    .to_vec();
    point(scope, "memory", "two-members", None, &set)
}

fn judge_memory(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let bytes = outcomes.values("memory", |result| most_held(result).map(|acks| acks * ACK_BYTES));
    let megabytes = bytes.iter().map(|bytes| bytes * 20_000.0 / 1e6).collect();
    let remark = "most ACKs held at any sampled moment, 60 B each";
    let findings = vec![
        Finding::values("PR-054", bytes).because(remark),
        Finding::values("PR-055", megabytes).because(remark),
    ];
    (findings, Vec::new())
}

fn most_held(result: &RunResult) -> Option<f64> {
    let held = &result.series.as_ref()?.flows.get("download")?.held_acks;
    held.iter().max().map(|most| *most as f64)
}

/// Time and energy of an upload: 10 MB over 600 kbit/s, alone and with a neighbour's equal link.
fn judge_energy() -> Vec<Finding> {
    const WWAN_W: f64 = 1.29;
    const WLAN_W: f64 = 1.4;
    const SYSTEM_W: f64 = 8.23;
    let alone_s = 10e6 * 8.0 / 600e3;
    let shared_s = alone_s / 2.0;
    let remark = "arithmetic from the powers that the paper prints";
    let value = |claim, value| Finding::values(claim, vec![value]).because(remark);
    vec![
        value("PR-059", alone_s),
        value("PR-060", alone_s * (WWAN_W + SYSTEM_W)),
        value("PR-061", shared_s),
        value("PR-062", shared_s * (WWAN_W + WLAN_W + SYSTEM_W)),
        value("PR-063", shared_s * (WWAN_W + WLAN_W)),
    ]
}

fn judge_other() -> Vec<Finding> {
    let mut findings = vec![
        Finding::values("PR-018", vec![wlan_mbps()]).because(
            "arithmetic from the timing of 802.11b: packets of 1500 bytes at 11 Mbit/s, one sender, no RTS",
        ),
        scheduling_cost::judge(),
    ];
    findings.extend(design::judge());
    findings
}

/// What one 802.11b sender carries of IP payload in full packets, Mbit/s.
fn wlan_mbps() -> f64 {
    const DIFS_US: f64 = 50.0;
    // Half of the smallest contention window of 31 slots of 20 us.
    const BACKOFF_US: f64 = 31.0 * 20.0 / 2.0;
    // Preamble and header at 1 Mbit/s.
    const PREAMBLE_US: f64 = 144.0 + 48.0;
    const SIFS_US: f64 = 10.0;
    const MAC_BYTES: f64 = 36.0;
    // 14 bytes at 1 Mbit/s, which every station understands.
    let ack_us = PREAMBLE_US + 14.0 * 8.0;
    let data_us = PREAMBLE_US + (1500.0 + MAC_BYTES) * 8.0 / 11.0;
    (1500.0 - 40.0) * 8.0 / (DIFS_US + BACKOFF_US + data_us + SIFS_US + ack_us)
}
