//! Beyond the paper: which links a flow gains from.
//!
//! All data is acknowledged in order, so a sender feels the slowest link in use: with flight F and links whose longest
//! round trip is R, it gets at most F / R, whatever the rates. Links are therefore taken in order of round trip, and of all
//! such prefixes the one counts that gives most, `min(sum of rates, F / R)`. A link left out is *parked*: it is measured with copies
//! of packets the receiver already has, and joins when the senders' flight covers it.
use crate::link_table::{LinkId, LinkTable};
use crate::probe::MOST_UNANSWERED;
use crate::window_control::Valve;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// A larger set must promise this much more before it replaces the present one, and a smaller one too.
const HYSTERESIS: f64 = 1.03;
/// A distant link must add this share to be worth its delay.
const LEAST_GAIN: f64 = 0.015;
/// Beyond this loss a link costs the others more in repairs than it carries.
const MOST_LOSS: f64 = 0.25;
/// Flight allowed beyond what the links can use.
const FLIGHT_MARGIN: f64 = 1.5;
/// Share of the largest rate that a link in startup is credited with.
const OPTIMISM: f64 = 0.2;
/// How often the question is asked.
pub(crate) const REVIEW_INTERVAL: Duration = Duration::from_millis(10);

/// A link that may be used.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    id: LinkId,
    rate: f64,
    rtt: f64,
}

/// Decides anew which links are usable and how much flight senders may have. `largest_window` is the largest
/// receive window seen, in bytes.
pub(crate) fn review(
    now: Instant,
    links: &mut LinkTable,
    valve: &mut Valve,
    largest_window: u64,
    park: bool,
) {
    valve.reviewed = now;
    let candidates = candidates(links);
    if candidates.is_empty()
        && links.up().all(|(_, link)| link.model.min_rtt().is_some())
        && links.up_count() > 0
    {
        valve.flight_limit = None;
        for id in up_ids(links) {
            set(links, id, true, "all links lose many packets");
        }
        return;
    }
    if candidates.is_empty() {
        valve.flight_limit = None;
        valve.wants_probes = true;
        for id in up_ids(links) {
            let first = links.up_id(0) == Some(id);
            set(links, id, first, if first { "first to be used" } else { "being measured" });
        }
        return;
    }
    let flight = valve.peak_flight() as f64;
    let now_best = best_prefix(&candidates, flight);
    let present = candidates.iter().take_while(|c| links.get(c.id).is_some_and(|link| link.usable)).count();
    let chosen = if !park {
        candidates.len()
    } else if present > 0
        && present != now_best
        && value(&candidates[..now_best], flight) < HYSTERESIS * value(&candidates[..present], flight)
    {
        present
    } else {
        now_best
    };
    let target = best_prefix(&candidates, largest_window as f64).max(chosen);
    for (position, candidate) in candidates.iter().enumerate() {
        let reason = match position {
            _ if position < chosen => "carries traffic",
            _ if position < target => "waits until the sender's window covers its delay",
            _ => "its delay needs more window than it gains",
        };
        set(links, candidate.id, position < chosen, reason);
    }
    for id in up_ids(links) {
        if candidates.iter().all(|candidate| candidate.id != id) {
            let known = links.get(id).is_some_and(|link| link.model.min_rtt().is_some());
            // A receiver that does not report duplicates leaves only the direct way.
            let mute = links.get(id).is_some_and(|link| link.probe.unanswered >= MOST_UNANSWERED);
            set(links, id, mute && !known, if known { "loses too many packets" } else { "being measured" });
        }
    }
    valve.wants_probes = links.up().any(|(_, link)| !link.usable);
    let wanted = &candidates[..target];
    let rate: f64 = wanted.iter().map(|c| c.rate).sum();
    let rtt = wanted.last().map_or(0.0, |c| c.rtt);
    let limit = FLIGHT_MARGIN * rate * rtt + 20_000.0;
    valve.flight_limit = Some(limit as u64);
}

fn up_ids(links: &LinkTable) -> Vec<LinkId> {
    links.up().map(|(id, _)| id).collect()
}

fn set(links: &mut LinkTable, id: LinkId, usable: bool, reason: &'static str) {
    if let Some(link) = links.get_mut(id) {
        (link.usable, link.reason) = (usable, reason);
    }
}

/// Links with known round trip and bearable loss, nearest first.
fn candidates(links: &LinkTable) -> Vec<Candidate> {
    let nearest = links.up().filter_map(|(_, link)| link.model.min_rtt()).min().unwrap_or(Duration::ZERO);
    let mut found: Vec<Candidate> = links
        .up()
        .filter(|(_, link)| link.model.loss() < MOST_LOSS)
        .filter_map(|(id, link)| {
            let rate = link.model.planning_rate()?;
            // A lost packet is missing until it is repaired over the nearest link.
            let repair = if link.model.loss() > 0.0005 { nearest } else { Duration::ZERO };
            let rtt = link.model.full_rtt()? + repair;
            Some(Candidate { id, rate, rtt: rtt.as_secs_f64().max(1e-4) })
        })
        .collect();
    // A link that has not shown its rate yet is taken for a fair one, so that it gets a chance to.
    let largest = found.iter().map(|c| c.rate).fold(0.0, f64::max);
    for candidate in &mut found {
        if links.get(candidate.id).is_some_and(|link| link.model.in_startup()) {
            candidate.rate = candidate.rate.max(OPTIMISM * largest);
        }
    }
    found.sort_by(|a, b| a.rtt.total_cmp(&b.rtt).then(a.id.cmp(&b.id)));
    found
}

/// What a set of links gives a sender with this flight, in bytes per second.
fn value(set: &[Candidate], flight: f64) -> f64 {
    let rate: f64 = set.iter().map(|c| c.rate).sum();
    set.last().map_or(0.0, |last| rate.min(flight / last.rtt))
}

/// Length of the best prefix, at least 1.
fn best_prefix(candidates: &[Candidate], flight: f64) -> usize {
    let mut best = (1, value(&candidates[..1], flight));
    for length in 2..=candidates.len() {
        let this = value(&candidates[..length], flight);
        if this > best.1 * (1.0 + LEAST_GAIN) {
            best = (length, this);
        }
    }
    best.0
}
