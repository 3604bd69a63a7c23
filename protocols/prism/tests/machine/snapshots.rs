//! The snapshots of Figure 4 (section V-B.3): identification, holding, release and loss detection, step by step.
//!
//! The drawing is lost; its prose says which snapshot shows which scheme. Packets are numbered as there and are one
//! sequence number long.
use crate::support::{Bench, ack, at, flow};
use prismux_prism::{ProxyConfig, ReverseState, SackRewrite};
use prismux_wire::KeepFactor;

/// Packets 20 to 28 are out: 21, 23, 25, 27 on one link, the others on the other; 26 and 28 follow one another there.
fn figure() -> Bench {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 20, 0);
    let links: Vec<_> = (20..=28).map(|seq| bench.send(at(11), seq, 1).unwrap().0).collect();
    // Equal weights: ADAS alternates, beginning with the link that looks quickest (the untried one).
    assert_eq!(links, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    bench
}

fn state(bench: &Bench) -> (ReverseState, usize) {
    let status = bench.proxy.flow_status(&flow()).unwrap();
    (status.state, status.held_acks)
}

#[test]
fn snapshots_one_and_two_sack_block_matching_holds_the_ack() {
    let mut bench = figure();
    // I: 21 arrives while 20 is under way.
    let said = bench.ack(at(20), &ack(20, &[(21, 22)]), 1);
    assert!(said.released.is_empty() && said.dropped.is_empty());
    // II: 23 arrives.
    let said = bench.ack(at(21), &ack(20, &[(23, 24), (21, 22)]), 2);
    assert!(said.released.is_empty());
    assert_eq!(state(&bench), (ReverseState::Normal, 2));
}

#[test]
fn snapshot_three_cumulative_scanning_releases_in_rising_order() {
    let mut bench = figure();
    bench.ack(at(20), &ack(20, &[(21, 22)]), 1);
    bench.ack(at(21), &ack(20, &[(23, 24), (21, 22)]), 2);
    // III: 20 fills the first hole; the receiver acknowledges 22.
    let said = bench.ack(at(22), &ack(22, &[(23, 24)]), 3);
    // The sender sees what in-order arrival of 20 and 21 would have brought: 21, then 22.
    assert_eq!(said.numbers(), [21, 22]);
    assert_eq!(said.released.iter().map(|r| r.tag).collect::<Vec<_>>(), [3, 1]);
    assert!(said.released.iter().all(|r| r.rewrite.sack == SackRewrite::Remove));
    assert_eq!(state(&bench), (ReverseState::Normal, 1));
}

#[test]
fn snapshots_four_and_five_hold_and_release_again() {
    let mut bench = figure();
    bench.ack(at(20), &ack(20, &[(21, 22)]), 1);
    bench.ack(at(21), &ack(20, &[(23, 24), (21, 22)]), 2);
    bench.ack(at(22), &ack(22, &[(23, 24)]), 3);
    // IV: 25 arrives, identified by its SACK block, the first one.
    let said = bench.ack(at(23), &ack(22, &[(25, 26), (23, 24)]), 4);
    assert!(said.released.is_empty());
    assert_eq!(state(&bench), (ReverseState::Normal, 2));
    // V: 22 arrives.
    let said = bench.ack(at(24), &ack(24, &[(25, 26)]), 5);
    assert_eq!(said.numbers(), [23, 24]);
    assert_eq!(state(&bench), (ReverseState::Normal, 1));
    // ... and 24.
    let said = bench.ack(at(25), &ack(26, &[]), 6);
    assert_eq!(said.numbers(), [25, 26]);
    assert_eq!(state(&bench), (ReverseState::Normal, 0));
}

#[test]
fn snapshot_six_a_later_packet_of_the_same_link_proves_the_loss() {
    let mut bench = figure();
    let said = bench.ack(at(20), &ack(26, &[]), 1);
    assert_eq!(said.numbers(), [26]);
    // 27 went over the other link: its arrival says nothing of 26.
    let said = bench.ack(at(21), &ack(26, &[(27, 28)]), 2);
    assert!(said.released.is_empty());
    assert_eq!(bench.proxy.counters().losses_detected, 0);
    // VI: 28 was sent after 26 on the same link.
    let said = bench.ack(at(22), &ack(26, &[(27, 29)]), 3);
    assert_eq!(bench.proxy.counters().losses_detected, 1);
    // Everything held goes out as it came, and the first ACKs carry the report.
    assert_eq!(said.numbers(), [26, 26]);
    assert_eq!(said.released.iter().map(|r| r.tag).collect::<Vec<_>>(), [2, 3]);
    assert!(said.released.iter().all(|r| r.rewrite.sack == SackRewrite::Keep));
    let report = said.released[0].rewrite.report.expect("a loss report");
    assert_eq!((report.lost.0, report.link, report.flags), (26, 1, 0));
    // Two equal links: keep 1 - 1/4.
    assert_eq!(report.keep, KeepFactor(49152));
    assert_eq!(said.released[1].rewrite.report.map(|r| r.flags), Some(1));
    assert_eq!(state(&bench), (ReverseState::Loss, 0));
    // In LOSS every ACK passes, duplicates included, until the loss is repaired.
    let said = bench.ack(at(23), &ack(26, &[(27, 29)]), 4);
    assert_eq!(said.numbers(), [26]);
    assert!(bench.send(at(24), 26, 1).is_some());
    let said = bench.ack(at(30), &ack(29, &[]), 5);
    assert_eq!(said.numbers(), [29]);
    assert_eq!(state(&bench), (ReverseState::Normal, 0));
    assert_eq!(bench.proxy.counters().false_losses, 0);
}
