//! Figure 38(b): what all links together carry under 802.11 and DSR, against the load.

use crate::claims::network_models::{clearly_more, list, means, row};
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

/// Loads of a flow in the figure, in kbit/s.
pub(super) const KBPS: [u64; 6] = [4, 8, 16, 24, 32, 48];
/// The load beyond which the thesis sees the throughput of links fall.
const PEAK_KBPS: u64 = 8;
/// Rate of the channel, in Mbit/s.
const CHANNEL_MBPS: f64 = 2.0;

/// What neighbours have acknowledged, all links together, in Mbit/s: packets with their headers, each hop counted.
fn links_mbps(result: &RunResult) -> Option<f64> {
    let bytes: u64 = result.nodes.values().filter_map(|node| node.get("acknowledged_bytes")).sum();
    (result.duration_s > 0.0).then(|| bytes as f64 * 8.0 / 1e6 / result.duration_s)
}

pub(super) fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Series) {
    let mut table =
        Series::new("load of a flow, kbit/s", "throughput of all links, Mbit/s", &["802.11 and DSR"]);
    let all: Vec<Vec<f64>> = KBPS.iter().map(|kbps| outcomes.values(&kbps.to_string(), links_mbps)).collect();
    for (kbps, values) in KBPS.iter().zip(&all) {
        row(&mut table, kbps, [values]);
    }
    let networks = all.first().map_or(0, Vec::len);
    // For each network its peak, and the load there.
    let peak = |network: usize| {
        let points = KBPS.iter().zip(&all).map(|(kbps, values)| (values[network], *kbps as f64));
        points.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, f64::NAN))
    };
    let peaks: Vec<(f64, f64)> = (0..networks).map(peak).collect();
    let (mbps, kbps): (Vec<f64>, Vec<f64>) = peaks.into_iter().unzip();
    let reuse: Vec<f64> = mbps.iter().map(|peak| peak / CHANNEL_MBPS).collect();
    let at = KBPS.iter().position(|kbps| *kbps == PEAK_KBPS).unwrap_or(0);
    let falls = all.last().is_some_and(|last| clearly_more(&all[at], last));
    let figures = format!("{} Mbit/s at 4, 8, 16, 24, 32, 48 kbit/s", list(&means(&all)));
    let counted = "packets that a neighbour acknowledged, with headers, each hop counted; hosts wait for carriers that \
                   they sense 550 m away, as in ns-2: with sense_m = 250 links carry half as much again and more";
    // Where no load is clearly better than another, the best of each network is a matter of chance.
    let at_the_peak = match falls {
        true => {
            Finding::values("NM-024", kbps).because("the load with the highest throughput in each network")
        }
        false => {
            Finding::shape("NM-024", false, figures.clone()).because("no peak: full at 4 kbit/s already")
        }
    };
    let findings = vec![
        Finding::values("NM-023", mbps).because(counted),
        at_the_peak,
        Finding::shape("NM-025", falls, figures).because("full at 4 kbit/s already, and no emptier beyond"),
        Finding::values("NM-026", reuse).because(counted),
    ];
    (findings, table)
}
