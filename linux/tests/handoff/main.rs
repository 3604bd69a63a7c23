//! The host's half of TCP-HO on the kernel's own links: an address moves from one interface to another in a
//! namespace, the watch sees it, and the two duplicate ACKs with the new link's bandwidth leave.
//!
//! Works as root, and without where user namespaces are allowed.

use nix::sched::{CloneFlags, unshare};
use prismux_endpoint::Endpoint;
use prismux_linux::handoff::{Estimates, Handoff, LinkWatch, Move};
use prismux_linux::netconf::ip;
use prismux_linux::{netlink, privileges};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_tcp_ho::{HandoffConfig, HandoffHost};
use prismux_units::{Instant, Rate};
use prismux_wire::{Ecn, IpHeader, SeqNumber, TcpFlags, TcpHeader, TcpPacket, emit_tcp_packet};
use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        println!("an_address_that_moves_is_told_to_the_peer: test");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = privileges::ensure_privileges() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace of our own");
    an_address_that_moves_is_told_to_the_peer();
    println!("an_address_that_moves_is_told_to_the_peer ... ok");
    ExitCode::SUCCESS
}

fn run(commands: &[&str]) {
    for command in commands {
        ip(command).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Whatever the kernel tells until `wanted` is among it.
fn wait_for(watch: &mut LinkWatch, wanted: &Move) -> Vec<Move> {
    let mut seen = Vec::new();
    for _ in 0..500 {
        seen.extend(watch.moves().expect("news"));
        if seen.contains(wanted) {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no {wanted:?} in {seen:?}");
}

fn an_address_that_moves_is_told_to_the_peer() {
    run(&[
        "link add wlan0 type veth peer name station",
        "link add wwan0 type veth peer name tower",
        "link set wlan0 up",
        "link set station up",
        "address add 10.66.0.2/24 dev wlan0",
    ]);
    // The kernel says that a cable is plugged in when it comes to it.
    netlink::wait_until_it_sends("wlan0", Duration::from_secs(10)).expect("a device");
    let estimates =
        Estimates { known: [("wwan0".to_owned(), Rate::from_kbps(384))].into(), ..Estimates::default() };
    let mut watch = LinkWatch::open(estimates).expect("a watch");
    assert_eq!(watch.usable().collect::<Vec<_>>(), ["wlan0"]);
    assert_eq!(watch.moves().expect("news"), [], "what was there is no handoff");

    // The radio is out of reach: the carrier goes, the address stays.
    run(&["link set station down"]);
    wait_for(&mut watch, &Move::Lost { interface: "wlan0".to_owned() });
    assert_eq!(watch.usable().count(), 0);

    // The other network: first the address, then the carrier.
    run(&["address del 10.66.0.2/24 dev wlan0", "address add 10.66.0.2/24 dev wwan0", "link set wwan0 up"]);
    assert_eq!(watch.handoffs().expect("news"), [], "no carrier yet");
    run(&["link set tower up"]);
    let handoff = (0..500)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            watch.handoffs().expect("news").pop()
        })
        .expect("the handoff");
    let address: IpAddr = "10.66.0.2".parse().expect("an address");
    let bandwidth = Some(Rate::from_kbps(384));
    assert_eq!(handoff, Handoff { interface: "wwan0".to_owned(), address, bandwidth });
    two_notices_leave(&handoff);

    // Another address on the same interface is a handoff too.
    run(&["address add 10.77.0.9/24 dev wwan0"]);
    let address = "10.77.0.9".parse().expect("an address");
    wait_for(&mut watch, &Move::Complete { interface: "wwan0".to_owned(), address });
    run(&["link del wwan0"]);
    wait_for(&mut watch, &Move::Lost { interface: "wwan0".to_owned() });
    assert_eq!(watch.counters(), Default::default());
}

/// A connection on which data arrives tells its peer, in bytes.
fn two_notices_leave(handoff: &Handoff) {
    let now = Instant::from_millis(1);
    let syn = TcpHeader { seq: SeqNumber(7), flags: TcpFlags::SYN, window: 9000, ..TcpHeader::default() };
    let mut connection = Connection::accept(TcpConfig::modern(), &syn, SeqNumber(100), now);
    connection.poll_transmit(now).expect("SYN-ACK");
    let ack = TcpHeader { seq: SeqNumber(8), ack: SeqNumber(101), flags: TcpFlags::ACK, ..syn };
    connection.handle_input(now, SegmentIn { header: ack, payload_bytes: 0, ecn: Ecn::NotEct });
    while connection.poll_event().is_some() {}
    let mut host = HandoffHost::new(&HandoffConfig::default());
    host.handoff_complete(now, handoff.bandwidth);
    let mut options = Vec::new();
    while let Some(deadline) = host.deadline() {
        let notice = host.poll_notice(deadline.at).expect("a notice that is due");
        assert_eq!(notice, handoff.notice());
        assert!(connection.announce_handoff(notice));
        let segment = connection.poll_transmit(deadline.at).expect("a duplicate ACK");
        let mut packet = [0; 128];
        let peer = "10.0.0.1".parse().expect("an address");
        let header = IpHeader::new(handoff.address, peer, 6);
        let length = emit_tcp_packet(&header, &segment.header, &[], &mut packet).expect("fits");
        let parsed = TcpPacket::parse(&packet[..length]).expect("a segment");
        options.push(parsed.header.options.handoff.map(|notice| notice.bandwidth_kbps));
    }
    assert_eq!(options, [Some(384), Some(384)]);
}
