//! Whether a run in the lab is to be believed: how late this machine served its links and its programs.
//!
//! A result from the lab carries, as counters under `nodes.lab`, what the emulator and a watching thread measured. Two
//! limits say when the machine rather than the links made the figure:
//!
//! * links are emulated to the millisecond, so at most one packet in a hundred may be handed over later than that;
//! * a rise of the round trip by 4 ms is the least that Linux's HyStart takes for a full queue (`tcp_cubic`,
//!   `HYSTART_DELAY_MIN`), so at most one wake-up of an ordinary program in a hundred may come later than that.
#[cfg(all(feature = "lab", target_os = "linux"))]
use prismux_lab::LabOutcome;
use prismux_trace::results::RunResult;

/// The entry among a result's nodes that speaks of the lab itself.
pub(super) const LAB: &str = "lab";

/// Packets that the lab itself lost for want of processor time.
const DEVICE_DROPS: &str = "device_drops";
const HANDED_OVER: &str = "packets_handed_over";
const LATE: &str = "packets_later_than_1_ms";
const LATENESS_P99: &str = "lateness_p99_us";
const WAKE_P99: &str = "wakeup_lateness_p99_us";

/// No more than this share of packets may be handed over later than a millisecond.
const MAX_LATE_SHARE: f64 = 0.01;
/// 99 of 100 wake-ups may come so late.
const MAX_WAKE_P99_US: u64 = 4_000;

/// What the lab measured about itself.
#[cfg(all(feature = "lab", target_os = "linux"))]
pub(super) fn counters(outcome: &LabOutcome) -> prismux_trace::results::Named<u64> {
    let (links, woken) = (&outcome.emulator.lateness, &outcome.wakeups);
    let counters = [
        (DEVICE_DROPS, outcome.device_drops.values().sum()),
        (HANDED_OVER, links.samples),
        (LATE, links.late),
        ("lateness_p50_us", links.p50_us as u64),
        (LATENESS_P99, links.p99_us as u64),
        ("wakeup_lateness_p50_us", woken.p50_us as u64),
        (WAKE_P99, woken.p99_us as u64),
        ("emulator_in_real_time", u64::from(outcome.emulator.real_time)),
    ];
    counters.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Why the machine was too busy for this result to be believed; `None` for one that may be, as every simulated one.
pub fn doubt(result: &RunResult) -> Option<String> {
    let lab = result.nodes.get(LAB)?;
    let counter = |name: &str| lab.get(name).copied().unwrap_or(0);
    let late_share = counter(LATE) as f64 / counter(HANDED_OVER).max(1) as f64;
    let mut reasons = Vec::new();
    if counter(DEVICE_DROPS) > 0 {
        reasons.push(format!("it lost {} packets of its own", counter(DEVICE_DROPS)));
    }
    if late_share > MAX_LATE_SHARE {
        let p99_ms = counter(LATENESS_P99) as f64 / 1e3;
        reasons.push(format!(
            "its links handed over {:.1} % of the packets more than 1 ms late (99 % within {p99_ms:.1} ms)",
            late_share * 100.0
        ));
    }
    if counter(WAKE_P99) > MAX_WAKE_P99_US {
        let p99_ms = counter(WAKE_P99) as f64 / 1e3;
        reasons.push(format!("programs waited {p99_ms:.1} ms for a processor, one time in a hundred"));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prismux_trace::results::{Backend, Named, TotalResult};

    fn result(counters: &[(&str, u64)]) -> RunResult {
        let lab = counters.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
        RunResult {
            scenario: "links".to_string(),
            scenario_hash: String::new(),
            backend: Backend::Lab,
            seed: 1,
            version: String::new(),
            duration_s: 1.0,
            flows: Named::default(),
            groups: Named::default(),
            links: Named::default(),
            total: TotalResult::default(),
            nodes: Named::from_iter([(LAB.to_string(), lab)]),
            programs: Named::default(),
            series: None,
        }
    }

    #[test]
    fn a_result_is_doubted_for_what_the_machine_did_to_it_and_only_then() {
        let quiet = [(HANDED_OVER, 1000), (LATE, 10), (LATENESS_P99, 990), (WAKE_P99, 4_000)];
        assert_eq!(doubt(&result(&quiet)), None);
        assert_eq!(doubt(&RunResult { nodes: Named::default(), ..result(&[]) }), None);
        let reason = |counters: &[(&str, u64)]| doubt(&result(counters)).unwrap_or_default();
        assert!(reason(&[(DEVICE_DROPS, 3)]).contains("lost 3 packets"));
        let late = reason(&[(HANDED_OVER, 1000), (LATE, 11), (LATENESS_P99, 1200)]);
        assert!(late.contains("1.1 % of the packets more than 1 ms late (99 % within 1.2 ms)"), "{late}");
        assert!(reason(&[(WAKE_P99, 4_100)]).contains("waited 4.1 ms"));
    }
}
