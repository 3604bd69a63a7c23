//! Encapsulation and decapsulation over one socket. `send`: the way in.
mod send;

pub use send::{SendError, TunnelSender};

use super::sealing::Sealing;
use super::{Peer, Transport};
use crate::counters::sealed_refusal;
use crate::workers::Workers;
use crate::workers::batch::Exit;
use crate::workers::opening::{Opened, Openers};
use prismux_linux::batch::{BatchReceiver, Received};
use prismux_linux::capabilities::REMEDY;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::socket_option;
use prismux_sealed::Refusal;
use prismux_trace::event::DropReason;
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

impl FrameError {
    /// The same in the vocabulary of events.
    pub(crate) const fn reason(self) -> DropReason {
        match self {
            Self::TooLong => DropReason::TooLong,
            Self::Malformed(_) => DropReason::MalformedTunnel,
            Self::Sealed(refusal) => sealed_refusal(refusal),
        }
    }
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
    let openers = sealing.as_ref().and_then(|_| Openers::new(workers));
    Ok((TunnelReceiver { transport, exit, batch, sealing, opened: Vec::new(), openers }, sender))
}

/// The direction out of the tunnels.
pub struct TunnelReceiver {
    transport: Transport,
    exit: Arc<Exit>,
    batch: BatchReceiver,
    sealing: Option<Sealing>,
    /// What was in the datagram that is being handled.
    opened: Vec<u8>,
    /// Where workers open, and sessions are sealed.
    openers: Option<Openers>,
}

impl TunnelReceiver {
    /// Receives one batch and hands over each frame, or what is wrong with it. What workers open is handed over in its
    /// turn, then or by [`TunnelReceiver::collect`].
    ///
    /// # Errors
    /// The kernel's; nothing waiting is no error.
    pub fn receive(&mut self, handle: &mut dyn FnMut(Result<Frame<'_>, FrameError>)) -> io::Result<()> {
        if let (Some(sealing), Some(openers)) = (&self.sealing, &mut self.openers)
            && !openers.has_room(sealing, &mut |opened| handle(sealed_frame(opened)))
        {
            // The rest waits in the socket.
            return Ok(());
        }
        self.batch.receive(&self.exit.socket)?;
        for datagram in self.batch.datagrams() {
            match (&self.sealing, &mut self.openers) {
                (None, _) => handle(decapsulate(self.transport, &datagram)),
                (Some(sealing), Some(openers)) if !datagram.truncated => {
                    match sealing.examine(datagram.bytes) {
                        Ok(Some((ticket, sealed))) => openers.push(&datagram, ticket, sealed),
                        Ok(None) => open_here(sealing, &datagram, &mut self.opened, handle),
                        Err(refusal) => handle(Err(FrameError::Sealed(refusal))),
                    }
                }
                (Some(sealing), _) => open_here(sealing, &datagram, &mut self.opened, handle),
            }
        }
        if let (Some(sealing), Some(openers)) = (&self.sealing, &mut self.openers) {
            openers.flush(sealing, &mut |opened| handle(sealed_frame(opened)));
        }
        Ok(())
    }

    /// Hands over what workers have opened.
    pub fn collect(&mut self, handle: &mut dyn FnMut(Result<Frame<'_>, FrameError>)) {
        if let (Some(sealing), Some(openers)) = (&self.sealing, &mut self.openers) {
            openers.collect(sealing, &mut |opened| handle(sealed_frame(opened)));
        }
    }
}

impl AsFd for TunnelReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.exit.socket.as_fd()
    }
}

/// Opens a sealed datagram into `room` and hands over what it carries, if it does not belong to a handshake.
fn open_here(
    sealing: &Sealing,
    datagram: &Received<'_>,
    room: &mut Vec<u8>,
    handle: &mut dyn FnMut(Result<Frame<'_>, FrameError>),
) {
    if datagram.truncated {
        return handle(Err(FrameError::TooLong));
    }
    let (from, traffic_class) = (datagram.from, datagram.traffic_class);
    match sealing.open(from, datagram.bytes, room) {
        Ok(Some(peer)) => {
            let opened = Opened { from, traffic_class, peer: peer.number, payload: room };
            handle(sealed_frame(Ok(opened)));
        }
        Ok(None) => {}
        Err(refusal) => handle(Err(FrameError::Sealed(refusal))),
    }
}

/// What was sealed in a datagram.
fn sealed_frame(opened: Result<Opened<'_>, Refusal>) -> Result<Frame<'_>, FrameError> {
    let Opened { from, traffic_class, peer, payload } = opened.map_err(FrameError::Sealed)?;
    let (header, length) = GreHeader::parse(payload).map_err(FrameError::Malformed)?;
    Ok(Frame {
        peer: Peer::sealed(from, peer),
        protocol: header.protocol,
        number: header.sequence.map(SeqNumber),
        order: header.key,
        inner: payload.get(length..).unwrap_or_default(),
        outer_ecn: traffic_class.map(Ecn::from_bits),
    })
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
