//! Beyond the paper: which links a flow gains from.
//!
//! All data is acknowledged in order, so a sender feels the slowest link in use: with flight F and links whose
//! longest round trip is R, it gets at most F / R, whatever the rates. Of all sets of links the one is used that
//! gives most, `min(sum of rates, F / R)` ([`sets`]). A link left out is on *standby*: it is measured with copies of
//! packets the receiver already has, and joins when the senders' flight covers it.
mod sets;

use crate::ids::LinkId;
use crate::link_table::{GROUP, Link, LinkTable, MAX_UNANSWERED};
use crate::shared::Selection;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use sets::{Candidate, Set, choose, places, sum};

/// Beyond this loss a link costs the others more in repairs than it carries.
const MAX_LOSS: f64 = 0.25;
/// Flight allowed beyond what the links can use.
const FLIGHT_MARGIN: f64 = 1.5;
/// A limit that is too high falls with this time constant.
const LIMIT_FALL: Duration = Duration::from_secs(1);
/// Flight allowed in any case.
const FLIGHT_SLACK_BYTES: f64 = 20_000.0;
/// Payload of a packet, where only its order of magnitude matters.
const PACKET_BYTES: f64 = 1448.0;
/// Share of the largest rate that a link in startup is credited with.
const OPTIMISM: f64 = 0.2;
/// A link in startup is as near as others with a round trip of at most this times theirs.
const AS_NEAR: f64 = 1.15;
/// How often the question is asked.
pub(crate) const REVIEW_INTERVAL: Duration = Duration::from_millis(10);

/// Decides anew which links are usable and how much flight senders may have together.
pub(crate) fn review(
    now: Instant,
    links: &mut LinkTable,
    selection: &mut Selection,
    peak_flight: u64,
    standby: bool,
) {
    let elapsed = now.saturating_since(core::mem::replace(&mut selection.reviewed, now));
    if standby {
        weigh(now, links);
    }
    let candidates = candidates(now, links);
    if candidates.is_empty() {
        return without_knowledge(now, links, selection);
    }
    let flight = peak_flight as f64;
    let all = places(&candidates, |_| true);
    let present = places(&candidates, |c| links.get(c.id).is_some_and(|link| link.usable));
    let chosen = if standby {
        with_neighbours(links, &candidates, choose(&candidates, flight, &present))
    } else {
        all
    };
    // What would be used by senders without bounds. The receiver's window is none: it grows with what arrives.
    let target = if standby { choose(&candidates, f64::MAX, &Set::default()).union(chosen) } else { all };
    for (place, candidate) in candidates.iter().enumerate() {
        let (used, wanted) = (chosen.contains(place), target.contains(place));
        let reason = match (used, wanted) {
            (true, _) => "carries traffic",
            (false, true) => "waits until the sender's window covers its delay",
            (false, false) => "its delay needs more window than it gains",
        };
        links.set_usable(candidate.id, used, reason);
    }
    settle_others(now, links, &candidates);
    let alone = links.usable().count() == 1;
    for id in up_ids(links) {
        if let Some(link) = links.get_mut(id) {
            link.model.set_alone(alone);
        }
    }
    if links.up_count() > GROUP {
        links.arrange();
    }
    selection.wants_probes = links.up().any(|(_, link)| !link.usable);
    let (rate, rtt) = sum(&candidates, &target);
    let limit = (FLIGHT_MARGIN * rate * rtt + FLIGHT_SLACK_BYTES) as u64;
    let old = selection.flight_limit.filter(|_| links.has_receipts());
    selection.flight_limit = Some(fall_slowly(old, limit, elapsed));
}

/// The limit that follows `old` after `elapsed` when `new` would do: a distant link that is worth its delay at one
/// review and not at the next would let the sender send nothing in between, and the links run dry.
fn fall_slowly(old: Option<u64>, new: u64, elapsed: Duration) -> u64 {
    let kept = 1.0 - elapsed.as_secs_f64() / LIMIT_FALL.as_secs_f64();
    old.map_or(new, |old| new.max((old as f64 * kept.max(0.0)) as u64))
}

/// No link is known and bearable. Where nothing is known, one carries the first packets while the others are measured.
fn without_knowledge(now: Instant, links: &mut LinkTable, selection: &mut Selection) {
    if links.up().all(|(_, link)| link.model.min_rtt().is_none()) {
        // Otherwise the last limit stands: a window once shown cannot be taken back.
        selection.flight_limit = None;
    }
    selection.wants_probes = true;
    let unknown = links.up().filter(|(_, link)| link.model.min_rtt().is_none());
    let first = unknown.min_by_key(|(id, link)| (link.hrtt(now), *id)).map(|(id, _)| id);
    for id in up_ids(links) {
        match first {
            None => links.set_usable(id, true, "all links lose many packets"),
            Some(first) if first == id => links.set_usable(id, true, "first to be used"),
            Some(_) => links.set_usable(id, false, "being measured"),
        }
    }
}

/// Links that are up but no candidates.
fn settle_others(now: Instant, links: &mut LinkTable, candidates: &[Candidate]) {
    let settled: Set = candidates.iter().map(|candidate| usize::from(candidate.id.0)).collect();
    for id in up_ids(links) {
        if settled.contains(usize::from(id.0)) {
            continue;
        }
        let Some(link) = links.get_mut(id) else { continue };
        link.forgive_silence(now);
        let known = link.model.min_rtt().is_some();
        // A receiver that does not report duplicates leaves only the direct way.
        let mute = link.probe.unanswered >= MAX_UNANSWERED;
        let reason = match (known, mute) {
            (true, _) if link.is_silent() => "nothing arrives over it",
            (true, _) if link.rests(now) => "held the others up more than it carried",
            (true, _) => "loses too many packets",
            (false, true) => "tried with data",
            (false, false) => "being measured",
        };
        links.set_usable(id, mute && !known, reason);
    }
}

fn up_ids(links: &LinkTable) -> Vec<LinkId> {
    links.up().map(|(id, _)| id).collect()
}

/// Links that do more harm than they carry rest; one at least does not.
fn weigh(now: Instant, links: &mut LinkTable) {
    for id in up_ids(links) {
        let others = links.up().any(|(other, link)| other != id && !link.rests(now) && !link.is_silent());
        if others && let Some(link) = links.get_mut(id) {
            link.weigh(now);
        }
    }
}

/// Links with known round trip and bearable loss, nearest first.
fn candidates(now: Instant, links: &LinkTable) -> Vec<Candidate> {
    let bearable = |link: &Link| link.model.loss() < MAX_LOSS && !link.is_silent() && !link.rests(now);
    let known = links.up().filter(|(_, link)| bearable(link));
    let mut found: Vec<Candidate> = known
        .filter_map(|(id, link)| {
            let (rate, rtt) = (link.model.planning_rate()?, link.model.full_rtt()?.as_secs_f64().max(1e-4));
            let lost_per_second = link.model.loss() * rate / PACKET_BYTES;
            Some(Candidate { id, rate, rtt, repairing: (lost_per_second * rtt).min(1.0) })
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

/// These links and those hardly known ones that are as near: as long as the senders are what limits, it costs nothing
/// to learn their rates too.
fn with_neighbours(links: &LinkTable, candidates: &[Candidate], chosen: Set) -> Set {
    let (_, rtt) = sum(candidates, &chosen);
    let in_startup = |c: &Candidate| links.get(c.id).is_some_and(|link| link.model.in_startup());
    chosen.union(places(candidates, |c| c.rtt <= AS_NEAR * rtt && in_startup(c)))
}
