//! Whatever comes over a radio is a packet, or counted.
use crate::hosts::{Hosts, address};
use crate::process::{ip, wait_for};
use prismux_daemons::route::air::{FromAir, MessageSocket, ToAir, VERSION};
use prismux_dsr::{DsrHeader, DsrOption, RouteRequest};
use prismux_linux::frame_socket::{FrameSocket, Interface};
use prismux_linux::namespace::Namespace;
use prismux_routing::{Header, NextHop};
use prismux_wire::ethernet::{ArpOperation, ArpPacket, EthernetHeader, MacAddress, ether_type};
use prismux_wire::ip::protocol;
use prismux_wire::{IpHeader, IpPacket};
use std::net::Ipv4Addr;

/// Somebody on the wire who sends what he likes.
struct Forger {
    interface: Interface,
    packets: FrameSocket,
}

impl Forger {
    fn new(space: &Namespace) -> Self {
        let open = || {
            let interface = Interface::find("radio0").unwrap();
            let packets = FrameSocket::open(&interface, ether_type::IPV4, false).unwrap();
            Self { interface, packets }
        };
        space.enter(open).unwrap()
    }

    fn send(&self, to: MacAddress, ether_type: u16, content: &[u8]) {
        let header = EthernetHeader { destination: to, source: self.interface.address(), ether_type };
        let mut frame = vec![0; EthernetHeader::WIRE_BYTES];
        header.emit(&mut frame).unwrap();
        frame.extend_from_slice(content);
        self.packets.write(&frame).unwrap();
    }

    /// Frames that make no sense: no packet, a packet of a routing protocol, and an ARP message.
    fn send_noise(&self, seed: u32) {
        let length = (seed % 90) as usize;
        self.send(MacAddress::BROADCAST, ether_type::IPV4, &noise(seed, length));
        let (number, mut content) = ([48, 17, 253][seed as usize % 3], noise(seed, length));
        if number == 17 && length > 8 {
            // A datagram to AODV's port.
            content[..8].copy_from_slice(&[2, 142, 2, 142, 0, length as u8, 0, 0]);
        }
        let forged = packet(address(3), Ipv4Addr::BROADCAST, number, &content);
        self.send(MacAddress::BROADCAST, ether_type::IPV4, &forged);
        self.send(MacAddress::BROADCAST, ether_type::ARP, &noise(seed, length));
    }
}

/// An IP packet with anything in it.
fn packet(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, content: &[u8]) -> Vec<u8> {
    let ip = IpHeader::new(source.into(), destination.into(), protocol);
    let mut packet = vec![0; 20];
    ip.emit(content.len(), &mut packet).unwrap();
    packet.extend_from_slice(content);
    packet
}

/// Bytes that nobody can foresee, the same each time.
fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Frames of a forger on the wire, while two hosts talk.
pub fn frames() {
    for radio_protocol in ["dsr", "aodv", "dsdv"] {
        let hosts = Hosts::line(&format!("frames-{radio_protocol}"), 2);
        let mut hosts = hosts;
        hosts.spaces.push(Namespace::create().unwrap());
        for command in ["link set lo up", "link add radio0 type bridge", "link set radio0 up"] {
            ip(hosts.space(3), command);
        }
        hosts.wire(3, 1);
        let daemons = [hosts.start(1, radio_protocol), hosts.start(2, radio_protocol)];
        let forger = Forger::new(hosts.space(3));
        let before = daemons[0].number("/drops/malformed_packet");
        let malformed = || daemons[0].number("/drops/malformed_packet") - before;
        // The host's socket holds fewer frames than that, and loses the others where the host is not quick enough.
        wait_for("what makes no sense is counted", || {
            (1..400).for_each(|seed| forger.send_noise(seed));
            malformed() > 450
        });
        // From and to addresses outside of the network, and in this host's own name.
        let (own, outside) = (address(1), Ipv4Addr::new(192, 0, 2, 1));
        let foreign = |reason: &str| daemons[0].number(&format!("/drops/foreign_{reason}"));
        let (sources, destinations) = (foreign("source"), foreign("destination"));
        // It is known by its question.
        let asks = ArpPacket {
            operation: ArpOperation::Request,
            sender: forger.interface.address(),
            sender_address: address(3),
            target: MacAddress([0; 6]),
            target_address: own,
        };
        let mut question = [0; ArpPacket::WIRE_BYTES];
        asks.emit(&mut question).unwrap();
        forger.send(MacAddress::BROADCAST, ether_type::ARP, &question);
        for _ in 0..20 {
            let number = if radio_protocol == "dsr" { 48 } else { protocol::TCP };
            let content = [6, 0, 0, 0, 1, 2, 3, 4];
            forger.send(MacAddress::BROADCAST, ether_type::IPV4, &packet(outside, own, number, &content));
            forger.send(
                MacAddress::BROADCAST,
                ether_type::IPV4,
                &packet(address(3), outside, number, &content),
            );
        }
        wait_for("foreign addresses are counted", || {
            foreign("source") >= sources + 20 && foreign("destination") >= destinations + 20
        });
        wait_for("the hosts still reach each other", || hosts.echoes(1, 2, 100));
    }
}

/// Messages of an air that makes no sense, and a protocol that goes on.
pub fn messages() {
    let hosts = Hosts::new("messages", 2);
    let (air, its) = MessageSocket::pair().unwrap();
    let daemon = hosts.start_on_air(1, "dsr", its.into_descriptor());
    assert_eq!(daemon.status().unwrap()["state"], "waiting");
    let mut out = Vec::new();
    let mut say = |message: FromAir<'_>| {
        message.emit(&mut out);
        while !air.write(&out) {
            std::thread::yield_now();
        }
    };
    // Before it works, nothing counts.
    say(FromAir::Received(address(2), b"too soon"));
    say(FromAir::Ready { version: VERSION, keeps_log: true });
    wait_for("it works", || daemon.status().is_some_and(|page| page["state"] == "running"));
    for seed in 1..300_u32 {
        let bytes = noise(seed, (seed % 70) as usize + 1);
        say(FromAir::Received(address(2), &bytes));
        say(FromAir::Overheard(address(2), address(3), &bytes));
        say(FromAir::NotDelivered(address(2), &bytes));
        say(FromAir::TakenBack(address(2), &bytes));
        // Of no kind, or cut short.
        while !air.write(&[6 + (seed % 200) as u8]) || !air.write(&[2, 10, 9]) {
            std::thread::yield_now();
        }
    }
    wait_for("all is counted", || daemon.number("/drops/malformed_packet") > 6 * 299 - 20);
    // A question for a route to this host is answered: to the neighbour that it came from.
    let request = RouteRequest { identification: 1, target: address(1), addresses: Vec::new() };
    let header = DsrHeader::with(vec![DsrOption::RouteRequest(request)]);
    let mut content = Vec::new();
    header.write(59, &mut content);
    say(FromAir::Received(address(2), &packet(address(2), Ipv4Addr::BROADCAST, 48, &content)));
    let mut buffer = vec![0; 4096];
    wait_for("an answer", || match air.read(&mut buffer).unwrap().map(ToAir::parse) {
        Some(Some(ToAir::Send { to, packet, counted_bytes, .. })) => {
            let ip = IpPacket::parse(packet).unwrap();
            let parsed = DsrHeader::parse(ip.payload(packet)).unwrap();
            let reply = parsed.header.route_reply().expect("a reply");
            assert_eq!((to, &reply.addresses[..]), (NextHop::Neighbour(address(2)), &[address(1)][..]));
            assert_eq!(counted_bytes as usize, packet.len());
            true
        }
        _ => false,
    });
    // The air goes, and the daemon with it.
    drop(air);
    wait_for("it ends", || daemon.status().is_none());
}
