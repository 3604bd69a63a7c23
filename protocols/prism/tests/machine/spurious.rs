//! What a sender sends again although the proxy has it in hand ends at the proxy, and nothing else does.
use crate::support::{Bench, ack, at, data, flow};
use prismux_prism::{DropReason, ProxyConfig, Verdict};

const PACKET: u32 = 1000;

/// What becomes of a retransmission of the packet that starts at `seq`.
fn retransmit(bench: &mut Bench, millis: u64, seq: u32) -> Option<DropReason> {
    bench.proxy.handle_data(at(millis), flow(), &data(seq), PACKET, u64::from(seq));
    let mut fate = None;
    while let Some(verdict) = bench.proxy.poll_verdict() {
        if let Verdict::Drop { reason, .. } = verdict {
            fate = Some(reason);
        }
    }
    fate
}

/// Twenty packets over two links; the receiver has all but the first of each link, whose repairs are under way.
fn with_two_holes(config: ProxyConfig) -> Bench {
    let mut bench = Bench::new(ProxyConfig { standby: false, ..config }, &[8000, 8000]);
    bench.handshake(at(0), 1000, 7);
    for n in 0..20 {
        bench.send(at(11), 1000 + n * PACKET, PACKET);
    }
    bench.ack(at(40), &ack(1000, &[(1000 + 2 * PACKET, 1000 + 20 * PACKET)]), 1);
    bench
}

#[test]
fn what_the_receiver_has_and_what_is_being_repaired_is_not_sent_again() {
    let mut bench = with_two_holes(ProxyConfig::default());
    assert_eq!(bench.proxy.counters().local_repairs, 2);
    let spurious = Some(DropReason::SpuriousRetransmission);
    assert_eq!(retransmit(&mut bench, 45, 1000 + 5 * PACKET), spurious, "received, its ACK is held");
    assert_eq!(retransmit(&mut bench, 45, 1000), spurious, "its repair is under way");
    assert_eq!(bench.proxy.counters().spurious_retransmissions, 2);
    assert_eq!(retransmit(&mut bench, 5000, 1000), None, "nothing was heard of the repair for long");
}

#[test]
fn a_sender_that_has_its_ack_already_asks_for_another() {
    let mut bench = Bench::new(ProxyConfig { standby: false, ..ProxyConfig::default() }, &[8000]);
    bench.handshake(at(0), 1000, 7);
    for n in 0..4 {
        bench.send(at(11), 1000 + n * PACKET, PACKET);
    }
    let said = bench.ack(at(40), &ack(1000 + 4 * PACKET, &[]), 1);
    assert_eq!(said.numbers(), [1000 + 4 * PACKET]);
    assert_eq!(retransmit(&mut bench, 60, 1000), None, "that ACK may be lost");
}

#[test]
fn the_published_proxy_forwards_every_retransmission() {
    let mut bench = with_two_holes(ProxyConfig::paper());
    assert_eq!(retransmit(&mut bench, 45, 1000 + 5 * PACKET), None);
    assert_eq!(retransmit(&mut bench, 45, 1000), None);
    assert_eq!(bench.proxy.counters().spurious_retransmissions, 0);
}
