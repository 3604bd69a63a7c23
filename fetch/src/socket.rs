//! UDP sockets: bound to an interface or address, sending and receiving in batches.
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{setsockopt, sockopt};
use prismux_linux::batch::{BatchReceiver, BatchSender};
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketPool;
use prismux_wire::Ecn;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;

/// Longer datagrams are none of ours.
pub(crate) const MAX_DATAGRAM_BYTES: usize = 2048;
/// What thousands of clients may say while the loop is busy elsewhere.
const SERVER_BUFFER_BYTES: usize = 32 << 20;
/// A burst of one window.
const CLIENT_BUFFER_BYTES: usize = 8 << 20;

/// Of so many others it is remembered where they asked.
const MAX_ASKED: usize = 1 << 16;

/// What a path begins at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Via {
    /// Wherever the routing table leads.
    Any,
    /// An interface, by name.
    Interface(String),
    /// A source address.
    Address(IpAddr),
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Interface(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl FromStr for Via {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(address) => Ok(Self::Address(address)),
            // Interface names have up to 15 bytes.
            Err(_) if (1..16).contains(&text.len()) && !text.contains(['/', ' ']) => {
                Ok(Self::Interface(text.to_string()))
            }
            Err(_) => {
                Err(format!("\"{text}\" is neither an interface nor an address; compare with: ip address"))
            }
        }
    }
}

/// Addresses of this host by interface, in the order that the kernel gives them.
pub(crate) fn interface_addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let mut addresses = Vec::new();
    for entry in getifaddrs()? {
        let Some(storage) = entry.address else { continue };
        if let Some(address) = storage.as_sockaddr_in() {
            addresses.push((entry.interface_name, IpAddr::V4(address.ip())));
        } else if let Some(address) = storage.as_sockaddr_in6() {
            addresses.push((entry.interface_name, IpAddr::V6(address.ip())));
        }
    }
    Ok(addresses)
}

/// A bound socket and what waits to leave through it.
pub(crate) struct UdpPort {
    socket: Socket,
    is_ipv6: bool,
    /// At which of this host's addresses others asked, where answers could leave from another.
    asked_at: Option<HashMap<SocketAddr, IpAddr>>,
    sender: BatchSender,
    pool: PacketPool,
    /// Datagrams that the kernel would not take.
    pub(crate) unsent: u64,
    /// The last error that says that the way out is gone.
    pub(crate) broken: Option<io::Error>,
}

impl UdpPort {
    /// Listens at `local`; an IPv6 wildcard listens for IPv4 too. At a wildcard it answers from the address that was
    /// asked.
    pub(crate) fn listen(local: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
        if local.is_ipv6() {
            socket.set_only_v6(!local.ip().is_unspecified())?;
        }
        socket.bind(&local.into())?;
        let mut port = Self::prepare(socket, local.is_ipv6(), SERVER_BUFFER_BYTES)?;
        if local.ip().is_unspecified() {
            match local.is_ipv6() {
                true => setsockopt(&port.socket, sockopt::Ipv6RecvPacketInfo, &true)?,
                false => setsockopt(&port.socket, sockopt::Ipv4PacketInfo, &true)?,
            }
            port.asked_at = Some(HashMap::new());
        }
        Ok(port)
    }

    /// A client's socket on `via`, towards addresses of the family of `towards`.
    pub(crate) fn open(via: &Via, towards: IpAddr) -> io::Result<Self> {
        let is_ipv6 = towards.is_ipv6();
        let domain = if is_ipv6 { Domain::IPV6 } else { Domain::IPV4 };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let wildcard: IpAddr = match is_ipv6 {
            true => Ipv6Addr::UNSPECIFIED.into(),
            false => Ipv4Addr::UNSPECIFIED.into(),
        };
        let source = match via {
            Via::Any => wildcard,
            Via::Address(address) => *address,
            Via::Interface(name) => match socket.bind_device(Some(name.as_bytes())) {
                Ok(()) => wildcard,
                // Not allowed to: the interface's address, and the routing table has to agree.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => own_address(name, is_ipv6)?,
                Err(error) => return Err(error),
            },
        };
        socket.bind(&SocketAddr::new(source, 0).into())?;
        Self::prepare(socket, is_ipv6, CLIENT_BUFFER_BYTES)
    }

    fn prepare(socket: Socket, is_ipv6: bool, buffer_bytes: usize) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // Beyond the system's limit only for the privileged; others get what the limit allows.
        if setsockopt(&socket, sockopt::RcvBufForce, &buffer_bytes).is_err() {
            socket.set_recv_buffer_size(buffer_bytes)?;
        }
        if setsockopt(&socket, sockopt::SndBufForce, &buffer_bytes).is_err() {
            socket.set_send_buffer_size(buffer_bytes)?;
        }
        if is_ipv6 {
            socket.set_recv_tclass_v6(true)?;
        } else {
            socket.set_recv_tos_v4(true)?;
        }
        let sender = BatchSender::new(BATCH_PACKETS);
        let pool = PacketPool::new(MAX_DATAGRAM_BYTES);
        Ok(Self { socket, is_ipv6, asked_at: None, sender, pool, unsent: 0, broken: None })
    }

    /// Where it is bound.
    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// `from` has sent something to `to`, one of this host's addresses: what goes to `from` leaves from there.
    pub(crate) fn note_asked(&mut self, from: SocketAddr, to: Option<IpAddr>) {
        let (Some(asked_at), Some(to)) = (&mut self.asked_at, to) else { return };
        if asked_at.len() >= MAX_ASKED && !asked_at.contains_key(&from) {
            // Invented addresses, most likely; who is real says something again.
            asked_at.clear();
        }
        asked_at.insert(from, to);
    }

    /// Queues a datagram; a full queue is sent first.
    pub(crate) fn push(&mut self, to: SocketAddr, ecn: Ecn, datagram: &[u8]) {
        let Some((first, rest)) = datagram.split_first_chunk::<4>() else { return };
        let Some(packet) = self.pool.copy_of(rest) else { return };
        if self.sender.is_full() {
            self.flush();
        }
        let from = self.asked_at.as_ref().and_then(|asked_at| asked_at.get(&to).copied());
        let to = match to {
            SocketAddr::V4(v4) if self.is_ipv6 => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
            other => other,
        };
        self.sender.push_from(from, to, ecn.bits(), first, packet);
    }

    /// Sends what is queued.
    pub(crate) fn flush(&mut self) {
        let (unsent, broken) = (&mut self.unsent, &mut self.broken);
        self.sender.flush(&self.socket, |error, _, _| {
            *unsent += 1;
            if is_broken(&error) {
                *broken = Some(error);
            }
        });
    }

    /// Receives a batch.
    pub(crate) fn receive(&self, batch: &mut BatchReceiver) -> io::Result<usize> {
        match batch.receive(&self.socket) {
            // An ICMP error about something sent earlier: the sender of it has timers.
            Err(error) if !is_broken(&error) => Ok(0),
            other => other,
        }
    }
}

impl AsFd for UdpPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A batch for datagrams of ours.
pub(crate) fn batch() -> BatchReceiver {
    BatchReceiver::new(BATCH_PACKETS, MAX_DATAGRAM_BYTES)
}

fn own_address(interface: &str, is_ipv6: bool) -> io::Result<IpAddr> {
    let own = interface_addresses()?.into_iter().find(|(name, address)| {
        let link_local = matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
        name == interface && address.is_ipv6() == is_ipv6 && !link_local
    });
    own.map(|(_, address)| address).ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

/// The interface or its address is gone, or nothing leads out of it.
fn is_broken(error: &io::Error) -> bool {
    use nix::errno::Errno;
    let Some(code) = error.raw_os_error() else { return false };
    let gone = [
        Errno::ENODEV,
        Errno::ENETDOWN,
        Errno::ENETUNREACH,
        Errno::EADDRNOTAVAIL,
        Errno::EINVAL,
        Errno::ENXIO,
    ];
    gone.contains(&Errno::from_raw(code))
}
