//! What a user relies on, one function each.
use crate::network::{Network, SENDER, SENDER_V6};
use crate::process::{Daemon, ip, wait_for};
use crate::transfer::{Direction, Transfer};
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::namespace::Namespace;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeSet;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const MEGABYTE: u64 = 1_000_000;

/// PRISM as published. The default learns what links can do and may leave one out.
const PAPER: &str = "[prism]\nprofile = \"paper\"\n";

pub fn download_by_gre() {
    let network = Network::new("gre");
    let proxy = network.start_proxy_with("0.0.0.0:4754", PAPER);
    download(&network, &proxy, ["gre", "gre"], SENDER);
    both_carried(&proxy);
}

pub fn download_by_udp() {
    let network = Network::new("udp");
    let proxy = network.start_proxy();
    download(&network, &proxy, ["udp", "udp"], SENDER);
}

/// IPv6 inside, and one tunnel over IPv6 into the same socket as the other over IPv4.
pub fn download_of_ipv6() {
    let network = Network::new("ipv6");
    let proxy = network.start_proxy_with("[::]:4754", PAPER);
    download(&network, &proxy, ["udp", "udp6"], SENDER_V6);
    both_carried(&proxy);
}

/// A download arrives as it was sent, whatever the links made of it.
fn download(network: &Network, proxy: &Daemon, transports: [&str; 2], server: &str) {
    let _members = [network.start_member(1, transports[0]), network.start_member(2, transports[1])];
    wait_for("both members join", || proxy.links_up() == ["m1", "m2"]);
    let bytes = 30 * MEGABYTE;
    Transfer::start(network, server, Direction::Download, bytes, None).finish(bytes);
    for reason in ["malformed_tunnel", "malformed_packet", "send_failed", "tun_refused"] {
        assert_eq!(proxy.number(&format!("/drops/{reason}")), 0, "{reason}");
    }
}

/// With the scheduler of the paper, no link is left out.
fn both_carried(proxy: &Daemon) {
    for link in 0..2 {
        let carried = proxy.number(&format!("/links/{link}/forward_bytes"));
        assert!(carried > MEGABYTE, "link {link} carried {carried} bytes only");
    }
}

/// The other direction of TCP, and what is not TCP.
pub fn upload_and_datagrams() {
    let network = Network::new("upload");
    let proxy = network.start_proxy();
    let _members = [network.start_member(1, "gre"), network.start_member(2, "udp")];
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 10 * MEGABYTE;
    Transfer::start(&network, SENDER, Direction::Upload, bytes, None).finish(bytes);

    let bind =
        |space: &Namespace, address: &str| space.enter(|| UdpSocket::bind((address, 7000))).unwrap().unwrap();
    let (sender, receiver) = (bind(&network.sender, SENDER), bind(&network.receiver, "10.77.0.2"));
    for socket in [&sender, &receiver] {
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    }
    sender.send_to(&[1; 1200], "10.77.0.2:7000").unwrap();
    let (length, from) =
        uninterrupted(|| receiver.recv_from(&mut [0; 2000])).expect("a datagram through the proxy");
    assert_eq!((length, from), (1200, "10.1.0.1:7000".parse().unwrap()));
    receiver.send_to(&[2; 300], from).unwrap();
    assert_eq!(uninterrupted(|| sender.recv_from(&mut [0; 2000])).expect("an answer").0, 300);
    assert_eq!(proxy.number("/counters/opaque_packets"), 1);
}

/// Devices, addresses, routes and rules of a namespace: what an administrator would see. Without IPv6's link-local
/// addresses and multicast routes and the remark "linkdown", which come and go by themselves as cables are noticed.
pub fn configuration(space: &Namespace) -> BTreeSet<String> {
    let by_itself = |line: &str| ["fe80:", "ff00:", "anycast"].iter().any(|part| line.contains(part));
    let shown = ["-o address", "route show table all", "-6 route show table all", "rule", "-6 rule"]
        .map(|what| ip(space, what));
    let devices = ip(space, "-br link");
    let names = devices.lines().filter_map(|line| line.split_whitespace().next());
    let lines = shown.iter().flat_map(|text| text.lines()).filter(|line| !by_itself(line));
    names.chain(lines).map(|line| line.replace(" linkdown", "").trim_end().to_owned()).collect()
}

fn assert_unchanged(spaces: [&Namespace; 2], before: &[BTreeSet<String>; 2]) {
    for (space, before) in spaces.into_iter().zip(before) {
        let after = configuration(space);
        let changes: Vec<_> = before.symmetric_difference(&after).collect();
        assert!(changes.is_empty(), "left behind, or gone: {changes:#?}");
    }
}

pub fn clean_shutdown() {
    let network = Network::new("shutdown");
    let spaces = [&network.proxy, &network.members[0]];
    let before = spaces.map(configuration);
    let (proxy, member) = (network.start_proxy(), network.start_member(1, "udp"));
    wait_for("the member joins", || proxy.links_up() == ["m1"] && member.is_registered());
    let during = spaces.map(configuration);
    let has = |space: usize, part: &str| during[space].iter().any(|line| line.contains(part));
    assert!(has(0, "10.77.0.2 dev prism0") && has(0, "fd77::2 dev prism0"), "{:#?}", during[0]);
    assert!(has(1, "from 10.77.0.2 lookup 4754"), "{:#?}", during[1]);

    member.stop();
    wait_for("the member says goodbye", || proxy.links_up().is_empty());
    let socket = proxy.socket().to_owned();
    proxy.stop();
    assert_unchanged(spaces, &before);
    assert!(!socket.exists());

    // As after a power cut: killed, started again, stopped.
    let (proxy, member) = (network.start_proxy(), network.start_member(1, "udp"));
    proxy.kill();
    member.kill();
    let (proxy, member) = (network.start_proxy(), network.start_member(1, "udp"));
    wait_for("the member joins again", || proxy.links_up() == ["m1"] && member.is_registered());
    let rules = ip(&network.members[0], "rule").matches("lookup 4754").count();
    assert_eq!(rules, 1, "the rule of the killed member was replaced");
    member.stop();
    proxy.stop();
    assert_unchanged(spaces, &before);
}

pub fn killed_member() {
    let network = Network::new("killed-member");
    let proxy = network.start_proxy();
    let _m1 = network.start_member(1, "gre");
    let m2 = network.start_member(2, "gre");
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 12 * MEGABYTE;
    let download = Transfer::start(&network, SENDER, Direction::Download, bytes, Some(24_000_000));
    wait_for("the download runs", || download.arrived() > MEGABYTE);
    m2.kill();
    wait_for("the proxy misses it", || proxy.links_up() == ["m1"]);
    assert_eq!(proxy.number("/flow_count"), 1);
    let then = download.arrived();
    wait_for("the download goes on", || download.arrived() > then + MEGABYTE);
    let _m2 = network.start_member(2, "gre");
    wait_for("it comes back", || proxy.links_up() == ["m1", "m2"]);
    download.finish(bytes);
}

pub fn killed_proxy() {
    let network = Network::new("killed-proxy");
    let proxy = network.start_proxy();
    let _members = [network.start_member(1, "udp"), network.start_member(2, "gre")];
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 12 * MEGABYTE;
    let download = Transfer::start(&network, SENDER, Direction::Download, bytes, Some(24_000_000));
    wait_for("the download runs", || download.arrived() > 2 * MEGABYTE);
    proxy.kill();
    assert!(!ip(&network.proxy, "-o link").contains("prism0"), "the device went with the process");
    assert!(!ip(&network.proxy, "route").contains("10.77.0.2"), "and the route with the device");
    std::thread::sleep(Duration::from_millis(200));
    let then = download.arrived();
    assert!(then < bytes, "it was in mid-transfer");
    let proxy = network.start_proxy();
    wait_for("the members are found again", || proxy.links_up().len() == 2);
    download.finish(bytes);
    assert!(proxy.number("/counters/data_packets") > 1000);
    assert_eq!(proxy.number("/counters/midstream_flows"), 1);
}

/// Malformed, foreign and unauthorised packets go nowhere, are counted by reason, and break nothing.
pub fn hostile_packets() {
    let network = Network::new("hostile");
    let proxy = network.start_proxy();
    let _member = network.start_member(1, "gre");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);

    let stranger = network.members[1].enter(|| UdpSocket::bind("10.2.2.2:0")).unwrap().unwrap();
    let by_udp = |bytes: &[u8]| stranger.send_to(bytes, "10.2.2.1:4754").unwrap();
    by_udp(&[0x00, 0x00, 0x08]); // Cut short.
    by_udp(&[0x40, 0x00, 0x08, 0x00, 0x45]); // A routing field, as RFC 1701 had.
    by_udp(&[0x00, 0x00, 0x65, 0x58, 1, 2, 3]); // An Ethernet frame.
    by_udp(&[0x00, 0x00, 0x88, 0xb5, 1, 2, 3]); // A control message cut short.
    let inner = icmp_free_packet([10, 77, 0, 2], [10, 1, 0, 1]);
    by_udp(&[&[0x00, 0x00, 0x08, 0x00][..], &inner].concat()); // From somebody who has not registered.

    let raw = network.members[0].enter(gre_socket).unwrap();
    let to: SocketAddr = "10.2.1.1:0".parse().unwrap();
    let by_gre = |bytes: &[u8]| raw.send_to(bytes, &to.into()).unwrap();
    by_gre(&[0x00, 0x00, 0x08, 0x00, 0x45, 0x00]); // Not even an IP header inside.
    by_gre(&[&[0x00, 0x00, 0x08, 0x00][..], &icmp_free_packet([192, 0, 2, 66], [10, 1, 0, 1])].concat());

    for (reason, count) in [
        ("malformed_tunnel", 2),
        ("other_protocol", 1),
        ("malformed_control", 1),
        ("unknown_peer", 1),
        ("malformed_packet", 1),
        ("foreign_source", 1),
    ] {
        wait_for(reason, || proxy.number(&format!("/drops/{reason}")) == count);
    }
    // The stranger gets no answer: what is signed with the token would let it try tokens at leisure.
    stranger.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(uninterrupted(|| stranger.recv_from(&mut [0; 100])).is_err());
    let bytes = MEGABYTE;
    Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);
}

/// A path with a smaller MTU than configured: the sender learns of it and the transfer goes through.
pub fn narrow_path() {
    let network = Network::new("narrow");
    ip(&network.proxy, "link set m1 mtu 1380");
    let proxy = network.start_proxy();
    let _member = network.start_member(1, "gre");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    let bytes = 5 * MEGABYTE;
    Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);
    assert!(proxy.number("/drops/path_too_narrow") > 0);
}

/// The proxy's tunnel, byte by byte, with somebody at the other end who only knows RFC 2784.
pub fn plain_gre_router() {
    let network = Network::new("router");
    let router = network.members[0].enter(gre_socket).unwrap();
    router.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let proxy =
        network.start_proxy_with("0.0.0.0:4754", "[[members]]\nname = \"router\"\npeer = \"gre:10.2.1.2\"\n");
    assert_eq!(proxy.links_up(), ["router"]);
    let sender = network.sender.enter(|| UdpSocket::bind((SENDER, 7000))).unwrap().unwrap();
    sender.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    sender.send_to(b"ping", "10.77.0.2:7001").unwrap();

    let mut bytes = [0; 200];
    let length = uninterrupted(|| (&router).read(&mut bytes)).expect("a tunnelled packet");
    let (outer, rest) = bytes[..length].split_at(20);
    assert_eq!(
        (outer[0], outer[9], usize::from(u16::from_be_bytes([outer[2], outer[3]]))),
        (0x45, 47, length)
    );
    assert_eq!(outer[6] & 0x40, 0x40, "DF: a path too narrow shows up");
    assert_eq!(outer[12..20], [10, 2, 1, 1, 10, 2, 1, 2]);
    let (gre, inner) = rest.split_at(4);
    assert_eq!(gre, [0x00, 0x00, 0x08, 0x00], "RFC 2784: no checksum, version 0, IPv4");
    assert_eq!(
        (inner.len(), inner[9], inner[8]),
        (32, 17, 63),
        "UDP; two hops less than 64 were one forwarding"
    );
    assert_eq!(inner[12..20], [10, 1, 0, 1, 10, 77, 0, 2]);
    assert_eq!(inner[28..], *b"ping");

    // The way back, with a checksum, which RFC 2784 allows (section 2.1).
    let mut answer = vec![0x80, 0x00, 0x08, 0x00, 0, 0, 0, 0];
    answer.extend_from_slice(&udp_packet([10, 77, 0, 2], [10, 1, 0, 1], 7001, 7000, b"pong"));
    let sum = prismux_wire::checksum::checksum(&answer);
    answer[4..6].copy_from_slice(&sum.to_be_bytes());
    router.send_to(&answer, &SocketAddr::from(([10, 2, 1, 1], 0)).into()).unwrap();
    let (length, from) = uninterrupted(|| sender.recv_from(&mut bytes)).expect("the answer");
    assert_eq!((&bytes[..length], from), (&b"pong"[..], "10.77.0.2:7001".parse().unwrap()));
}

pub fn gre_socket() -> Socket {
    Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(47))).expect("a raw socket")
}

/// An IPv4 packet that nobody would answer: UDP to the discard port.
fn icmp_free_packet(source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
    udp_packet(source, destination, 9, 9, b"")
}

/// An IPv4 packet of UDP.
pub fn udp_packet(
    source: [u8; 4],
    destination: [u8; 4],
    source_port: u16,
    destination_port: u16,
    payload: &[u8],
) -> Vec<u8> {
    let ip =
        prismux_wire::IpHeader::new(Ipv4Addr::from(source).into(), Ipv4Addr::from(destination).into(), 17);
    let udp = prismux_wire::UdpHeader { source_port, destination_port };
    let mut out = vec![0; 28 + payload.len()];
    prismux_wire::emit_udp_packet(&ip, &udp, payload, &mut out).unwrap();
    out
}
