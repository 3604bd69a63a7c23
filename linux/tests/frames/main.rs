//! Frames over a virtual Ethernet cable, beside the kernel; and a TUN device that outlives its handle.
//!
//! Works as root, and without where user namespaces are allowed.

use nix::sched::{CloneFlags, unshare};
use prismux_linux::frame_socket::{FrameSocket, Interface, InterfaceError};
use prismux_linux::netconf::ip;
use prismux_linux::tun::Tun;
use prismux_linux::{netlink, privileges};
use prismux_wire::ethernet::{EthernetHeader, MacAddress, ether_type};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// An EtherType for experiments (IEEE 802), of which no kernel sends anything.
const OWN: u16 = 0x88b5;

/// How long a busy machine may take for what takes no time.
const PATIENCE: Duration = Duration::from_secs(10);

const TESTS: [(&str, fn()); 4] = [
    ("frames_come_as_they_were_sent_to_those_whom_they_are_for", frames),
    ("what_is_no_ethernet_is_refused", refused),
    ("a_device_that_is_left_behind_is_taken_up_again", left_behind),
    ("a_device_that_is_taken_up_again_loses_nothing_once_it_sends", nothing_lost),
];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if let Err(error) = privileges::ensure_privileges() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace of our own");
    for (name, test) in TESTS {
        test();
        println!("{name} ... ok");
    }
    ExitCode::SUCCESS
}

fn frame(from: &Interface, to: MacAddress, content: &[u8]) -> Vec<u8> {
    let header = EthernetHeader { destination: to, source: from.address(), ether_type: OWN };
    let mut frame = vec![0; EthernetHeader::WIRE_BYTES];
    header.emit(&mut frame).unwrap();
    frame.extend_from_slice(content);
    frame
}

/// What a call reads, which is repeated while there is nothing.
fn read(patience: Duration, mut call: impl FnMut() -> io::Result<usize>) -> Option<usize> {
    let deadline = Instant::now() + patience;
    loop {
        let is_over = Instant::now() >= deadline;
        match call() {
            Ok(length) => return Some(length),
            Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
            Err(_) if is_over => return None,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// The next frame, which must come or must not; `None` when none does.
fn next(socket: &FrameSocket, must_come: bool) -> Option<Vec<u8>> {
    let mut buffer = [0; 2000];
    let patience = if must_come { PATIENCE } else { Duration::from_millis(100) };
    let length = read(patience, || socket.read(&mut buffer))?;
    Some(buffer[..length].to_vec())
}

fn frames() {
    for command in ["link add near type veth peer name far", "link set near up", "link set far up mtu 1400"] {
        ip(command).unwrap_or_else(|error| panic!("{error}"));
    }
    for name in ["near", "far"] {
        netlink::wait_until_it_sends(name, PATIENCE).unwrap();
    }
    let [near, far] = ["near", "far"].map(|name| Interface::find(name).unwrap());
    assert_eq!((far.name(), far.mtu_bytes(), near.mtu_bytes()), ("far", 1400, 1500));
    assert!(!near.address().is_group() && near.address() != far.address());
    let open = |interface: &Interface, hears_all| FrameSocket::open(interface, OWN, hears_all).unwrap();
    let (sender, receiver) = (open(&near, false), open(&far, false));
    // For the interface, and for all.
    for to in [far.address(), MacAddress::BROADCAST] {
        let sent = frame(&near, to, &[7; 60]);
        sender.write(&sent).unwrap();
        assert_eq!(next(&receiver, true), Some(sent));
    }
    // What this host sends itself, it does not hear; nor what is of another type.
    assert_eq!(next(&sender, false), None);
    let arp = FrameSocket::open(&far, ether_type::ARP, false).unwrap();
    sender.write(&frame(&near, far.address(), &[8; 60])).unwrap();
    assert_eq!((next(&receiver, true).map(|frame| frame.len()), next(&arp, false)), (Some(74), None));
    // What is for others is heard by who hears all, and a frame that is cut tells its length.
    let all = open(&far, true);
    sender.write(&frame(&near, MacAddress([2, 0, 0, 0, 0, 9]), &[9; 100])).unwrap();
    assert_eq!(read(PATIENCE, || all.read(&mut [0; 20])), Some(114));
    assert!(sender.write(&frame(&near, far.address(), &[1; 3000])).is_err(), "longer than the link takes");
    // Where the kernel joins packets of a flow, it does not meanwhile, and does so again.
    ip("link add over type bridge").unwrap_or_else(|error| panic!("{error}"));
    let joins = || Interface::find("over").unwrap().take_apart().unwrap();
    let mut over = Interface::find("over").unwrap();
    assert!(over.take_apart().unwrap() && !joins());
    drop(over);
    assert!(joins() && joins());
}

fn refused() {
    assert!(matches!(Interface::find("nowhere"), Err(InterfaceError::Missing(_))));
    assert!(matches!(Interface::find("lo"), Err(InterfaceError::NotEthernet(_))));
    let tun = Tun::create("tun7").unwrap();
    let error = Interface::find(tun.name()).expect_err("it has no Ethernet frames");
    assert!(error.to_string().contains("neither an Ethernet nor a wireless LAN"), "{error}");
}

fn left_behind() {
    let tun = Tun::create("stays").unwrap();
    let index = netlink::device_index("stays").unwrap();
    ip("address add 10.99.0.1/24 dev stays").unwrap();
    tun.leave_behind().unwrap();
    let again = Tun::create("stays").expect("nobody holds it");
    assert_eq!((netlink::device_index("stays").unwrap(), again.name()), (index, "stays"));
    assert!(ip("address show dev stays").unwrap().contains("10.99.0.1/24"));
    drop(again);
    assert!(netlink::device_index("stays").is_ok(), "until its namespace goes");
    drop(Tun::create("goes").unwrap());
    assert!(netlink::device_index("goes").is_err());
}

/// Where a device is not waited for, the kernel loses packets of most tries.
fn nothing_lost() {
    ip("link set lo up").unwrap();
    for number in 0..20_u8 {
        let name = format!("late{number}");
        Tun::create(&name).unwrap().leave_behind().unwrap();
        ip(&format!("link set {name} up")).unwrap();
        ip(&format!("address add 10.98.{number}.1/24 dev {name}")).unwrap();
        let tun = Tun::create(&name).unwrap();
        netlink::wait_until_it_sends(&name, PATIENCE).unwrap();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let mut buffer = [0; 2000];
        for content in 0..10_u8 {
            socket.send_to(&[content; 100], (Ipv4Addr::new(10, 98, number, 2), 9)).unwrap();
        }
        // Packets wait in the device's queue while another processor, which has words of the kernel's own for an IPv6
        // router, is taking something out of it, and come when that goes on.
        let mut ours = 0;
        while ours < 10
            && let Some(length) = read(PATIENCE, || tun.read(&mut buffer))
        {
            ours += u32::from(buffer[0] >> 4 == 4 && length == 128);
        }
        assert_eq!(ours, 10, "of ten packets over {name}");
    }
}
