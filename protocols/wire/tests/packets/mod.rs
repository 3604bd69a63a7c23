//! Strategies and helpers shared by the property tests.
#![allow(dead_code)]
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use prismux_wire::{
    DeliveryOrder, Ecn, HandoffNotice, IpHeader, KeepFactor, LossReport, SackBlock, SackBlocks, SeqNumber,
    TcpFlags, TcpHeader, TcpOptions, Timestamps, emit_tcp_packet, ip::protocol,
};
use proptest::prelude::*;

pub fn seq() -> impl Strategy<Value = SeqNumber> {
    any::<u32>().prop_map(SeqNumber)
}

pub fn sack_blocks() -> impl Strategy<Value = SackBlocks> {
    proptest::collection::vec((seq(), seq()), 0..=4).prop_map(|pairs| {
        let mut blocks = SackBlocks::EMPTY;
        for (start, end) in pairs {
            blocks.push(SackBlock { start, end });
        }
        blocks
    })
}

pub fn loss_report() -> impl Strategy<Value = LossReport> {
    (seq(), any::<u8>(), any::<u8>(), any::<u16>()).prop_map(|(lost, link, flags, keep)| LossReport {
        lost,
        link,
        flags,
        keep: KeepFactor(keep),
    })
}

fn delivery_order() -> impl Strategy<Value = DeliveryOrder> {
    any::<(Option<u8>, Option<u16>, bool)>().prop_map(|(adsn, tpsn, out_of_order)| DeliveryOrder {
        adsn,
        tpsn,
        out_of_order,
    })
}

/// Options that fit a header.
pub fn options() -> impl Strategy<Value = TcpOptions> {
    let timestamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    (
        any::<Option<u16>>(),
        any::<Option<u8>>(),
        any::<bool>(),
        proptest::option::of(timestamps),
        sack_blocks(),
        proptest::option::of(loss_report()),
        (proptest::option::of(any::<u32>()), any::<bool>(), proptest::option::of(delivery_order())),
    )
        .prop_map(
            |(
                mss,
                window_scale,
                sack_permitted,
                timestamps,
                sack,
                loss_report,
                (kbps, lost_by_link, delivery_order),
            )| {
                TcpOptions {
                    mss,
                    window_scale,
                    sack_permitted,
                    timestamps,
                    sack,
                    loss_report,
                    handoff: kbps.map(|bandwidth_kbps| HandoffNotice { bandwidth_kbps }),
                    delivery_order,
                    lost_by_link,
                }
            },
        )
        .prop_map(|mut options| {
            while !options.fits() && !options.sack.is_empty() {
                options.sack.truncate(options.sack.as_slice().len() - 1);
            }
            options.lost_by_link &= options.fits();
            options.delivery_order = options.delivery_order.filter(|_| options.fits());
            options
        })
}

pub fn tcp_header() -> impl Strategy<Value = TcpHeader> {
    (any::<(u16, u16)>(), seq(), seq(), any::<u8>(), any::<(u16, u16)>(), options()).prop_map(
        |((source_port, destination_port), seq, ack, flags, (window, urgent), options)| TcpHeader {
            source_port,
            destination_port,
            seq,
            ack,
            flags: TcpFlags(flags),
            window,
            urgent,
            options,
        },
    )
}

pub fn ip_header() -> impl Strategy<Value = IpHeader> {
    let v4 = any::<(u32, u32)>()
        .prop_map(|(s, d)| (IpAddr::from(Ipv4Addr::from(s)), IpAddr::from(Ipv4Addr::from(d))));
    let v6 = any::<(u128, u128)>()
        .prop_map(|(s, d)| (IpAddr::from(Ipv6Addr::from(s)), IpAddr::from(Ipv6Addr::from(d))));
    (prop_oneof![v4, v6], 0u8..64, 0u8..4, any::<(u8, u16, bool, u32)>()).prop_map(
        |((source, destination), dscp, ecn, (hop_limit, identification, dont_fragment, label))| {
            let is_v4 = source.is_ipv4();
            IpHeader {
                dscp,
                ecn: Ecn::from_bits(ecn),
                hop_limit,
                identification: if is_v4 { identification } else { 0 },
                dont_fragment: dont_fragment || !is_v4,
                flow_label: if is_v4 { 0 } else { label & 0xf_ffff },
                ..IpHeader::new(source, destination, protocol::TCP)
            }
        },
    )
}

pub fn payload() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..64)
}

pub fn emit(ip: &IpHeader, tcp: &TcpHeader, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 2048];
    let length = emit_tcp_packet(ip, tcp, payload, &mut packet).expect("fits");
    packet.truncate(length);
    packet
}
