//! Frames as bytes, for captures: a radiotap header, and 802.11's (IEEE 802.11-1999 clause 7).
use crate::HostId;
use crate::ht::{HtFormat, HtRate};
use crate::mac::{Frame, FrameKind};
use crate::radio::Modulation;
use crate::resolution::{ArpMessage, ArpOperation};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Rate;

/// Bytes of the radiotap header: version, padding, length, fields present, then flags, rate and channel.
const RADIOTAP_BYTES: u16 = 14;
/// The fields of every radiotap header: flags, channel.
const RADIOTAP_FIELDS: u32 = 1 << 1 | 1 << 3;
/// The rate, and the scheme of 802.11n in its place.
const RATE_FIELD: u32 = 1 << 2;
const MCS_FIELD: u32 = 1 << 19;
/// What is said of a scheme: width, index, guard interval, format; and two of its flags.
const MCS_KNOWN: u8 = 0x0f;
const MCS_SHORT_GUARD: u8 = 0x04;
const MCS_GREENFIELD: u8 = 0x08;
/// In units of which radiotap tells rates.
const RATE_UNIT_BPS: u64 = 500_000;
/// Radiotap's flags of a channel: complementary code keying, OFDM, 2.4 GHz, 5 GHz.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const GHZ_2: u16 = 0x0080;
const GHZ_5: u16 = 0x0100;

/// Frame control: type and subtype, least significant byte first.
const DATA: u16 = 0x0008;
/// Bits of the subtype of data: it acknowledges, it polls, it has no data.
const CF_ACK: u16 = 0x0010;
const CF_POLL: u16 = 0x0020;
const NO_DATA: u16 = 0x0040;
const BEACON: u16 = 0x0080;
const CF_END: u16 = 0x00e4;
/// What the duration field says in contention-free periods.
const CONTENTION_FREE: u16 = 0x8000;
/// The element of a beacon that tells of contention-free periods: its number and length.
const CF_PARAMETERS: [u8; 2] = [4, 6];
/// A time unit of 802.11, in nanoseconds.
const TIME_UNIT_NS: u64 = 1_024_000;
const RTS: u16 = 0x00b4;
const CTS: u16 = 0x00c4;
const ACK: u16 = 0x00d4;
const BLOCK_ACK: u16 = 0x0094;
/// Control field of a block acknowledgement: its bitmap is of the compressed kind.
const COMPRESSED: u16 = 0x0004;
/// Longest time, in microseconds, that the duration field can tell.
const MAX_DURATION_US: u64 = 32_767;
/// LLC and SNAP before an IPv4 packet (RFC 1042).
const SNAP_IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0];
/// The same before a message of address resolution.
const SNAP_ARP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x06];
/// How a message of address resolution begins: for hardware addresses of Ethernet's kind, 6 bytes long, and for IPv4
/// (RFC 826).
const ARP_OF_IPV4: [u8; 6] = [0, 1, 0x08, 0, 6, 4];
/// The name of the network without access point that all hosts are in.
const NETWORK: [u8; 6] = [0x02, 0, 0, 0xff, 0xff, 0xff];

/// A host's address: locally administered, with its number.
fn address(host: Option<HostId>) -> [u8; 6] {
    let Some(HostId(number)) = host else { return [0xff; 6] };
    let [a, b, c, d] = number.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

/// Writes what stands before the packet in a frame, or the whole of a frame without one: the radiotap header, and that
/// of 802.11. The checksum at the end is left out, as radiotap allows.
///
/// A message of address resolution is written whole, with the IPv4 addresses that `address_of` has.
pub(crate) fn emit<P>(
    frame: &Frame<P>,
    (modulation, channel): (Modulation, Option<u8>),
    address_of: impl Fn(HostId) -> Ipv4Addr,
    out: &mut Vec<u8>,
) {
    emit_radiotap(frame.rate, (modulation, channel), out);
    let control = match frame.kind {
        FrameKind::Rts => RTS,
        FrameKind::Cts => CTS,
        FrameKind::Data => DATA,
        FrameKind::Null => DATA | NO_DATA,
        FrameKind::Beacon => BEACON,
        FrameKind::CfEnd => CF_END,
        FrameKind::Ack => ACK,
        FrameKind::BlockAck => BLOCK_ACK,
    };
    let control = control | if frame.cf_ack { CF_ACK } else { 0 } | if frame.cf_poll { CF_POLL } else { 0 };
    let is_contention_free = frame.cf_poll || frame.cf_ack || frame.kind == FrameKind::Null;
    let duration_us = frame.nav.as_nanos().div_ceil(1000).min(MAX_DURATION_US) as u16;
    out.extend(control.to_le_bytes());
    let duration = match frame.kind {
        FrameKind::Beacon => CONTENTION_FREE,
        FrameKind::CfEnd => 0,
        _ if is_contention_free => CONTENTION_FREE,
        _ => duration_us,
    };
    out.extend(duration.to_le_bytes());
    out.extend(address(frame.to));
    if !matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) {
        out.extend(address(Some(frame.from)));
    }
    if frame.kind == FrameKind::BlockAck {
        out.extend(COMPRESSED.to_le_bytes());
        out.extend((frame.sequence << 4).to_le_bytes());
        out.extend(frame.bitmap.to_le_bytes());
    }
    if matches!(frame.kind, FrameKind::Data | FrameKind::Null | FrameKind::Beacon) {
        out.extend(NETWORK);
        // Twelve bits of number, behind four of fragment.
        out.extend((frame.sequence << 4).to_le_bytes());
    }
    if let Some(message) = &frame.arp {
        out.extend(SNAP_ARP);
        emit_arp(message, address_of, out);
    } else if frame.kind == FrameKind::Data {
        out.extend(SNAP_IPV4);
    }
    if frame.kind == FrameKind::Beacon {
        // Time, interval and capabilities are not told; of contention-free periods what is left of this one.
        out.extend([0; 12]);
        out.extend(CF_PARAMETERS);
        out.extend([0; 4]);
        let left = (frame.nav.as_nanos() / TIME_UNIT_NS).min(u64::from(u16::MAX)) as u16;
        out.extend(left.to_le_bytes());
    }
}

/// The middle of a channel at 2.4 GHz; of channel 1 for a number that no channel has there.
fn megahertz_2(channel: Option<u8>) -> u16 {
    match channel {
        Some(channel @ 1..=13) => 2407 + 5 * u16::from(channel),
        Some(14) => 2484,
        _ => 2412,
    }
}

/// The middle of a channel at 5 GHz; of channel 36 for a number that no channel has there.
fn megahertz_5(channel: Option<u8>) -> u16 {
    match channel {
        Some(channel @ 34..=196) => 5000 + 5 * u16::from(channel),
        _ => 5180,
    }
}

/// Writes the radiotap header of a frame.
fn emit_radiotap(rate_of_bits: Rate, (modulation, number): (Modulation, Option<u8>), out: &mut Vec<u8>) {
    let (megahertz, channel): (u16, u16) = match modulation {
        Modulation::Dsss(_) => (megahertz_2(number), GHZ_2 | CCK),
        Modulation::ErpOfdm => (megahertz_2(number), GHZ_2 | OFDM),
        Modulation::Ofdm | Modulation::Ht(_) => (megahertz_5(number), GHZ_5 | OFDM),
    };
    let scheme = match modulation {
        Modulation::Ht(format) => HtRate::of(rate_of_bits).map(|scheme| (scheme, format)),
        _ => None,
    };
    let (bytes, rate_or_scheme) =
        if scheme.is_some() { (RADIOTAP_BYTES + 3, MCS_FIELD) } else { (RADIOTAP_BYTES, RATE_FIELD) };
    out.extend([0, 0]);
    out.extend(bytes.to_le_bytes());
    out.extend((RADIOTAP_FIELDS | rate_or_scheme).to_le_bytes());
    // In place of a rate that the scheme says is a byte that aligns the channel.
    let rate = (rate_of_bits.as_bps() / RATE_UNIT_BPS).min(255) as u8;
    out.extend([0, if scheme.is_some() { 0 } else { rate }]);
    out.extend(megahertz.to_le_bytes());
    out.extend(channel.to_le_bytes());
    if let Some((scheme, format)) = scheme {
        let flags = u8::from(scheme.wide)
            | if scheme.short_guard { MCS_SHORT_GUARD } else { 0 }
            | if format == HtFormat::Greenfield { MCS_GREENFIELD } else { 0 };
        out.extend([MCS_KNOWN, flags, 8 * (scheme.streams - 1) + scheme.scheme]);
    }
}

/// Writes a message of address resolution.
fn emit_arp(message: &ArpMessage, address_of: impl Fn(HostId) -> Ipv4Addr, out: &mut Vec<u8>) {
    let (operation, hardware): (u16, _) = match message.operation {
        ArpOperation::Request => (1, [0; 6]),
        ArpOperation::Reply => (2, address(Some(message.target))),
    };
    out.extend(ARP_OF_IPV4);
    out.extend(operation.to_be_bytes());
    out.extend(address(Some(message.sender)));
    out.extend(address_of(message.sender).octets());
    out.extend(hardware);
    out.extend(address_of(message.target).octets());
}

#[cfg(test)]
mod tests {
    use super::emit;
    use crate::ht::HtFormat;
    use crate::mac::{Frame, FrameKind};
    use crate::radio::{Modulation, Preamble};
    use crate::resolution::{ArpMessage, ArpOperation};
    use crate::{HostId, MacConfig};
    use alloc::vec::Vec;
    use core::net::Ipv4Addr;
    use prismux_units::{Duration, Rate};

    fn bytes(kind: FrameKind, to: Option<u32>) -> Vec<u8> {
        written(&frame(kind, to))
    }

    fn frame(kind: FrameKind, to: Option<u32>) -> Frame<()> {
        Frame {
            kind,
            from: HostId(1),
            to: to.map(HostId),
            rate: MacConfig::ns2().data_rate,
            airtime: Duration::ZERO,
            nav: Duration::from_micros(300),
            sequence: 5,
            bitmap: 0,
            continues: false,
            cf_poll: false,
            cf_ack: false,
            announced: false,
            payload: None,
            arp: None,
        }
    }

    fn written(frame: &Frame<()>) -> Vec<u8> {
        let mut out = Vec::new();
        let address = |HostId(number)| Ipv4Addr::new(10, 0, 0, number as u8);
        emit(frame, (Modulation::Dsss(Preamble::Long), Some(1)), address, &mut out);
        out
    }

    #[test]
    fn a_frame_of_802_11n_tells_its_scheme_and_others_their_rate() {
        let written = |mbps| {
            let frame = Frame { rate: Rate::from_mbps(mbps), ..frame(FrameKind::Ack, Some(2)) };
            let mut out = Vec::new();
            emit(
                &frame,
                (Modulation::Ht(HtFormat::Greenfield), Some(36)),
                |_| Ipv4Addr::UNSPECIFIED,
                &mut out,
            );
            out
        };
        // Width, index, guard interval and format are known: 40 MHz, short, greenfield, scheme 15 on two streams.
        let radiotap = [0, 0, 17, 0, 0x0a, 0, 8, 0, 0, 0, 0x3c, 0x14, 0x40, 1, 0x0f, 0x0d, 15];
        assert_eq!(written(300)[..17], radiotap);
        assert_eq!(written(24)[..14], [0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 48, 0x3c, 0x14, 0x40, 1]);
    }

    #[test]
    fn the_radiotap_header_tells_the_middle_of_the_channel() {
        let megahertz = |modulation, channel| {
            let mut out = Vec::new();
            let frame = frame(FrameKind::Ack, Some(2));
            emit(&frame, (modulation, channel), |_| Ipv4Addr::UNSPECIFIED, &mut out);
            u16::from_le_bytes([out[10], out[11]])
        };
        let b = Modulation::Dsss(Preamble::Long);
        for (modulation, channel, expected) in [
            (b, Some(6), 2437),
            (Modulation::ErpOfdm, Some(14), 2484),
            (b, Some(36), 2412),
            (Modulation::Ofdm, Some(149), 5745),
            (Modulation::Ofdm, Some(1), 5180),
            (Modulation::Ofdm, None, 5180),
        ] {
            assert_eq!(megahertz(modulation, channel), expected, "{modulation:?} on {channel:?}");
        }
    }

    #[test]
    fn messages_of_address_resolution_are_whole() {
        let message = ArpMessage { operation: ArpOperation::Request, sender: HostId(1), target: HostId(2) };
        let asks = Frame { to: None, arp: Some(message), ..frame(FrameKind::Data, None) };
        let bytes = written(&asks);
        assert_eq!(bytes[38..46], [0xaa, 0xaa, 3, 0, 0, 0, 8, 6], "LLC and SNAP say ARP");
        let body = [
            [0, 1, 8, 0, 6, 4, 0, 1].as_slice(),
            &[2, 0, 0, 0, 0, 1, 10, 0, 0, 1],
            &[0, 0, 0, 0, 0, 0, 10, 0, 0, 2],
        ];
        assert_eq!(bytes[46..], body.concat());
        let message = ArpMessage { operation: ArpOperation::Reply, sender: HostId(2), target: HostId(1) };
        let answers = Frame { arp: Some(message), ..asks };
        let body = [
            [0, 1, 8, 0, 6, 4, 0, 2].as_slice(),
            &[2, 0, 0, 0, 0, 2, 10, 0, 0, 2],
            &[2, 0, 0, 0, 0, 1, 10, 0, 0, 1],
        ];
        assert_eq!(written(&answers)[46..], body.concat());
    }

    #[test]
    fn control_frames_are_whole_and_data_frames_end_before_the_packet() {
        let radiotap = [0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 4, 0x6c, 0x09, 0xa0, 0];
        let rts = bytes(FrameKind::Rts, Some(2));
        assert_eq!(rts[..14], radiotap, "2 Mbit/s on 2412 MHz");
        assert_eq!(rts[14..18], [0xb4, 0, 44, 1], "300 us");
        assert_eq!(rts[18..], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], "from host 1 to host 2");
        // 20, 14, 14 and 32 bytes with the checksum that is left out.
        let lengths = [FrameKind::Rts, FrameKind::Cts, FrameKind::Ack, FrameKind::BlockAck]
            .map(|kind| bytes(kind, Some(2)).len() - 14);
        assert_eq!(lengths, [16, 10, 10, 28]);
        let data = bytes(FrameKind::Data, None);
        assert_eq!(data.len() - 14, 24 + 8, "MAC header, LLC and SNAP");
        assert_eq!(data[18..24], [0xff; 6]);
        assert_eq!(data[36..38], [0x50, 0], "number 5");
    }
}
