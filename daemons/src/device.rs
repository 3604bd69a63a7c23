//! A daemon's TUN device: made, configured, and its packets counted in and out.
use crate::config::TunConfig;
use crate::counters::DropCounters;
use crate::daemon::DaemonError;
use prismux_linux::netconf;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_trace::event::DropReason;
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{Ecn, IpPacket, TcpFlags, TcpHeader, ip};
use std::io;
use std::net::IpAddr;

/// Bytes of the largest packet a TUN device hands over, whatever its MTU was set to later.
const ROOM_BYTES: usize = 64;

/// Makes the device and brings it up.
pub(crate) fn open(config: &TunConfig, mtu_bytes: usize) -> Result<OffloadTun, DaemonError> {
    let tun = OffloadTun::create(&config.name)?;
    netconf::set_up(tun.name(), mtu_bytes)?;
    for &address in &config.addresses {
        netconf::add_address(tun.name(), address)?;
    }
    // What comes out of the tunnel is forwarded, from addresses that do not belong behind this device.
    for (option, value) in [("forwarding", "1"), ("rp_filter", "0")] {
        if let Err(error) = netconf::set_device_option(tun.name(), option, value) {
            tracing::warn!(device = tun.name(), option, %error, "could not set a device option; see doctor");
        }
    }
    Ok(tun)
}

/// Buffers for what passes a device with this MTU.
pub(crate) fn pool(mtu_bytes: usize) -> PacketPool {
    PacketPool::new(mtu_bytes + ROOM_BYTES)
}

/// The next packet that the kernel sends into the device; `None` when there is none.
pub(crate) fn read(
    tun: &OffloadTun,
    pool: &PacketPool,
    drops: &mut DropCounters,
) -> io::Result<Option<PacketBuf>> {
    let packet = tun.read(pool);
    drops.count_many(DropReason::TooLong, tun.take_refused());
    packet
}

/// Hands a packet to the kernel, at the next [`flush`] at the latest.
pub(crate) fn write(tun: &OffloadTun, packet: &[u8], drops: &mut DropCounters) {
    tun.write(packet);
    drops.count_many(DropReason::TunRefused, tun.take_refused());
}

/// Hands the kernel what waits for more of its flow.
pub(crate) fn flush(tun: &OffloadTun, drops: &mut DropCounters) {
    tun.flush();
    drops.count_many(DropReason::TunRefused, tun.take_refused());
}

/// EtherType and congestion bits of an IP packet that was parsed before.
pub(crate) fn protocol_and_ecn(packet: &[u8]) -> (u16, Ecn) {
    let class = |at: usize| packet.get(at).copied().unwrap_or(0);
    match packet.first().map(|b| b >> 4) {
        Some(6) => (prismux_wire::gre::ether_type::IPV6, Ecn::from_bits(class(1) >> 4)),
        _ => (prismux_wire::gre::ether_type::IPV4, Ecn::from_bits(class(1))),
    }
}

/// Where an IP packet goes.
pub(crate) fn destination(packet: &[u8]) -> Option<IpAddr> {
    IpPacket::parse(packet).ok().map(|ip| ip.header.destination)
}

/// Carries the outer header's congestion mark over to the packet that was inside (RFC 6040 section 4.2); `false` when
/// the packet must be dropped instead.
pub(crate) fn carry_ecn_over(packet: &mut PacketBuf, inner: Ecn, outer: Option<Ecn>) -> bool {
    match Ecn::decapsulate(inner, outer.unwrap_or(inner)) {
        None => false,
        Some(ecn) if ecn == inner => true,
        Some(ecn) => ip::set_ecn(packet.buffer_mut(), ecn).is_ok(),
    }
}

/// Lowers the MSS of a SYN so that full segments fit the tunnel.
pub(crate) fn clamp_syn(packet: &mut PacketBuf, header: &TcpHeader, inner_mtu_bytes: usize) {
    if header.flags.contains(TcpFlags::SYN) {
        let is_ipv6 = packet.first().is_some_and(|b| b >> 4 == 6);
        let headers_bytes = if is_ipv6 { 60 } else { 40 };
        let mss = u16::try_from(inner_mtu_bytes.saturating_sub(headers_bytes)).unwrap_or(u16::MAX);
        // Parsed before, so it cannot fail; an unchanged SYN would still work, by path MTU discovery.
        let _ = clamp_mss(packet.buffer_mut(), mss);
    }
}
