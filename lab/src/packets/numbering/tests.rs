use super::*;
use crate::orders::{FIRST_PORT, Orders};
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::{Flow, Plan, Transport};
use prismux_wire::gre::ether_type;
use prismux_wire::ip::{decrement_hop_limit, protocol};

use prismux_wire::{Ecn, GreHeader, IpHeader, UdpHeader, emit_udp_packet};

const SENDER: usize = 0;
const ROUTER: usize = 1;
const RECEIVER: usize = 2;

/// A sender and a receiver of one flow, with a router between them.
fn numbering() -> Numbering {
    let mut plan = Plan::new("numbers", Duration::from_secs(1));
    let (a, between, b) = (plan.host("a"), plan.router("between"), plan.host("b"));
    plan.symmetric_link("first", [a, between], LinkConfig::default());
    plan.symmetric_link("second", [between, b], LinkConfig::default());
    plan.flow(Flow::new("f", a, b, Transport::Tcp));
    let orders = Orders::new(&plan, Seed(1)).unwrap();
    Numbering::new(FlowNames::new(&orders), &Topology::new(&orders).unwrap())
}

/// A datagram from sender to receiver.
fn datagram(identification: u16, destination_port: u16) -> Vec<u8> {
    let [source, destination] = [1, 3].map(|last| IpAddr::from([10, 0, 0, last]));
    let ip = IpHeader { identification, ecn: Ecn::Ect0, ..IpHeader::new(source, destination, protocol::UDP) };
    let (mut packet, udp) = (vec![0; 200], UdpHeader { source_port: 40_000, destination_port });
    let length = emit_udp_packet(&ip, &udp, &[7; 100], &mut packet).unwrap();
    packet.truncate(length);
    packet
}

fn at(seconds: u64) -> Instant {
    Instant::from_secs(seconds)
}

#[test]
fn a_packet_keeps_its_number_behind_a_router_and_in_a_tunnel() {
    let numbering = numbering();
    let mut packet = datagram(1, FIRST_PORT);
    let (label, sets_out) = numbering.leaves(at(0), SENDER, &packet);
    assert_eq!((label.number, label.flow, sets_out), (Some(0), Some(0), true));
    assert!(!numbering.enters(at(0), ROUTER, label, &packet), "the router passes it on");
    decrement_hop_limit(&mut packet).unwrap().unwrap();
    prismux_wire::ip::set_ecn(&mut packet, Ecn::Ce).unwrap();
    // A daemon there puts it into a tunnel.
    let mut tunnelled = vec![0; 24];
    let header = IpHeader::new(IpAddr::from([10, 64, 0, 1]), IpAddr::from([10, 64, 0, 2]), protocol::GRE);
    let ip_bytes = header.emit(4 + packet.len(), &mut tunnelled).unwrap();
    GreHeader::plain(ether_type::IPV4).emit(&mut tunnelled[ip_bytes..]).unwrap();
    tunnelled.extend(&packet);
    assert_eq!(numbering.leaves(at(1), ROUTER, &tunnelled), (label, false));
    assert!(numbering.enters(at(1), RECEIVER, label, &tunnelled), "it has arrived");
    // The next one is another, though all but its identification is the same.
    let (next, sets_out) = numbering.leaves(at(1), SENDER, &datagram(2, FIRST_PORT));
    assert_eq!((next.number, sets_out), (Some(1), true));
}

#[test]
fn equal_packets_come_out_in_their_order_and_once() {
    let (numbering, packet) = (numbering(), datagram(1, FIRST_PORT));
    for number in 0..3 {
        let (label, _) = numbering.leaves(at(0), SENDER, &packet);
        assert_eq!(label.number, Some(number));
        numbering.enters(at(0), ROUTER, label, &packet);
    }
    let out = || numbering.leaves(at(0), ROUTER, &packet);
    assert_eq!(
        [out(), out(), out()].map(|(label, new)| (label.number, new)),
        [0, 1, 2].map(|n| (Some(n), false))
    );
    assert!(out().1, "the router has sent it anew");
}

#[test]
fn what_a_node_has_not_passed_on_for_long_it_has_dropped() {
    let (numbering, packet) = (numbering(), datagram(1, FIRST_PORT));
    let (label, _) = numbering.leaves(at(0), SENDER, &packet);
    numbering.enters(at(0), ROUTER, label, &packet);
    assert_eq!(numbering.leaves(at(11), ROUTER, &packet).0.number, Some(1));
}

#[test]
fn packets_of_no_flow_have_no_number() {
    let (numbering, packet) = (numbering(), datagram(1, FIRST_PORT + 1));
    assert_eq!(numbering.leaves(at(0), SENDER, &packet), (Label::default(), false));
    assert!(!numbering.enters(at(0), RECEIVER, Label::default(), &packet));
}

/// One behind a source route is known by what it carries, wherever it is on the route.
#[test]
fn a_packet_keeps_its_number_behind_headers_of_dsr() {
    use prismux_dsr::{DsrHeader, DsrOption, SourceRoute};
    use prismux_routing::Header;
    let numbering = numbering();
    let plain = datagram(1, FIRST_PORT);
    let with_route = |segments_left: u8| {
        let addresses = vec![[10, 0, 0, 2].into()];
        let route = SourceRoute { segments_left, addresses, ..SourceRoute::default() };
        let mut packet = plain[..20].to_vec();
        DsrHeader::with(vec![DsrOption::SourceRoute(route)]).write(protocol::UDP, &mut packet);
        packet.extend(&plain[20..]);
        let ip = IpPacket::parse(&plain).unwrap();
        let header = IpHeader { hop_limit: 63 + segments_left, protocol: 48, ..ip.header };
        header.emit(packet.len() - 20, &mut packet).unwrap();
        packet
    };
    // Its daemon takes it up, and sends it.
    let (label, sets_out) = numbering.leaves(at(0), SENDER, &plain);
    assert!(sets_out && !numbering.enters(at(0), SENDER, label, &plain));
    assert_eq!(numbering.leaves(at(0), SENDER, &with_route(1)), (label, false));
    assert!(!numbering.enters(at(0), ROUTER, label, &with_route(1)));
    assert_eq!(numbering.leaves(at(0), ROUTER, &with_route(0)), (label, false));
    assert!(numbering.enters(at(0), RECEIVER, label, &with_route(0)), "it has arrived");
    assert_eq!(numbering.flows().flow_of(&with_route(1)), Some(0));
}
