//! Local networks by device, and sockets that reach no farther.
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::{setsockopt, sockopt};
use prismux_community::{mdns, slp};
use prismux_linux::netconf::Prefix;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

/// Nothing leaves the local network: no router passes it on, whoever it is made to answer.
const TTL: u32 = 1;

/// A local network: a device of this host, and its addresses there, of which it has one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lan {
    /// The device.
    pub device: String,
    /// The kernel's number of it.
    pub index: u32,
    /// This host's IPv4 address there.
    pub ipv4: Option<OwnIpv4>,
    /// This host's link-local IPv6 address there.
    pub ipv6: Option<Ipv6Addr>,
}

/// An IPv4 address of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnIpv4 {
    /// The address.
    pub address: Ipv4Addr,
    /// Who else is there.
    pub neighbours: Prefix,
}

/// The local networks of these devices; with none named, of all that can send to all and are no loopback.
///
/// # Errors
/// Which device is none, or has no address, and the remedy.
pub fn of_devices(named: &[String]) -> Result<Vec<Lan>, String> {
    let all = present().map_err(|error| format!("devices cannot be listed: {error}"))?;
    if named.is_empty() {
        return Ok(all);
    }
    let of = |device: &String| {
        all.iter().find(|lan| lan.device == *device).cloned().ok_or_else(|| {
            format!(
                "{device} is not up, has neither an IPv4 nor a link-local IPv6 address, or reaches no neighbours; \
                 compare with: ip address"
            )
        })
    };
    named.iter().map(of).collect()
}

fn present() -> io::Result<Vec<Lan>> {
    let mut lans: Vec<Lan> = Vec::new();
    let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_MULTICAST;
    for entry in getifaddrs()? {
        let other = InterfaceFlags::IFF_LOOPBACK | InterfaceFlags::IFF_POINTOPOINT;
        let (ipv4, ipv6) = (own_ipv4(&entry), own_ipv6(&entry));
        if !entry.flags.contains(wanted)
            || entry.flags.intersects(other)
            || (ipv4.is_none() && ipv6.is_none())
        {
            continue;
        }
        // The first address of each family stands for a device.
        match lans.iter_mut().find(|lan| lan.device == entry.interface_name) {
            Some(lan) => {
                lan.ipv4 = lan.ipv4.take().or(ipv4);
                lan.ipv6 = lan.ipv6.or(ipv6);
            }
            None => {
                // A device that has gone meanwhile is none.
                let Ok(index) = if_nametoindex(&*entry.interface_name) else { continue };
                lans.push(Lan { device: entry.interface_name, index, ipv4, ipv6 });
            }
        }
    }
    Ok(lans)
}

fn own_ipv4(entry: &InterfaceAddress) -> Option<OwnIpv4> {
    let address = entry.address.as_ref()?.as_sockaddr_in()?.ip();
    let mask = entry.netmask.as_ref()?.as_sockaddr_in()?.ip();
    let neighbours = Prefix { address: address.into(), length: mask.to_bits().leading_ones() as u8 };
    Some(OwnIpv4 { address, neighbours })
}

fn own_ipv6(entry: &InterfaceAddress) -> Option<Ipv6Addr> {
    let address = entry.address.as_ref()?.as_sockaddr_in6()?.ip();
    address.is_unicast_link_local().then_some(address)
}

impl Lan {
    /// Whether this is the address of a neighbour's; of IPv6 these are link-local ones alone.
    pub fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(_) => self.ipv4.as_ref().is_some_and(|own| own.neighbours.contains(address)),
            IpAddr::V6(address) => self.ipv6.is_some() && address.is_unicast_link_local(),
        }
    }

    /// This host's addresses there, of either family.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let ipv4 = self.ipv4.as_ref().map(|own| IpAddr::V4(own.address));
        ipv4.into_iter().chain(self.ipv6.map(IpAddr::V6))
    }

    /// Hears what is sent to all agents of the Service Location Protocol on this network, and nothing else.
    pub(super) fn listen_to_all(&self, own: Ipv4Addr) -> io::Result<UdpSocket> {
        let socket = self.socket(Domain::IPV4)?;
        socket.set_reuse_address(true)?;
        socket.join_multicast_v4(&slp::GROUP, &own)?;
        socket.bind(&SocketAddr::from((slp::GROUP, slp::PORT)).into())?;
        Ok(socket.into())
    }

    /// Hears what multicast DNS sends to all on this network, and sends from its port. Others on this host hear it too;
    /// what comes to one address is theirs alone, since this socket has the group's.
    pub(super) fn listen_to_mdns(&self, own: IpAddr) -> io::Result<UdpSocket> {
        let socket = self.mdns_socket(own)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        let group = match own {
            IpAddr::V4(own) => {
                socket.join_multicast_v4(&mdns::GROUP_V4, &own)?;
                SocketAddr::from((mdns::GROUP_V4, mdns::PORT))
            }
            IpAddr::V6(_) => {
                socket.join_multicast_v6(&mdns::GROUP_V6, self.index)?;
                SocketAddrV6::new(mdns::GROUP_V6, mdns::PORT, 0, self.index).into()
            }
        };
        socket.bind(&group.into())?;
        Ok(socket.into())
    }

    /// Asks by multicast DNS under this address, from any port, and is told each answer's hop limit.
    pub(super) fn ask_by_mdns(&self, own: IpAddr) -> io::Result<UdpSocket> {
        let socket = self.mdns_socket(own)?;
        match own {
            IpAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4RecvTtl, &true)?,
            IpAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvHopLimit, &true)?,
        }
        socket.bind(&self.at(own, 0).into())?;
        Ok(socket.into())
    }

    /// Sends and hears under this address of this host's on this network; port 0 for any.
    pub(super) fn open(&self, own: IpAddr, port: u16) -> io::Result<UdpSocket> {
        let socket = self.socket(Domain::for_address(self.at(own, port)))?;
        self.set_reach(&socket, own, TTL)?;
        socket.bind(&self.at(own, port).into())?;
        Ok(socket.into())
    }

    /// Where this host is at this address of its own.
    pub(super) fn at(&self, own: IpAddr, port: u16) -> SocketAddr {
        match own {
            IpAddr::V4(own) => SocketAddr::from((own, port)),
            IpAddr::V6(own) => SocketAddrV6::new(own, port, 0, self.index).into(),
        }
    }

    fn mdns_socket(&self, own: IpAddr) -> io::Result<Socket> {
        let socket = self.socket(Domain::for_address(self.at(own, 0)))?;
        self.set_reach(&socket, own, u32::from(mdns::HOP_LIMIT))?;
        Ok(socket)
    }

    fn set_reach(&self, socket: &Socket, own: IpAddr, hop_limit: u32) -> io::Result<()> {
        match own {
            IpAddr::V4(own) => {
                socket.set_multicast_if_v4(&own)?;
                socket.set_multicast_ttl_v4(hop_limit)?;
                socket.set_ttl_v4(hop_limit)
            }
            IpAddr::V6(_) => {
                socket.set_only_v6(true)?;
                socket.set_multicast_if_v6(self.index)?;
                socket.set_multicast_hops_v6(hop_limit)?;
                socket.set_unicast_hops_v6(hop_limit)
            }
        }
    }

    fn socket(&self, domain: Domain) -> io::Result<Socket> {
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind_device(Some(self.device.as_bytes()))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}
