//! One tunnel, two hosts: the bytes that the simulator and capacity reckon with are those that the daemons of the lab
//! make room for, and those that the headers take on the wire.
use prismux_daemons::tunnel::Transport;
use prismux_plan::{IpFamily, Tunnel};
use prismux_wire::gre::GreHeader;
use prismux_wire::ip::protocol;
use prismux_wire::{IpHeader, UdpHeader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What stands before an inner packet: the outer IP header, UDP's where there is one, and a GRE header without options.
fn header_bytes(tunnel: Tunnel, outer: IpFamily) -> usize {
    let (address, is_udp): (IpAddr, bool) = match (outer, tunnel) {
        (_, Tunnel::Free) => return 0,
        (IpFamily::V4, tunnel) => (Ipv4Addr::LOCALHOST.into(), tunnel != Tunnel::Gre),
        (IpFamily::V6, tunnel) => (Ipv6Addr::LOCALHOST.into(), tunnel != Tunnel::Gre),
    };
    let carried = if is_udp { protocol::UDP } else { protocol::GRE };
    let udp_bytes = if is_udp { UdpHeader::WIRE_BYTES } else { 0 };
    let seal_bytes = if tunnel == Tunnel::Sealed { prismux_sealed::OVERHEAD_BYTES } else { 0 };
    let outer_bytes = IpHeader::new(address, address, carried).wire_bytes() + udp_bytes;
    outer_bytes + seal_bytes + GreHeader::default().wire_bytes()
}

#[test]
fn plan_daemons_and_wire_agree_on_what_every_tunnel_costs() {
    for outer in IpFamily::ALL {
        for (tunnel, daemons) in [
            (Tunnel::Gre, Transport::Gre),
            (Tunnel::GreInUdp, Transport::Udp),
            (Tunnel::Sealed, Transport::Sealed),
        ] {
            let planned = tunnel.overhead_bytes(outer) as usize;
            assert_eq!(planned, header_bytes(tunnel, outer), "{tunnel:?} over {outer:?} on the wire");
            assert_eq!(planned, daemons.overhead_bytes(outer), "{tunnel:?} over {outer:?}");
        }
        assert_eq!(Tunnel::Free.overhead_bytes(outer), 0);
    }
}
