use super::{Frame, FrameError, SocketOptions, decapsulate, open};
use crate::tunnel::{Peer, Transport};
use crate::workers::Workers;
use prismux_linux::batch::Received;
use prismux_linux::packet::PacketPool;
use prismux_wire::{Ecn, GreHeader, Layer, SeqNumber, WireError};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

/// A GRE packet as another implementation sends it: outer IPv4 header, GRE header, inner IPv4 header (a ping
/// without data). Checked by hand against RFC 791 and RFC 2784.
const PING_IN_GRE: [u8; 52] = [
    0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x2f, 0x4e,
    0x5f, // outer: 52 bytes, DF, protocol 47
    192, 0, 2, 1, 198, 51, 100, 7, // 192.0.2.1 > 198.51.100.7
    0x00, 0x00, 0x08, 0x00, // GRE: no checksum, version 0, IPv4
    0x45, 0x00, 0x00, 0x1c, 0x00, 0x01, 0x00, 0x00, 0x40, 0x01, 0x66, 0xd0, // inner: 28 bytes, ICMP
    10, 0, 0, 1, 10, 0, 0, 16, // 10.0.0.1 > 10.0.0.16
    0x08, 0x00, 0xf7, 0xfd, 0x00, 0x01, 0x00, 0x01, // echo request 1, sequence 1
];

fn received(bytes: &[u8]) -> Received<'_> {
    let from = "192.0.2.1:0".parse().unwrap();
    Received { from, to: None, bytes, traffic_class: None, truncated: false }
}

fn gre(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    decapsulate(Transport::Gre, &received(bytes))
}

#[test]
fn a_gre_packet_of_another_implementation_is_understood() {
    let frame = gre(&PING_IN_GRE).unwrap();
    assert_eq!(frame.peer, Peer::gre([192, 0, 2, 1]));
    assert_eq!((frame.protocol, frame.inner), (0x0800, &PING_IN_GRE[24..]));
    assert_eq!(frame.outer_ecn, Some(Ecn::NotEct));
}

#[test]
fn every_cut_of_a_gre_packet_is_refused() {
    for length in 0..PING_IN_GRE.len() {
        assert!(gre(&PING_IN_GRE[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn gre_of_another_version_is_refused() {
    let mut bytes = PING_IN_GRE;
    bytes[21] = 1; // PPTP's.
    assert_eq!(gre(&bytes).unwrap_err(), FrameError::Malformed(WireError::Version(Layer::Gre, 1)));
}

#[test]
fn gre_in_udp_puts_four_bytes_before_the_packet() {
    let local = SocketOptions { local: Some("127.0.0.1:0".parse().unwrap()), ..SocketOptions::default() };
    let (mut receiver, mut sender) = open(Transport::Udp, &local, 1468, None, &Workers::none()).unwrap();
    let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let packet = PacketPool::new(1468).copy_of(&PING_IN_GRE[24..]).unwrap();
    sender.push(Peer::udp(other.local_addr().unwrap()), &GreHeader::plain(0x0800), Ecn::NotEct, packet);
    sender.flush(|error, _, _| panic!("{error:?}"));
    let mut buffer = [0; 100];
    let (length, from) = other.recv_from(&mut buffer).unwrap();
    assert_eq!(buffer[..length], PING_IN_GRE[20..]);

    other.send_to(&PING_IN_GRE[20..], from).unwrap();
    other.send_to(&[0x80, 0, 8], from).unwrap();
    let (mut good, mut bad) = (Vec::new(), 0);
    let mut handle = |frame: Result<Frame<'_>, FrameError>| match frame {
        Ok(frame) => good.push((frame.peer, frame.inner.to_vec())),
        Err(_) => bad += 1,
    };
    receiver.receive(&mut handle).unwrap();
    assert_eq!(bad, 1);
    assert_eq!(good, [(Peer::udp(other.local_addr().unwrap()), PING_IN_GRE[24..].to_vec())]);
}

#[test]
fn a_number_takes_four_bytes_more() {
    let mut bytes = PING_IN_GRE.to_vec();
    bytes[20] = 0x10; // Sequence number present (RFC 2890).
    bytes.splice(24..24, [0, 0, 1, 2]);
    bytes[3] += 4;
    bytes[11] -= 4;
    let frame = gre(&bytes).unwrap();
    assert_eq!((frame.number, frame.inner), (Some(SeqNumber(258)), &PING_IN_GRE[24..]));
}

#[test]
fn a_port_in_use_is_explained() {
    let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let local = Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), other.local_addr().unwrap().port()));
    let options = SocketOptions { local, ..SocketOptions::default() };
    let error = open(Transport::Udp, &options, 1468, None, &Workers::none()).err().unwrap().to_string();
    assert!(error.contains("already running"), "{error}");
}
