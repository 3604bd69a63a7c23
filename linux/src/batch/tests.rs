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
