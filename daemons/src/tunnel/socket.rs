//! Encapsulation and decapsulation over one socket.
use super::path_mtu::{MIN_PATH_MTU_BYTES, PathMtus};
use super::sealing::Sealing;
use super::{Peer, Transport};
use prismux_linux::batch::{BatchReceiver, BatchSender, MAX_HEADER_BYTES, Received};
use prismux_linux::capabilities::REMEDY;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketBuf;
use prismux_linux::socket_option;
use prismux_sealed::{NoSession, Refusal};
use prismux_wire::gre::PLAIN_GRE_BYTES;
use prismux_wire::{Ecn, GreHeader, IpFamily, IpPacket, SeqNumber, WireError};
use socket2::{Domain, Protocol, Socket, Type};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// Room beyond the plain headers: IPv4 options, GRE checksum, key and sequence number of another implementation.
const HEADER_ROOM_BYTES: usize = 64;

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

/// Why a packet did not go into a tunnel.
#[derive(Debug)]
pub enum SendError {
    /// Its path takes less: outer packets of up to this many bytes.
    PathTooNarrow(usize),
    /// There are no keys to seal it with.
    NoSession(NoSession),
    /// The kernel's reason.
    Kernel(io::Error),
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
/// sealed sessions.
///
/// # Errors
/// [`TunnelError`]: what the kernel refused, and what to do.
pub fn open(
    transport: Transport,
    options: &SocketOptions,
    inner_mtu_bytes: usize,
    sealing: Option<Sealing>,
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
    let socket = Rc::new(socket.map_err(doing("open a socket"))?);
    prepare(&socket, &local, options).map_err(doing("set up a socket"))?;
    let buffer_bytes = inner_mtu_bytes + transport.overhead_bytes(IpFamily::V4) + HEADER_ROOM_BYTES;
    let is_udp = transport != Transport::Gre;
    let batch = match is_udp {
        true => BatchReceiver::joined(&*socket, BATCH_PACKETS, buffer_bytes),
        false => BatchReceiver::new(BATCH_PACKETS, buffer_bytes),
    };
    let opened = Vec::new();
    let receiver =
        TunnelReceiver { transport, socket: Rc::clone(&socket), batch, sealing: sealing.clone(), opened };
    let batch = match is_udp {
        true => BatchSender::joining(&*socket, BATCH_PACKETS),
        false => BatchSender::new(BATCH_PACKETS),
    };
    let path_mtus = PathMtus::new(options.clone());
    let is_ipv6 = local.is_ipv6();
    let (too_wide, unsealed) = (Vec::new(), Vec::new());
    let sender = TunnelSender { transport, is_ipv6, socket, batch, path_mtus, sealing, too_wide, unsealed };
    Ok((receiver, sender))
}

/// The direction out of the tunnels.
pub struct TunnelReceiver {
    transport: Transport,
    socket: Rc<OwnedFd>,
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
        let count = self.batch.receive(&self.socket)?;
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
        self.socket.as_fd()
    }
}

/// The direction into the tunnels.
pub struct TunnelSender {
    transport: Transport,
    /// An IPv6 socket reaches IPv4 peers by mapped addresses (RFC 4291 section 2.5.5.2).
    is_ipv6: bool,
    socket: Rc<OwnedFd>,
    batch: BatchSender,
    path_mtus: PathMtus,
    sealing: Option<Sealing>,
    /// What was not queued, and the path MTU that kept it: told of at the next flush.
    too_wide: Vec<(SocketAddr, PacketBuf, usize)>,
    /// What could not be sealed.
    unsealed: Vec<(SocketAddr, PacketBuf, NoSession)>,
}

impl TunnelSender {
    /// What carries the tunnels of this socket.
    pub const fn transport(&self) -> Transport {
        self.transport
    }

    /// True when [`TunnelSender::flush`] must come before the next [`TunnelSender::push`].
    pub fn is_full(&self) -> bool {
        self.batch.is_full() || self.too_wide.len() + self.unsealed.len() >= BATCH_PACKETS
    }

    /// Sends and receives through this network device only, from now on: the one that has this name now.
    ///
    /// # Errors
    /// The kernel's: there is no such device.
    pub fn bind_to_device(&mut self, device: &str) -> io::Result<()> {
        let options = SocketOptions { device: Some(device.to_owned()), ..self.path_mtus.options().clone() };
        options.apply(&*self.socket)?;
        self.path_mtus = PathMtus::new(options);
        Ok(())
    }

    /// The sessions, where packets are sealed.
    pub const fn sealing(&self) -> Option<&Sealing> {
        self.sealing.as_ref()
    }

    /// Queues `packet` behind `header`, at most twelve bytes of it, for `peer`. The outer header gets the congestion
    /// bits `ecn` (RFC 6040 section 4.1).
    pub fn push(&mut self, peer: Peer, header: &GreHeader, ecn: Ecn, packet: PacketBuf) {
        let to = match &self.sealing {
            Some(sealing) => sealing.address(peer.number).unwrap_or(peer.address),
            None => peer.address,
        };
        let mut room = [0; MAX_HEADER_BYTES];
        // A header of ours has a sequence number at most.
        let header_bytes = header.emit(&mut room).unwrap_or(room.len());
        let header = room.get(..header_bytes).unwrap_or_default();
        let family = if to.ip().to_canonical().is_ipv6() { IpFamily::V6 } else { IpFamily::V4 };
        let outer_bytes =
            self.transport.overhead_bytes(family) - PLAIN_GRE_BYTES + header_bytes + packet.len();
        if outer_bytes > MIN_PATH_MTU_BYTES {
            let path_mtu_bytes = self.path_mtus.towards(to.ip());
            if outer_bytes > path_mtu_bytes {
                return self.too_wide.push((to, packet, path_mtu_bytes));
            }
        }
        let Some(sealing) = &self.sealing else {
            return self.batch.push(for_kernel(to, self.is_ipv6), ecn.bits(), header, packet);
        };
        match sealing.seal(peer.number, header, &packet) {
            Ok((to, sealed)) => self.batch.push(for_kernel(to, self.is_ipv6), ecn.bits(), &[], sealed),
            Err(error) => self.unsealed.push((to, packet, error)),
        }
    }

    /// Queues what handshakes want to send.
    fn push_handshakes(&mut self) {
        while !self.batch.is_full()
            && let Some((to, datagram)) = self.sealing.as_ref().and_then(Sealing::poll_transmit)
        {
            self.batch.push(for_kernel(to, self.is_ipv6), Ecn::NotEct.bits(), &[], datagram);
        }
    }

    /// Sends what is queued; `failed` gets what was too wide or the kernel would not take, and where it was to go.
    pub fn flush(&mut self, mut failed: impl FnMut(SendError, SocketAddr, PacketBuf)) {
        for (to, packet, path_mtu_bytes) in self.too_wide.drain(..) {
            failed(SendError::PathTooNarrow(path_mtu_bytes), to, packet);
        }
        for (to, packet, error) in self.unsealed.drain(..) {
            failed(SendError::NoSession(error), to, packet);
        }
        self.push_handshakes();
        let path_mtus = &mut self.path_mtus;
        self.batch.flush(&self.socket, |error, to, packet| match error.raw_os_error() {
            // A device whose MTU was lowered since its path was asked for.
            Some(libc::EMSGSIZE) => failed(SendError::PathTooNarrow(path_mtus.towards(to.ip())), to, packet),
            _ => failed(SendError::Kernel(error), to, packet),
        });
        self.path_mtus.refresh();
    }
}

/// As the kernel wants it: an IPv6 socket reaches IPv4 by mapped addresses.
fn for_kernel(to: SocketAddr, is_ipv6: bool) -> SocketAddr {
    match to {
        SocketAddr::V4(v4) if is_ipv6 => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
        other => other,
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
