//! Packets of kernels over several hosts.
use crate::hosts::{Hosts, setting};
use crate::process::{ip, wait_for};
use prismux_linux::frame_socket::Interface;
use prismux_linux::namespace::Namespace;
use std::collections::BTreeSet;

/// Three hosts of which the first and the last do not hear each other.
fn line(protocol: &str) {
    let hosts = Hosts::line(protocol, 3);
    let daemons = hosts.start_all(protocol);
    wait_for("the ends reach each other", || hosts.echoes(1, 3, 1000));
    // As long as the device lets them be.
    let mtu_bytes = daemons[0].number("/mtu_bytes") as usize;
    wait_for("a packet as long as may be", || hosts.echoes(3, 1, mtu_bytes - 28));
    hosts.transfer(1, 3, 400_000);
    assert!(daemons[1].number("/counters/packets_forwarded") > 300, "the relay passes it on");
    assert!(daemons[1].number("/counters/routing_control_packets") > 0);
    // The kernels have none of it but from their devices, and nobody has a packet twice.
    assert_once(&hosts);
    for daemon in &daemons {
        let page = daemon.status().unwrap();
        assert_eq!(page["state"], "running");
        for reason in ["malformed_packet", "foreign_source", "tun_refused", "too_long", "send_failed"] {
            assert_eq!(page["drops"][reason], 0, "{reason} of {page}");
        }
    }
}

/// Datagrams from one end to the other come once each, and kernels that see them on the way answer nothing.
fn assert_once(hosts: &Hosts) {
    let answers_before = [1, 2, 3].map(|host| icmp_sent(hosts.space(host)));
    let arrived = hosts.stream(1, 3, 50);
    let once: BTreeSet<u8> = arrived.iter().copied().collect();
    assert!(once.len() > 40 && once.len() == arrived.len(), "{arrived:?}");
    assert_eq!([1, 2, 3].map(|host| icmp_sent(hosts.space(host))), answers_before);
}

/// Messages of ICMP that a host's kernel has sent.
fn icmp_sent(space: &Namespace) -> u64 {
    let table = space.enter(|| std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap()).unwrap();
    let mut lines = table.lines().filter(|line| line.starts_with("Icmp:")).map(str::split_whitespace);
    let (Some(mut names), Some(mut counts)) = (lines.next(), lines.next()) else { panic!("{table}") };
    let place = names.position(|name| name == "OutMsgs").expect("a column");
    counts.nth(place).expect("a number").parse().unwrap()
}

pub fn line_by_dsr() {
    line("dsr");
}

pub fn line_by_aodv() {
    line("aodv");
}

/// Its routes go round in updates, fifteen seconds apart.
pub fn line_by_dsdv() {
    line("dsdv");
}

/// Three hosts that hear each other go no detours.
pub fn neighbours() {
    let mut hosts = Hosts::line("neighbours", 3);
    hosts.wire(1, 3);
    let daemons = hosts.start_all("aodv");
    wait_for("the first reaches the third", || hosts.echoes(1, 3, 100));
    hosts.transfer(3, 1, 100_000);
    wait_for("the first reaches the second", || hosts.echoes(1, 2, 100));
    assert_eq!(daemons[1].number("/counters/packets_forwarded"), 0);
    let page = daemons[0].status().unwrap();
    let known: Vec<_> =
        page["neighbours"].as_array().unwrap().iter().map(|known| &known["address"]).collect();
    assert!(known.contains(&&"10.9.0.2".into()) && known.contains(&&"10.9.0.3".into()), "{known:?}");
}

/// Two ways of two hops: when the relay in use is killed, address resolution tells, and the other way is taken.
pub fn killed_relay() {
    for protocol in ["dsr", "aodv"] {
        let mut hosts = Hosts::line(&format!("killed-{protocol}"), 3);
        hosts.spaces.push(Namespace::create().unwrap());
        let space = hosts.space(4);
        for command in ["link set lo up", "link add radio0 type bridge", "link set radio0 up"] {
            ip(space, command);
        }
        hosts.wire(1, 4);
        hosts.wire(4, 3);
        let ends = [hosts.start(1, protocol), hosts.start(3, protocol)];
        let relay = hosts.start(2, protocol);
        wait_for("the ends reach each other", || hosts.echoes(1, 3, 1000));
        let other = hosts.start(4, protocol);
        assert_eq!(other.number("/counters/packets_forwarded"), 0, "{protocol}");
        relay.kill();
        wait_for("they do so over the other relay", || hosts.echoes(1, 3, 1000));
        assert!(other.number("/counters/packets_forwarded") >= 2, "{protocol}");
        assert!(ends[0].number("/counters/links_broken") > 0, "{protocol}");
    }
}

/// Device, route and settings are gone when the daemon ends, and after one that was killed when the next one does.
pub fn clean_end() {
    let hosts = Hosts::line("clean", 2);
    let space = hosts.space(1);
    let look = || {
        let devices = ip(space, "-brief link");
        let names: Vec<_> = devices.lines().filter_map(|line| line.split_whitespace().next()).collect();
        (names.join(" "), ip(space, "route"), setting(space, "ipv4/conf/radio0/rp_filter"))
    };
    let joins = || space.enter(|| Interface::find("radio0").unwrap().take_apart().unwrap()).unwrap();
    let before = look();
    assert_eq!((before.2.as_str(), joins()), ("0", true));
    let daemon = hosts.start(1, "dsr");
    assert_eq!(setting(space, "ipv4/conf/radio0/rp_filter"), "1");
    assert!(ip(space, "route").contains("10.9.0.0/16 dev mesh0"), "{}", ip(space, "route"));
    assert!(!joins(), "packets of a flow come one by one");
    daemon.stop();
    assert_eq!((look(), joins()), (before.clone(), true));
    hosts.start(1, "dsr").kill();
    assert!(!ip(space, "-brief link").contains("mesh0"), "the device goes with the process");
    hosts.start(1, "dsr").stop();
    assert_eq!(look(), before);
    // A device that was there stays, and is not changed.
    ip(space, "tuntap add dev mesh0 mode tun");
    let made = look();
    let daemon = hosts.start(1, "dsr");
    assert!(!ip(space, "address show dev mesh0").contains("10.9"));
    daemon.stop();
    assert_eq!(look(), made);
}

/// What a user does wrong is told, and what to do about it.
pub fn mistakes() {
    let hosts = Hosts::line("mistakes", 2);
    let said = hosts.refused(1, "wlan7");
    assert!(said.contains("wlan7") && said.contains("ip -brief link"), "{said}");
    let said = hosts.refused(1, "lo");
    assert!(said.contains("neither an Ethernet nor a wireless LAN"), "{said}");
    let said = hosts.refused(1, "fd:0");
    assert!(said.contains("standard input is no"), "{said}");
    ip(hosts.space(1), "address add 10.9.7.1/24 dev radio0");
    let said = hosts.refused(1, "radio0");
    assert!(said.contains("10.9.7.1/24 of radio0") && said.contains("Remedy"), "{said}");
    let _daemon = hosts.start(2, "dsr");
    let said = hosts.refused(2, "radio0");
    assert!(said.contains("already running"), "{said}");
}
