use super::{BatchReceiver, BatchSender};
use crate::packet::PacketPool;
use crate::socket_option;
use std::io;
use std::net::{SocketAddr, UdpSocket};

fn pair(local: &str) -> (UdpSocket, UdpSocket, SocketAddr) {
    let receiver = UdpSocket::bind(local).unwrap();
    let to = receiver.local_addr().unwrap();
    (UdpSocket::bind(local).unwrap(), receiver, to)
}

#[test]
fn a_batch_arrives_in_order_with_header_sender_and_traffic_class() {
    let (sender, receiver, to) = pair("127.0.0.1:0");
    socket_option::set(&receiver, libc::IPPROTO_IP, libc::IP_RECVTOS, 1).unwrap();
    let pool = PacketPool::new(1500);
    let mut out = BatchSender::new(8);
    for number in 0..5u8 {
        let class = if number == 3 { 2 } else { 0 };
        out.push(to, class, &[0, 0, 8, 0], pool.copy_of(&[number; 1000]).unwrap());
    }
    out.flush(&sender, |error, _, _| panic!("{error}"));
    let mut batch = BatchReceiver::new(4, 1600);
    assert_eq!(batch.receive(&receiver).unwrap(), 4);
    for (number, datagram) in batch.datagrams().enumerate() {
        assert_eq!(datagram.from, sender.local_addr().unwrap());
        assert_eq!(datagram.bytes[..4], [0, 0, 8, 0]);
        assert_eq!(datagram.bytes[4..], [number as u8; 1000]);
        assert_eq!(datagram.traffic_class, Some(if number == 3 { 2 } else { 0 }));
    }
    assert_eq!(batch.receive(&receiver).unwrap(), 1);
    assert_eq!(batch.receive(&receiver).unwrap(), 0, "nothing left");
}

#[test]
fn ipv6_addresses_and_traffic_classes_pass() {
    let Ok(receiver) = UdpSocket::bind("[::1]:0") else {
        return; // A host without IPv6.
    };
    let sender = UdpSocket::bind("[::1]:0").unwrap();
    socket_option::set(&receiver, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1).unwrap();
    let mut out = BatchSender::new(1);
    let packet = PacketPool::new(1500).copy_of(&[5; 10]).unwrap();
    out.push(receiver.local_addr().unwrap(), 3, &[1, 2, 3, 4], packet);
    assert!(out.is_full());
    out.flush(&sender, |error, _, _| panic!("{error}"));
    let mut batch = BatchReceiver::new(1, 1600);
    assert_eq!(batch.receive(&receiver).unwrap(), 1);
    let datagram = batch.datagrams().next().unwrap();
    assert_eq!((datagram.from, datagram.traffic_class), (sender.local_addr().unwrap(), Some(3)));
}

#[test]
fn a_datagram_says_which_address_it_was_sent_to_and_leaves_from_the_one_it_should() {
    let receiver = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket_option::set(&receiver, libc::IPPROTO_IP, libc::IP_PKTINFO, 1).unwrap();
    socket_option::set(&receiver, libc::IPPROTO_IP, libc::IP_RECVTOS, 1).unwrap();
    let to = SocketAddr::from(([127, 0, 0, 3], receiver.local_addr().unwrap().port()));
    let sender = UdpSocket::bind("0.0.0.0:0").unwrap();
    let (pool, mut out) = (PacketPool::new(1500), BatchSender::new(2));
    for class in [0, 2] {
        let from = Some([127, 0, 0, 2].into());
        out.push_from(from, to, class, &[0; 4], pool.copy_of(&[1; 10]).unwrap());
    }
    out.flush(&sender, |error, _, _| panic!("{error}"));
    let mut batch = BatchReceiver::new(2, 1600);
    assert_eq!(batch.receive(&receiver).unwrap(), 2);
    for (datagram, class) in batch.datagrams().zip([0, 2]) {
        assert_eq!(datagram.from.ip().to_string(), "127.0.0.2");
        assert_eq!((datagram.to, datagram.traffic_class), (Some(to.ip()), Some(class)));
    }
}

#[test]
fn one_refused_datagram_does_not_stop_the_others() {
    let (sender, receiver, to) = pair("127.0.0.1:0");
    let pool = PacketPool::new(70_000);
    let mut out = BatchSender::new(3);
    out.push(to, 0, &[0; 4], pool.copy_of(&[1; 10]).unwrap());
    out.push(to, 0, &[0; 4], pool.copy_of(&[2; 66_000]).unwrap());
    out.push(to, 0, &[0; 4], pool.copy_of(&[3; 10]).unwrap());
    let mut refused = Vec::new();
    out.flush(&sender, |error, _, packet| refused.push((error.raw_os_error(), packet.len())));
    assert_eq!(refused, [(Some(libc::EMSGSIZE), 66_000)]);
    let mut batch = BatchReceiver::new(4, 1600);
    assert_eq!(batch.receive(&receiver).unwrap(), 2);
}

#[test]
fn a_cut_datagram_says_so() {
    let (sender, receiver, to) = pair("127.0.0.1:0");
    sender.send_to(&[0; 200], to).unwrap();
    let mut batch = BatchReceiver::new(1, 100);
    assert_eq!(batch.receive(&receiver).unwrap(), 1);
    let datagram = batch.datagrams().next().unwrap();
    assert!(datagram.truncated && datagram.bytes.len() == 100);
    assert!(datagram.traffic_class.is_none(), "not asked for");
}

#[test]
fn errors_of_the_socket_are_reported() {
    let file = std::fs::File::open("/dev/null").unwrap();
    let error = BatchReceiver::new(1, 100).receive(&file).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOTSOCK));
    assert_ne!(error.kind(), io::ErrorKind::WouldBlock);
}

/// Pairs of IPv4 and IPv6 sockets, where this host has them.
fn pairs() -> impl Iterator<Item = (UdpSocket, UdpSocket, SocketAddr)> {
    ["127.0.0.1:0", "[::1]:0"].into_iter().filter(|local| UdpSocket::bind(local).is_ok()).map(pair)
}

#[test]
fn datagrams_of_a_flow_pass_as_one_and_arrive_each_for_itself() {
    for (sender, receiver, to) in pairs() {
        let (_, other_receiver, other) = pair(if to.is_ipv6() { "[::1]:0" } else { "127.0.0.1:0" });
        let pool = PacketPool::new(1500);
        let mut out = BatchSender::joining(&sender, 64);
        let mut incoming = BatchReceiver::joined(&receiver, 64, 1600);
        // The last of a run may be shorter; what is longer begins another.
        let lengths = [1000, 1000, 1000, 700, 700, 1200, 0, 1200, 1200];
        for (number, length) in (0_u8..).zip(lengths) {
            out.push(to, 2, &[number, 0, 8, 0], pool.copy_of(&vec![number; length]).unwrap());
            out.push(other, 0, &[number], pool.copy_of(&[9; 10]).unwrap());
        }
        out.flush(&sender, |error, _, _| panic!("{error}"));
        let mut came = Vec::new();
        let mut messages = 0;
        while came.len() < lengths.len() {
            messages += incoming.receive(&receiver).unwrap();
            came.extend(incoming.datagrams().map(|datagram| (datagram.bytes.to_vec(), datagram.truncated)));
        }
        for ((number, length), (bytes, is_cut)) in (0_u8..).zip(lengths).zip(&came) {
            assert_eq!((bytes.len(), bytes[0], *is_cut), (4 + length, number, false));
            assert!(bytes[4..].iter().all(|&byte| byte == number));
        }
        assert!(messages < lengths.len(), "{messages} messages");
        let mut room = [0; 100];
        for number in 0..lengths.len() as u8 {
            assert_eq!(other_receiver.recv(&mut room).unwrap(), 11);
            assert_eq!(room[0], number);
        }
    }
}

#[test]
fn a_run_that_the_kernel_refuses_goes_one_by_one() {
    let (sender, receiver, to) = pair("127.0.0.1:0");
    // With `UDP_SEGMENT` a checksum is needed.
    socket_option::set(&sender, libc::SOL_SOCKET, libc::SO_NO_CHECK, 1).unwrap();
    let pool = PacketPool::new(1500);
    let mut out = BatchSender::joining(&sender, 8);
    for number in 0..3_u8 {
        out.push(to, 0, &[number], pool.copy_of(&[number; 500]).unwrap());
    }
    out.flush(&sender, |error, _, _| panic!("{error}"));
    let mut incoming = BatchReceiver::joined(&receiver, 8, 1600);
    assert_eq!(incoming.receive(&receiver).unwrap(), 3, "each for itself");
    assert_eq!(incoming.datagrams().map(|datagram| datagram.bytes[0]).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_datagram_longer_than_asked_for_is_cut_also_among_others() {
    let (sender, receiver, to) = pair("127.0.0.1:0");
    let mut incoming = BatchReceiver::joined(&receiver, 8, 600);
    let pool = PacketPool::new(1500);
    let mut out = BatchSender::joining(&sender, 8);
    for length in [900, 900, 500] {
        out.push(to, 0, &[], pool.copy_of(&vec![1; length]).unwrap());
    }
    out.flush(&sender, |error, _, _| panic!("{error}"));
    incoming.receive(&receiver).unwrap();
    let came = incoming.datagrams().map(|datagram| (datagram.bytes.len(), datagram.truncated));
    assert_eq!(came.collect::<Vec<_>>(), [(600, true), (600, true), (500, false)]);
}
