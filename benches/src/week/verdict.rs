//! What must hold of a gateway that has run for days.
use super::hour::{Hour, Link};
use super::network::MEMBERS;
use super::trend::{Trend, per_day};
use crate::cpu::median;
use serde::Serialize;
use std::fmt;

/// Hours in which it warms up, where there are days to judge afterwards.
const WARM_UP: usize = 24;
/// Growth over all judged days that is none: of the median, or so much if that is more.
const HEAP: Bound = Bound { share: 0.05, least: 65_536.0 };
const TABLES: Bound = Bound { share: 0.15, least: 20_000.0 };
const COUNTS: Bound = Bound { share: 0.15, least: 100.0 };
/// Most of them are timers of ends that are there from the start.
const EVENTS: Bound = Bound { share: 0.05, least: 100.0 };
/// The longest that an open connection may stand still, in seconds.
const STALL_S: f64 = 300.0;
/// The longest in a row that a link may be unused while all others are full, in seconds.
const UNUSED_S: u64 = 120;
/// The longest in a row that a learned rate may be too high, in seconds.
const ABOVE_S: u64 = 300;

/// What growth is tolerated.
#[derive(Debug, Clone, Copy)]
struct Bound {
    share: f64,
    least: f64,
}

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub what: String,
    /// What was found.
    pub found: String,
    /// Whether it holds; `None` where the run was too short to say.
    pub holds: Option<bool>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.holds {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "not judged",
        };
        write!(f, "{verdict:<11}{}: {}", self.what, self.found)
    }
}

/// Judges a run; `faults` are what the simulator's checkers found.
pub fn findings(hours: &[Hour], faults: &[String]) -> Vec<Finding> {
    let mut findings = vec![
        growth(hours, "live heap, bytes", HEAP, |hour| hour.heap_bytes),
        growth(hours, "flow tables of the proxy, bytes", TABLES, |hour| hour.proxy_flow_bytes),
        growth(hours, "flows that the proxy knows", COUNTS, |hour| hour.proxy_flows),
        growth(hours, "bytes under way", TABLES, |hour| hour.in_flight_bytes),
        growth(hours, "packets under way", COUNTS, |hour| hour.packets_under_way),
        growth(hours, "pending events", EVENTS, |hour| hour.pending_events),
    ];
    findings.push(all_bytes(hours, faults));
    let longest = hours.iter().map(|hour| hour.connections.longest_stall_s).fold(0.0, f64::max);
    let stalled = sum(hours, |hour| hour.connections.stalled);
    findings.push(Finding {
        what: format!("no open connection stands still for {STALL_S:.0} s"),
        found: format!("{stalled} stood still for a minute, the longest {longest:.0} s"),
        holds: Some(longest < STALL_S),
    });
    findings.push(links(
        hours,
        &format!("no link unused for {UNUSED_S} s while all others are full"),
        |link| link.longest_unused_s,
        UNUSED_S,
    ));
    findings.push(links(
        hours,
        &format!("no learned rate above 1.25 of the link's for {ABOVE_S} s"),
        |link| link.longest_above_s,
        ABOVE_S,
    ));
    findings.push(wear(hours));
    findings
}

/// Whether nothing failed.
pub fn passed(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.holds != Some(false))
}

fn sum(hours: &[Hour], of: impl Fn(&Hour) -> u64) -> u64 {
    hours.iter().map(of).sum()
}

/// No growth: neither over all judged days, as far as that is more than chance, nor of the last day over the others.
fn growth(hours: &[Hour], what: &str, bound: Bound, of: impl Fn(&Hour) -> u64) -> Finding {
    let judged: Vec<f64> = hours.iter().skip(WARM_UP).map(|hour| of(hour) as f64).collect();
    let judged = &judged[..judged.len() / 24 * 24];
    let middle = median(judged);
    let what = format!("no growth of {what}");
    let Some(trend) = per_day(judged) else {
        return Finding { what, found: "takes four days".into(), holds: None };
    };
    let most = bound.least.max(bound.share * middle);
    let days = (judged.len() / 24 - 1) as f64;
    let Trend { per_day, interval: [low, high] } = trend;
    let grows = low > 0.0 && per_day * days > most;
    let (before, last) = judged.split_at(judged.len() - 24);
    let risen = (0..24).map(|hour| {
        let same: Vec<f64> = before.iter().skip(hour).step_by(24).copied().collect();
        last[hour] - median(&same)
    });
    let rise = median(&risen.collect::<Vec<f64>>());
    Finding {
        what,
        found: format!(
            "median {middle:.0}, {per_day:+.0} a day ({low:+.0} to {high:+.0}), last day {rise:+.0}; \
             {most:.0} over {days:.0} days would be too much"
        ),
        holds: Some(!grows && rise <= most),
    }
}

/// Every connection that nobody cut off has ended with every byte once, and began at all.
fn all_bytes(hours: &[Hour], faults: &[String]) -> Finding {
    let counted = |of: fn(&Hour) -> u64| sum(hours, of);
    let wrong = counted(|hour| hour.connections.wrong);
    let mute = counted(|hour| hour.mute);
    let turned_away = counted(|hour| hour.connections.turned_away);
    Finding {
        what: "every byte once".into(),
        found: format!(
            "{} connections complete, {} cut off by their ends, {wrong} incomplete, {turned_away} without a place, \
             {mute} hours in which an idle one lacked a write; {} faults{}",
            counted(|hour| hour.connections.completed),
            counted(|hour| hour.connections.cut_off),
            faults.len(),
            faults.first().map_or(String::new(), |fault| format!(", the first: {fault}")),
        ),
        holds: Some(wrong == 0 && mute == 0 && turned_away == 0 && faults.is_empty()),
    }
}

fn links(hours: &[Hour], what: &str, of: impl Fn(&Link) -> u64, most: u64) -> Finding {
    let worst: [u64; MEMBERS] =
        std::array::from_fn(|index| hours.iter().map(|hour| of(&hour.links[index])).max().unwrap_or(0));
    Finding {
        what: what.into(),
        found: format!("the longest of each link, in seconds: {worst:?}"),
        holds: Some(worst.iter().all(|&longest| longest < most)),
    }
}

/// What a packet costs on the last day beside the second: told, and not judged, for machines have other work too.
fn wear(hours: &[Hour]) -> Finding {
    let cost = |day: &[Hour]| median(&day.iter().map(Hour::packet_us).collect::<Vec<f64>>());
    let day = 24.min(hours.len());
    let second = &hours[WARM_UP.min(hours.len() - day)..][..day];
    let last = &hours[hours.len() - day..];
    Finding {
        what: "CPU time of a packet, whole simulation".into(),
        found: format!("{:.1} us on the second day, {:.1} us on the last", cost(second), cost(last)),
        holds: None,
    }
}

#[cfg(test)]
mod tests;
