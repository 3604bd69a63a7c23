//! Local networks by device, and sockets that reach no farther.
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use prismux_community::slp::{GROUP, PORT};
use prismux_linux::netconf::Prefix;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// Nothing leaves the local network: no router passes it on, whoever it is made to answer.
const TTL: u32 = 1;

/// A local network: a device of this host, and its address there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lan {
    /// The device.
    pub device: String,
    /// This host's address there.
    pub address: Ipv4Addr,
    /// Who else is there.
    pub neighbours: Prefix,
}

/// The local networks of these devices; with none named, of all that can send to all and are no loopback.
///
/// # Errors
/// Which device is none, or has no IPv4 address, and the remedy.
pub fn of_devices(named: &[String]) -> Result<Vec<Lan>, String> {
    let all = present().map_err(|error| format!("devices cannot be listed: {error}"))?;
    if named.is_empty() {
        return Ok(all);
    }
    let of = |device: &String| {
        all.iter().find(|lan| lan.device == *device).cloned().ok_or_else(|| {
            format!("{device} is not up, has no IPv4 address, or reaches no neighbours; compare with: ip -4 address")
        })
    };
    named.iter().map(of).collect()
}

fn present() -> io::Result<Vec<Lan>> {
    let mut lans: Vec<Lan> = Vec::new();
    let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_MULTICAST;
    for entry in getifaddrs()? {
        let other = InterfaceFlags::IFF_LOOPBACK | InterfaceFlags::IFF_POINTOPOINT;
        if !entry.flags.contains(wanted) || entry.flags.intersects(other) {
            continue;
        }
        let v4 = |storage: Option<nix::sys::socket::SockaddrStorage>| Some(storage?.as_sockaddr_in()?.ip());
        let (Some(address), Some(mask)) = (v4(entry.address), v4(entry.netmask)) else { continue };
        // The first address of a device stands for it.
        if lans.iter().all(|lan| lan.device != entry.interface_name) {
            let neighbours = Prefix { address: address.into(), length: mask.to_bits().leading_ones() as u8 };
            lans.push(Lan { device: entry.interface_name, address, neighbours });
        }
    }
    Ok(lans)
}

impl Lan {
    /// Whether this is the address of a neighbour's.
    pub fn has(&self, address: IpAddr) -> bool {
        self.neighbours.contains(address)
    }

    /// Hears what is sent to all on this network, and nothing else.
    pub(super) fn listen_to_all(&self) -> io::Result<UdpSocket> {
        let socket = self.socket()?;
        socket.set_reuse_address(true)?;
        socket.join_multicast_v4(&GROUP, &self.address)?;
        socket.bind(&SocketAddr::from((GROUP, PORT)).into())?;
        Ok(socket.into())
    }

    /// Sends and hears under this host's address on this network; port 0 for any.
    pub(super) fn open(&self, port: u16) -> io::Result<UdpSocket> {
        let socket = self.socket()?;
        socket.set_multicast_if_v4(&self.address)?;
        socket.set_multicast_ttl_v4(TTL)?;
        socket.set_ttl_v4(TTL)?;
        socket.bind(&SocketAddr::from((self.address, port)).into())?;
        Ok(socket.into())
    }

    fn socket(&self) -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind_device(Some(self.device.as_bytes()))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}
