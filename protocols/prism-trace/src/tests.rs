//! Words on both sides mean the same.
use super::{ack_released, drop_reason};
use prismux_prism::{AckRewrite, DropReason};
use prismux_trace::event::Event;
use prismux_wire::{TcpFlags, TcpHeader};

#[test]
fn a_reason_keeps_its_name() {
    for reason in [
        DropReason::NoLink,
        DropReason::RepeatedAck,
        DropReason::ProbeAnswer,
        DropReason::StaleAck,
        DropReason::SpuriousRetransmission,
    ] {
        assert_eq!(drop_reason(reason).name(), reason.name().replace('-', "_"));
    }
}

#[test]
fn an_ack_counts_as_rewritten_when_any_part_of_its_header_changes() {
    let header = TcpHeader { flags: TcpFlags::ACK, window: 500, ..TcpHeader::default() };
    let same = AckRewrite::identity(&header);
    let rewritten = |rewrite: &AckRewrite| {
        let event = ack_released("proxy".into(), "download".into(), Some(&header), rewrite);
        let Event::AckReleased { rewritten, .. } = event else { unreachable!("an ACK is released") };
        rewritten
    };
    assert!(!rewritten(&same));
    assert!(rewritten(&AckRewrite { ack: header.ack + 1, ..same }));
    assert!(rewritten(&AckRewrite { window: 400, ..same }));
    assert!(rewritten(&AckRewrite { ecn_echo: TcpFlags::ECE, ..same }));
}
