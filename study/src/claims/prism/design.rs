//! What the papers say of their design in numbers: the variables of a link (PR-053), and what the list of losses of
//! TCP-PRISM costs against the scoreboard of TCP-SACK (PR-057). Both are counted on a download played to the proxy.

use super::played_download::{Acked, Entry, Log, Scheduled, play};
use crate::claims::order::{is_above, words};
use crate::claims::verdict::Finding;
use prismux_prism::ProxyConfig;
use std::collections::BTreeSet;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
/// NIP, hRTT, W and N.
const VARIABLES: f64 = 4.0;

/// The proxy of the papers, without the ageing of hRTT, which is ours.
fn published() -> ProxyConfig {
    ProxyConfig { rtt_ageing: false, ..ProxyConfig::paper() }
}

pub(super) fn judge() -> Vec<Finding> {
    let logs: Vec<Log> = SEEDS.map(|seed| play(published(), seed)).collect();
    vec![judge_variables(&logs), judge_scoreboard(&logs)]
}

/// Algorithm 1 on nothing but the table.
fn choice(packet: &Scheduled) -> Option<usize> {
    let nip = |entry: &Entry| (f64::from(entry.in_flight) / entry.weight) as u64;
    let key = |entry: &Entry| (if packet.retransmission { 0 } else { nip(entry) }, entry.hrtt);
    let entries = packet.table.iter().enumerate();
    entries.min_by_key(|(number, entry)| (key(entry), *number)).map(|(number, _)| number)
}

/// Packets for which the proxy took another link than the table says.
fn other_choices(log: &Log) -> usize {
    log.scheduled.iter().filter(|packet| choice(packet) != Some(packet.link)).count()
}

fn judge_variables(logs: &[Log]) -> Finding {
    let packets: usize = logs.iter().map(|log| log.scheduled.len()).sum();
    let other: usize = logs.iter().map(other_choices).sum();
    if other > 0 {
        let cause = format!("of {packets} packets the proxy scheduled {other} otherwise than the four say");
        return Finding::shape("PR-053", false, cause);
    }
    Finding::values("PR-053", vec![VARIABLES]).because(format!(
        "NIP, hRTT, W and N alone say which link the proxy takes for each of {packets} packets, in downloads with 1 % \
         loss on every link; W is bounded by what the rate at join gives, which the factor p of a report needs as \
         well. Our ageing of hRTT, off here, needs a time beside"
    ))
}

/// What a sender keeps of its ACKs, and what that costs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    /// Entries or segments looked at for an ACK, in the mean.
    looked_at: f64,
    /// Entries kept at once, at most.
    kept: f64,
}

/// TCP-SACK: what arrived is marked until all below has arrived too; for each block the queue is walked from its head
/// to the block's end, as Linux 2.4 does.
fn positive(acks: &[Acked]) -> Cost {
    let mut marked = BTreeSet::new();
    let (mut looked_at, mut kept) = (0u64, 0);
    for ack in acks {
        marked = marked.split_off(&ack.below);
        for block in &ack.sacked {
            looked_at += u64::from(block.end.saturating_sub(ack.below));
            marked.extend(block.clone().filter(|segment| *segment >= ack.below));
        }
        kept = kept.max(marked.len());
    }
    Cost { looked_at: looked_at as f64 / acks.len() as f64, kept: kept as f64 }
}

/// TCP-PRISM: a list of what was reported lost, until it is acknowledged. A report is looked for in the whole list, and
/// every ACK looks at the whole list.
fn negative(acks: &[Acked]) -> Cost {
    let mut list: Vec<u32> = Vec::new();
    let (mut looked_at, mut kept) = (0, 0);
    for ack in acks {
        looked_at += list.len();
        list.retain(|lost| *lost >= ack.below);
        if let Some(lost) = ack.reported {
            looked_at += list.len();
            if !list.contains(&lost) {
                list.push(lost);
            }
        }
        kept = kept.max(list.len());
    }
    Cost { looked_at: looked_at as f64 / acks.len() as f64, kept: kept as f64 }
}

fn judge_scoreboard(logs: &[Log]) -> Finding {
    let of = |cost: fn(&[Acked]) -> Cost, part: fn(Cost) -> f64| -> Vec<f64> {
        logs.iter().map(|log| part(cost(&log.acked))).collect()
    };
    let [sack_time, prism_time] = [positive, negative].map(|cost| of(cost, |cost| cost.looked_at));
    let [sack_space, prism_space] = [positive, negative].map(|cost| of(cost, |cost| cost.kept));
    let complete = logs.iter().all(|log| log.complete);
    let text = format!(
        "looked at for an ACK: TCP-SACK {}, TCP-PRISM {}; kept at once, at most: {} and {}",
        words(&sack_time),
        words(&prism_time),
        words(&sack_space),
        words(&prism_space)
    );
    let lower = complete && is_above(&sack_time, &prism_time) && is_above(&sack_space, &prism_space);
    Finding::shape("PR-057", lower, text).because(
        "counted on the ACKs that the proxy lets through in downloads with 1 % loss on every link, whose sender keeps \
         nothing but the list of reported losses and a timer; TCP-SACK walks its queue for each block, as Linux 2.4 \
         does. Our own sender keeps the scoreboard beside the list, for losses that nobody reports, as the journal \
         advises",
    )
}

#[cfg(test)]
mod tests {
    use super::{Acked, Cost, SEEDS, judge, negative, other_choices, play, positive, published};
    use crate::claims::verdict::Evidence;
    use prismux_prism::{ProxyConfig, SchedulerKind};

    #[test]
    fn four_variables_decide_for_adas_and_not_for_a_round_that_must_be_remembered() {
        let seed = *SEEDS.start();
        let log = play(published(), seed);
        let resent = log.scheduled.iter().filter(|packet| packet.retransmission).count();
        assert!(log.complete && resent > 20, "{resent}");
        assert_eq!(other_choices(&log), 0);
        let rounds = play(ProxyConfig { scheduler: SchedulerKind::WeightedRoundRobin, ..published() }, seed);
        assert!(other_choices(&rounds) > 100);
    }

    #[test]
    fn a_scoreboard_pays_for_what_arrived_and_the_list_for_what_is_lost() {
        // Of segments 0 to 5 the first is lost; 1 to 5 arrive, then 0 again.
        let duplicate =
            |end, reported| Acked { below: 0, sacked: std::iter::once(1..end).collect(), reported };
        let mut acks: Vec<Acked> = vec![duplicate(2, Some(0))];
        acks.extend((3..=6).map(|end| duplicate(end, None)));
        acks.push(Acked { below: 6, sacked: Vec::new(), reported: None });
        assert_eq!(positive(&acks), Cost { looked_at: (2 + 3 + 4 + 5 + 6) as f64 / 6.0, kept: 5.0 });
        assert_eq!(negative(&acks), Cost { looked_at: 5.0 / 6.0, kept: 1.0 });
    }

    #[test]
    fn both_are_judged() {
        for finding in judge() {
            assert!(
                matches!(finding.evidence, Evidence::Values(_) | Evidence::Shape { found: true, .. }),
                "{finding:?}"
            );
        }
    }
}
