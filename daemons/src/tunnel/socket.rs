//! Encapsulation and decapsulation over one socket. `send`: the way in.
mod send;

pub use send::{SendError, TunnelSender};

use super::sealing::Sealing;
use super::{Peer, Transport};
use crate::workers::Workers;
use crate::workers::batch::Exit;
use prismux_linux::batch::{BatchReceiver, Received};
use prismux_linux::capabilities::REMEDY;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::socket_option;
use prismux_sealed::Refusal;
use prismux_wire::{Ecn, GreHeader, IpFamily, IpPacket, SeqNumber, WireError};
use socket2::{Domain, Protocol, Socket, Type};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Room beyond the plain headers: IPv4 options, GRE checksum, key and sequence number of another implementation.
const HEADER_ROOM_BYTES: usize = 64;

/// Bytes of a sealed datagram beyond the inner MTU, at most.
pub(crate) const SEALED_ROOM_BYTES: usize = 256;

/// Socket buffers in bytes: what a 100 Mbit/s link carries in about 300 ms.
const SOCKET_BUFFER_BYTES: libc::c_int = 4 << 20;

/// How a tunnel socket is bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Local address, and port for UDP; `None` lets the kernel choose.
    pub local: Option<SocketAddr>,
    /// Send and receive through this network device only.
    pub device: Option<String>,
    /// Mark on outgoing packets, for routing rules.
    pub mark: Option<u32>,
}

impl SocketOptions {
    /// Makes `socket` send by the same mark and device.
    ///
    /// # Errors
    /// The kernel's, see socket(7).
    pub fn apply(&self, socket: &impl AsFd) -> io::Result<()> {
        if let Some(mark) = self.mark {
            socket_option::set(socket, libc::SOL_SOCKET, libc::SO_MARK, mark.cast_signed())?;
        }
        if let Some(device) = &self.device {
            let name = std::ffi::OsString::from(device);
            nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::BindToDevice, &name)?;
        }
        Ok(())
    }
}

/// Why a tunnel socket could not be opened.
#[derive(Debug)]
pub struct TunnelError {
    doing: String,
    source: io::Error,
}

impl fmt::Display for TunnelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not {}: {}", self.doing, self.source)?;
        match self.source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => {
                write!(f, ". GRE needs a raw socket: {REMEDY}; or run in a user and network namespace")
            }
            Some(libc::EADDRINUSE) => {
                write!(f, ". Another program uses this port; is a daemon already running?")
            }
            Some(libc::EADDRNOTAVAIL) => {
                write!(f, ". No network device has this address; compare with: ip address")
            }
            Some(libc::ENODEV) => write!(f, ". There is no such network device; compare with: ip link"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for TunnelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// What came out of a tunnel.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Who sent it.
    pub peer: Peer,
    /// EtherType of the payload.
    pub protocol: u16,
    /// The number that the packet carries, where receipts are agreed on.
    pub number: Option<SeqNumber>,
    /// The order that it carries, where it may be overtaken or come twice: the key of its header.
    pub order: Option<u32>,
    /// The payload.
    pub inner: &'a [u8],
    /// Congestion bits of the outer header, where the socket reports them.
    pub outer_ecn: Option<Ecn>,
}

impl Frame<'_> {
    /// Its bytes on the line, outer headers included.
    pub fn line_bytes(&self) -> u64 {
        self.peer.line_bytes(self.inner.len(), self.number.is_some(), self.order.is_some())
    }
}

/// Why something that arrived is no [`Frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// Longer than any packet we carry.
    TooLong,
    /// The outer IP header or the GRE header is wrong.
    Malformed(WireError),
    /// It does not open, or must not.
    Sealed(Refusal),
}

/// Opens one socket that carries tunnels to any number of peers, of the same family as `options.local` (IPv4 if that is
/// absent), for inner packets of up to `inner_mtu_bytes`. Its two directions are used apart. With `sealing` it carries
/// sealed sessions. What leaves goes by `workers`, if there are any.
///
/// # Errors
/// [`TunnelError`]: what the kernel refused, and what to do.
pub fn open(
    transport: Transport,
    options: &SocketOptions,
    inner_mtu_bytes: usize,
    sealing: Option<Sealing>,
    workers: &Workers,
) -> Result<(TunnelReceiver, TunnelSender), TunnelError> {
    let local = options.local.unwrap_or_else(|| SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0));
    let doing = |what: &str| {
        let doing = format!("{what} for {} tunnels at {local}", transport.name());
        move |source: io::Error| TunnelError { doing, source }
    };
    let socket = match (transport, local) {
        (Transport::Udp | Transport::Sealed, _) => open_udp(local),
        (Transport::Gre, SocketAddr::V4(local)) => open_gre(*local.ip()),
        // Raw IPv6 sockets hide the outer header; nobody has asked for them yet.
        (Transport::Gre, SocketAddr::V6(_)) => Err(io::ErrorKind::Unsupported.into()),
    };
    let socket = socket.map_err(doing("open a socket"))?;
    prepare(&socket, &local, options).map_err(doing("set up a socket"))?;
    let buffer_bytes = inner_mtu_bytes + transport.overhead_bytes(IpFamily::V4) + HEADER_ROOM_BYTES;
    let is_udp = transport != Transport::Gre;
    let batch = match is_udp {
        true => BatchReceiver::joined(&socket, BATCH_PACKETS, buffer_bytes),
        false => BatchReceiver::new(BATCH_PACKETS, buffer_bytes),
    };
    let exit = Arc::new(Exit { socket, is_udp, datagram_bytes: inner_mtu_bytes + SEALED_ROOM_BYTES });
    let sender = TunnelSender::new(transport, local.is_ipv6(), &exit, options, (sealing.clone(), workers));
    Ok((TunnelReceiver { transport, exit, batch, sealing, opened: Vec::new() }, sender))
}

/// The direction out of the tunnels.
pub struct TunnelReceiver {
    transport: Transport,
    exit: Arc<Exit>,
    batch: BatchReceiver,
    sealing: Option<Sealing>,
    /// What was in the datagram that is being handled.
    opened: Vec<u8>,
}

impl TunnelReceiver {
    /// Receives one batch and hands over each frame, or what is wrong with it. Returns how many there were.
    ///
    /// # Errors
    /// The kernel's; nothing waiting is no error.
    pub fn receive(&mut self, mut handle: impl FnMut(Result<Frame<'_>, FrameError>)) -> io::Result<usize> {
        let count = self.batch.receive(&self.exit.socket)?;
        for datagram in self.batch.datagrams() {
            match &self.sealing {
                None => handle(decapsulate(self.transport, &datagram)),
                Some(sealing) => {
                    if let Some(opened) = open_sealed(sealing, &datagram, &mut self.opened).transpose() {
                        handle(opened);
                    }
                }
            }
        }
        Ok(count)
    }
}

impl AsFd for TunnelReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.exit.socket.as_fd()
    }
}

/// What a sealed datagram carries, opened into `opened`; `None` for handshakes.
fn open_sealed<'a>(
    sealing: &Sealing,
    datagram: &Received<'_>,
    opened: &'a mut Vec<u8>,
) -> Result<Option<Frame<'a>>, FrameError> {
    if datagram.truncated {
        return Err(FrameError::TooLong);
    }
    let Some(peer) = sealing.open(datagram.from, datagram.bytes, opened).map_err(FrameError::Sealed)? else {
        return Ok(None);
    };
    let (header, length) = GreHeader::parse(opened).map_err(FrameError::Malformed)?;
    let (number, outer_ecn) = (header.sequence.map(SeqNumber), datagram.traffic_class.map(Ecn::from_bits));
    let inner = opened.get(length..).unwrap_or_default();
    Ok(Some(Frame { peer, protocol: header.protocol, number, order: header.key, inner, outer_ecn }))
}

fn decapsulate<'a>(transport: Transport, datagram: &Received<'a>) -> Result<Frame<'a>, FrameError> {
    if datagram.truncated {
        return Err(FrameError::TooLong);
    }
    let (gre, outer_ecn) = match transport {
        Transport::Gre => {
            let outer = IpPacket::parse(datagram.bytes).map_err(FrameError::Malformed)?;
            (outer.payload(datagram.bytes), Some(outer.header.ecn))
        }
        Transport::Udp | Transport::Sealed => (datagram.bytes, datagram.traffic_class.map(Ecn::from_bits)),
    };
    let (header, length) = GreHeader::parse(gre).map_err(FrameError::Malformed)?;
    let peer = match transport {
        Transport::Gre => Peer::gre(datagram.from.ip()),
        Transport::Udp | Transport::Sealed => Peer::udp(datagram.from),
    };
    let inner = gre.get(length..).unwrap_or_default();
    let number = header.sequence.map(SeqNumber);
    Ok(Frame { peer, protocol: header.protocol, number, order: header.key, inner, outer_ecn })
}

fn open_udp(local: SocketAddr) -> io::Result<OwnedFd> {
    let socket = UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn open_gre(local: Ipv4Addr) -> io::Result<OwnedFd> {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(libc::IPPROTO_GRE)))?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from((local, 0)).into())?;
    Ok(socket.into())
}

fn prepare(socket: &OwnedFd, local: &SocketAddr, options: &SocketOptions) -> io::Result<()> {
    for (name, forced) in [(libc::SO_RCVBUF, libc::SO_RCVBUFFORCE), (libc::SO_SNDBUF, libc::SO_SNDBUFFORCE)] {
        // Without CAP_NET_ADMIN in the initial namespace the kernel's own limit applies.
        socket_option::set(socket, libc::SOL_SOCKET, forced, SOCKET_BUFFER_BYTES)
            .or_else(|_| socket_option::set(socket, libc::SOL_SOCKET, name, SOCKET_BUFFER_BYTES))?;
    }
    // Never fragmented unseen (DF), and never by what an ICMP error made the kernel believe: see `path_mtu`.
    if local.is_ipv6() {
        socket_option::set(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
        socket_option::set(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)?;
    }
    // An IPv6 socket carries IPv4 too.
    socket_option::set(socket, libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
    socket_option::set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)?;
    options.apply(socket)
}

#[cfg(test)]
mod tests;
