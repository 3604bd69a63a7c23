//! Rewriting bytes in place equals rewriting the typed header and emitting it anew.
mod packets;

use packets::{emit, ip_header, loss_report, options, payload, seq, tcp_header};
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{
    IpHeader, KeepFactor, LossReport, SackBlock, SackRewrite, SegmentRewrite, SeqNumber, TcpFlags, TcpHeader,
    TcpPacket, Timestamps, ip,
};
use proptest::prelude::*;

fn rewrite() -> impl Strategy<Value = SegmentRewrite> {
    let sack = prop_oneof![
        Just(SackRewrite::Keep),
        Just(SackRewrite::Remove),
        (0u8..6).prop_map(SackRewrite::Truncate),
    ];
    (
        (proptest::option::of(seq()), proptest::option::of(seq())),
        any::<(Option<u16>, Option<u32>, Option<u32>, u8, u8)>(),
        sack,
        proptest::option::of(loss_report()),
    )
        .prop_map(|((seq, ack), (window, tsval, tsecr, set, clear), sack, report)| SegmentRewrite {
            seq,
            ack,
            window,
            tsval,
            tsecr,
            set_flags: TcpFlags(set),
            clear_flags: TcpFlags(clear),
            sack,
            report,
        })
}

proptest! {
    #[test]
    fn rewritten_bytes_equal_the_rewritten_header(
        ip in ip_header(), tcp in tcp_header(), payload in payload(), rewrite in rewrite(),
    ) {
        let mut packet = emit(&ip, &tcp, &payload);
        let length = packet.len();
        packet.resize(length + 12, 0xee);
        let new_length = rewrite.apply(&mut packet, length).unwrap();
        let parsed = TcpPacket::parse(&packet[..new_length]).unwrap();
        let mut expected = tcp;
        rewrite.apply_to_header(&mut expected);
        prop_assert_eq!(parsed.header, expected);
        prop_assert_eq!(parsed.ip.header, ip);
        prop_assert_eq!(parsed.ip.total_bytes, new_length);
        prop_assert_eq!(parsed.payload(&packet), &payload[..]);
        prop_assert_eq!(parsed.verify_checksum(&packet), Ok(()));
    }

    #[test]
    fn the_incremental_checksum_equals_a_recomputed_one(
        ip in ip_header(), tcp in tcp_header(), payload in payload(), rewrite in rewrite(),
    ) {
        // Without SACK changes nothing moves, so the bytes themselves must equal those of a re-emission.
        let rewrite = SegmentRewrite { sack: SackRewrite::Keep, report: None, ..rewrite };
        let mut packet = emit(&ip, &tcp, &payload);
        let length = packet.len();
        rewrite.apply(&mut packet, length).unwrap();
        let mut expected = tcp;
        rewrite.apply_to_header(&mut expected);
        prop_assert_eq!(packet, emit(&ip, &expected, &payload));
    }

    #[test]
    fn a_damaged_segment_stays_damaged(
        ip in ip_header(), tcp in tcp_header(), payload in payload(), rewrite in rewrite(), flip in 1u16..0xffff,
    ) {
        let mut packet = emit(&ip, &tcp, &payload);
        let at = ip.wire_bytes() + 16;
        let wrong = u16::from_be_bytes([packet[at], packet[at + 1]]) ^ flip;
        packet[at..at + 2].copy_from_slice(&wrong.to_be_bytes());
        prop_assume!(TcpPacket::parse(&packet).unwrap().verify_checksum(&packet).is_err());
        let length = packet.len();
        packet.resize(length + 12, 0);
        let new_length = rewrite.apply(&mut packet, length).unwrap();
        let parsed = TcpPacket::parse(&packet[..new_length]).unwrap();
        prop_assert!(parsed.verify_checksum(&packet).is_err());
    }

    #[test]
    fn unknown_options_survive_a_report(known in options(), report in loss_report(), seed in any::<[u8; 4]>()) {
        let unknown = [254, 6, seed[0], seed[1], seed[2], seed[3]];
        let mut known = known;
        known.loss_report = None;
        known.sack.truncate(1);
        prop_assume!(known.wire_bytes() + 8 <= 40);
        let tcp = TcpHeader { options: known, ..TcpHeader::default() };
        let mut packet = with_raw_options(&tcp, &unknown);
        let length = packet.len();
        packet.resize(length + 12, 0);
        let rewrite = SegmentRewrite { report: Some(report), ..Default::default() };
        let new_length = rewrite.apply(&mut packet, length).unwrap();
        let parsed = TcpPacket::parse(&packet[..new_length]).unwrap();
        prop_assert_eq!(parsed.verify_checksum(&packet), Ok(()));
        let options = &packet[40..parsed.payload_offset];
        prop_assert!(options.windows(6).any(|w| w == unknown), "{:?}", options);
        prop_assert_eq!(parsed.header.options.timestamps, known.timestamps);
        let room = known.wire_bytes() - 12 * usize::from(!known.sack.is_empty()) + 12 + unknown.len() <= 40;
        prop_assert_eq!(parsed.header.options.loss_report, room.then_some(report));
    }

    #[test]
    fn hop_limit_and_congestion_marks_keep_the_ipv4_checksum(ip in ip_header(), bits in 0u8..4) {
        let mut packet = emit(&ip, &TcpHeader::default(), &[]);
        let ecn = prismux_wire::Ecn::from_bits(bits);
        ip::set_ecn(&mut packet, ecn).unwrap();
        let forwarded = ip::decrement_hop_limit(&mut packet).unwrap();
        prop_assert_eq!(forwarded.is_ok(), ip.hop_limit > 1);
        let hop_limit = if forwarded.is_ok() { ip.hop_limit - 1 } else { ip.hop_limit };
        let expected = emit(&IpHeader { ecn, hop_limit, ..ip }, &TcpHeader::default(), &[]);
        prop_assert_eq!(packet, expected);
    }

    #[test]
    fn clamping_lowers_the_mss_of_a_syn_and_nothing_else(
        ip in ip_header(), tcp in tcp_header(), limit in any::<u16>(), syn in any::<bool>(),
    ) {
        let flags = if syn { tcp.flags | TcpFlags::SYN } else { tcp.flags.without(TcpFlags::SYN) };
        let tcp = TcpHeader { flags, ..tcp };
        let mut packet = emit(&ip, &tcp, b"data");
        let clamped = clamp_mss(&mut packet, limit).unwrap();
        let mut expected = tcp;
        if syn {
            expected.options.mss = tcp.options.mss.map(|mss| mss.min(limit));
        }
        prop_assert_eq!(clamped, expected != tcp);
        prop_assert_eq!(packet, emit(&ip, &expected, b"data"));
    }
}

/// An IPv4 segment whose options are those of `tcp` with `raw` behind them.
fn with_raw_options(tcp: &TcpHeader, raw: &[u8]) -> Vec<u8> {
    let ip = IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6);
    // The raw options stand where a payload would, then the header grows over them.
    let mut padded = raw.to_vec();
    padded.resize(raw.len().next_multiple_of(4), 1);
    let mut packet = emit(&ip, tcp, &padded);
    let mut header = tcp.wire_bytes() + padded.len();
    header /= 4;
    let old = packet[32];
    packet[32] = (header as u8) << 4;
    let sum = u32::from(u16::from_be_bytes([packet[36], packet[37]]))
        + (u32::from(old) << 8)
        + (u32::from(!packet[32]) << 8 | 0xff);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = ((sum & 0xffff) + (sum >> 16)) as u16;
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(TcpPacket::parse(&packet).unwrap().verify_checksum(&packet), Ok(()));
    packet
}

/// An ACK as Linux sends it after a loss: timestamps and three SACK blocks, 40 bytes of options.
fn full_ack() -> TcpHeader {
    let mut ack =
        TcpHeader { flags: TcpFlags::ACK, ack: SeqNumber(1000), window: 500, ..TcpHeader::default() };
    ack.options.timestamps = Some(Timestamps { value: 10, echo: 20 });
    for start in [3000, 5000, 7000] {
        ack.options.sack.push(SackBlock { start: SeqNumber(start), end: SeqNumber(start + 1000) });
    }
    ack
}

#[test]
fn a_report_takes_the_place_of_the_oldest_sack_blocks() {
    let report = LossReport { lost: SeqNumber(1000), link: 2, flags: 0, keep: KeepFactor(0xc000) };
    let ip = IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6);
    let mut packet = emit(&ip, &full_ack(), &[]);
    packet.resize(100, 0);
    let length =
        SegmentRewrite { report: Some(report), ..Default::default() }.apply(&mut packet, 80).unwrap();
    let options = TcpPacket::parse(&packet[..length]).unwrap().header.options;
    assert_eq!(options.loss_report, Some(report));
    assert_eq!(options.sack.as_slice(), &full_ack().options.sack.as_slice()[..1], "the newest block stays");
    assert_eq!(length, 20 + 20 + 12 + 12 + 12);
    // The layout of the option: kind 253, length 12, "PR", link, flags, keep factor, lost sequence number.
    assert_eq!(packet[length - 12..length], [253, 12, 0x50, 0x52, 2, 0, 0xc0, 0, 0, 0, 0x03, 0xe8]);
}

#[test]
fn removing_sack_keeps_the_length_and_leaves_nops() {
    let ip = IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6);
    let mut packet = emit(&ip, &full_ack(), &[]);
    let rewrite = SegmentRewrite { sack: SackRewrite::Remove, ..Default::default() };
    assert_eq!(rewrite.apply(&mut packet, 80), Ok(80));
    assert!(packet[52..80].iter().all(|&b| b == 1), "{:?}", &packet[52..]);
}

#[test]
fn a_report_that_does_not_fit_the_buffer_changes_nothing() {
    let ip = IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6);
    let mut packet = emit(&ip, &TcpHeader::default(), b"payload");
    let (before, length) = (packet.clone(), packet.len());
    let report = Some(LossReport { lost: SeqNumber(1), link: 0, flags: 0, keep: KeepFactor(0) });
    assert!(SegmentRewrite { report, ..Default::default() }.apply(&mut packet, length).is_err());
    assert_eq!(packet, before);
}
