//! What strangers may do to daemons that they can reach, and what it must not cost.
use super::network::{Network, SENDER, TOKEN};
use super::scenarios::{gre_socket, udp_packet};
use super::transfer::{Direction, Transfer};
use crate::process::{Daemon, wait_for};
use prismux_daemons::tunnel::control::{Bye, Hello, Message, Tier, Token};
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::socket_option;
use prismux_units::Duration;
use prismux_wire::checksum::checksum;
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{SocketAddr, UdpSocket};

/// "Fragmentation needed, MTU 68" about packets of both tunnels, from somebody else's own address, which the kernel
/// believes for ten minutes: the download goes on.
pub fn forged_path_mtu() {
    let network = Network::new("forged-mtu");
    let proxy = network.start_proxy();
    let _members = [network.start_member(1, "gre"), network.start_member(2, "udp")];
    wait_for("both members join", || proxy.links_up() == ["m1", "m2"]);

    let forger = network.sender.enter(|| Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)));
    let forger = forger.unwrap().expect("a raw socket");
    for (end, protocol) in [([10, 2, 1], 47), ([10, 2, 2], 17)] {
        let [a, b, c] = end;
        let (from, to) = ([a, b, c, 1], [a, b, c, 2]);
        let mut quote = udp_packet(from, to, 4754, 4754, b"");
        quote[9] = protocol;
        let mut error = [&[3, 4, 0, 0, 0, 0, 0, 68][..], &quote].concat();
        let sum = checksum(&error);
        error[2..4].copy_from_slice(&sum.to_be_bytes());
        forger.send_to(&error, &SocketAddr::from((from, 0)).into()).unwrap();
        wait_for("the kernel believes it", || path_mtu(&network, to) < 1280);
    }

    let bytes = 5_000_000;
    Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);
    assert!(proxy.number("/drops/path_too_narrow") > 0, "believed, down to the least path MTU");
}

/// The path MTU that the proxy's kernel holds towards a member.
fn path_mtu(network: &Network, to: [u8; 4]) -> libc::c_int {
    let ask = || {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect((std::net::Ipv4Addr::from(to), 4754))?;
        socket_option::get(&socket, libc::IPPROTO_IP, libc::IP_MTU)
    };
    network.proxy.enter(ask).unwrap().unwrap()
}

/// Whoever can send as the proxy (a plain tunnel cannot tell) reaches the receivers alone: neither their neighbours nor
/// the member itself.
pub fn injected_packets() {
    let network = Network::new("injected");
    let proxy = network.start_proxy();
    let member = network.start_member(1, "gre");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);

    let stranger = network.proxy.enter(gre_socket).unwrap();
    for destination in [[10, 3, 1, 2], [10, 3, 1, 1], [10, 2, 1, 2]] {
        let inner = udp_packet([8, 8, 8, 8], destination, 53, 4000, b"hello");
        let frame = [&[0x00, 0x00, 0x08, 0x00][..], &inner].concat();
        stranger.send_to(&frame, &"10.2.1.2:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    }
    wait_for("all are refused", || member.number("/drops/foreign_destination") == 3);

    // The other way: an echo request from an address of nobody is no ICMP error.
    let stranger = network.members[0].enter(gre_socket).unwrap();
    let mut echo = udp_packet([9, 9, 9, 9], [10, 1, 0, 1], 0x0800, 0, b"");
    echo[9] = 1;
    echo[10..12].fill(0);
    let sum = checksum(&echo[..20]);
    echo[10..12].copy_from_slice(&sum.to_be_bytes());
    let frame = [&[0x00, 0x00, 0x08, 0x00][..], &echo].concat();
    stranger.send_to(&frame, &"10.2.1.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    wait_for("it is refused", || proxy.number("/drops/foreign_source") == 1);
}

/// The counter of a goodbye near the end of all numbers: once it shut its member out for good, in a storm of messages
/// between member and proxy.
pub fn last_counters() {
    let network = Network::new("counters");
    let proxy = network.start_proxy();
    let member = network.start_member(1, "udp");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    let other = network.members[1].enter(|| UdpSocket::bind("10.2.2.2:0")).unwrap().unwrap();
    other.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let token = Token::new(TOKEN).unwrap();
    let say = |message: &Message| {
        let frame = [&[0, 0, 0x88, 0xb5][..], &message.emit(&token)].concat();
        other.send_to(&frame, "10.2.2.1:4754").unwrap();
    };
    let hello = |name: &str| Hello {
        session: 0,
        counter: 1,
        next_within: Duration::from_secs(1),
        rate: None,
        tier: Tier::Primary,
        limit: None,
        name: name.to_owned(),
    };
    say(&Message::Hello(hello("m2")));
    let mut buffer = [0; 100];
    let (length, _) = uninterrupted(|| other.recv_from(&mut buffer)).unwrap();
    let Ok(Message::Challenge(challenge)) = Message::parse(&buffer[4..length], &token) else {
        panic!("no session")
    };
    let session = challenge.session;
    for counter in [u64::MAX, u64::MAX - 1, u64::MAX / 2] {
        say(&Message::Bye(Bye { session, counter, name: "m1".to_owned() }));
    }
    wait_for("they are refused", || proxy.number("/drops/malformed_control") == 3);
    assert!(proxy.links_up() == ["m1"] && member.is_registered());
}

/// After a restart a proxy calls the members that it had, though they have nothing to say for another 25 seconds.
pub fn idle_members_after_a_restart() {
    let network = Network::new("idle");
    let proxy = network.start_proxy();
    let members = [network.start_member(1, "gre"), network.start_member(2, "udp")];
    wait_for("both members join", || {
        proxy.links_up().len() == 2 && members.iter().all(Daemon::is_registered)
    });
    // Until the last hello before the quiet has passed.
    std::thread::sleep(std::time::Duration::from_millis(600));
    proxy.kill();
    let proxy = network.start_proxy();
    let start = std::time::Instant::now();
    wait_for("both are back", || proxy.links_up().len() == 2);
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
}
