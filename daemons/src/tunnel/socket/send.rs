//! Encapsulation over one socket, by this thread or by workers.
use super::SocketOptions;
use crate::tunnel::control;
use crate::tunnel::path_mtu::{MIN_PATH_MTU_BYTES, PathMtus};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::{Peer, Transport};
use crate::workers::Workers;
use crate::workers::batch::{Exit, Failure};
use crate::workers::lanes::Lanes;
use prismux_linux::batch::{BatchSender, MAX_HEADER_BYTES};
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketBuf;
use prismux_sealed::NoSession;
use prismux_wire::gre::PLAIN_GRE_BYTES;
use prismux_wire::{Ecn, GreHeader, IpFamily};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

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

/// The direction into the tunnels.
pub struct TunnelSender {
    transport: Transport,
    /// An IPv6 socket reaches IPv4 peers by mapped addresses (RFC 4291 section 2.5.5.2).
    is_ipv6: bool,
    exit: Arc<Exit>,
    /// What this thread sends: everything, or handshakes alone where there are workers.
    batch: BatchSender,
    lanes: Option<Lanes>,
    path_mtus: PathMtus,
    /// What paths take by their own probes, where that is less: by the number of the peer.
    limits: HashMap<u16, usize>,
    sealing: Option<Sealing>,
    /// What was not queued, and the path MTU that kept it: told of at the next flush.
    too_wide: Vec<(SocketAddr, PacketBuf, usize)>,
    /// What could not be sealed.
    unsealed: Vec<(SocketAddr, PacketBuf, NoSession)>,
}

impl TunnelSender {
    pub(super) fn new(
        transport: Transport,
        is_ipv6: bool,
        exit: &Arc<Exit>,
        options: &SocketOptions,
        (sealing, workers): (Option<Sealing>, &Workers),
    ) -> Self {
        let batch = match exit.is_udp {
            true => BatchSender::joining(&exit.socket, BATCH_PACKETS),
            false => BatchSender::new(BATCH_PACKETS),
        };
        let (lanes, exit) = (Lanes::new(workers, exit), Arc::clone(exit));
        let (path_mtus, too_wide, unsealed) = (PathMtus::new(options.clone()), Vec::new(), Vec::new());
        let limits = HashMap::new();
        Self { transport, is_ipv6, exit, batch, lanes, path_mtus, limits, sealing, too_wide, unsealed }
    }

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
        options.apply(&self.exit.socket)?;
        self.path_mtus = PathMtus::new(options);
        Ok(())
    }

    /// The path to a peer takes outer packets of up to so many bytes, as probes have found; `None` for all.
    pub fn limit_path(&mut self, peer: Peer, limit_bytes: Option<usize>) {
        match limit_bytes {
            Some(bytes) => self.limits.insert(peer.number, bytes),
            None => self.limits.remove(&peer.number),
        };
    }

    /// What a path takes, as far as that is known. Probes are there to find out, and are not bound by what is.
    fn path_mtu_bytes(&mut self, peer: Peer, to: SocketAddr, protocol: u16) -> usize {
        let limit = self.limits.get(&peer.number).filter(|_| protocol != control::PROTOCOL_TYPE);
        self.path_mtus.towards(to.ip()).min(limit.copied().unwrap_or(usize::MAX))
    }

    /// The sessions, where packets are sealed.
    pub const fn sealing(&self) -> Option<&Sealing> {
        self.sealing.as_ref()
    }

    /// Queues `packet` behind `header`, at most twelve bytes of it, for `peer`. The outer header gets the congestion
    /// bits `ecn` (RFC 6040 section 4.1).
    pub fn push(&mut self, peer: Peer, header: &GreHeader, ecn: Ecn, packet: PacketBuf) {
        let protocol = header.protocol;
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
            let path_mtu_bytes = self.path_mtu_bytes(peer, to, protocol);
            if outer_bytes > path_mtu_bytes {
                return self.too_wide.push((to, packet, path_mtu_bytes));
            }
        }
        if self.lanes.is_some() {
            return self.hand_over(peer, (to, ecn), header, packet);
        }
        let Some(sealing) = &self.sealing else {
            return self.batch.push(for_kernel(to, self.is_ipv6), ecn.bits(), header, packet);
        };
        match sealing.seal(peer.number, header, &packet) {
            Ok((to, sealed)) => self.batch.push(for_kernel(to, self.is_ipv6), ecn.bits(), &[], sealed),
            Err(error) => self.unsealed.push((to, packet, error)),
        }
    }

    /// As [`TunnelSender::push`], by a worker.
    fn hand_over(&mut self, peer: Peer, (to, ecn): (SocketAddr, Ecn), header: &[u8], packet: PacketBuf) {
        let Some(lanes) = &mut self.lanes else { return };
        let Some(sealing) = &self.sealing else {
            return lanes.push_plain(peer, for_kernel(to, self.is_ipv6), ecn.bits(), (header, &packet));
        };
        match sealing.reserve(peer.number) {
            Ok(reserved) => {
                let to = for_kernel(reserved.to, self.is_ipv6);
                lanes.push_sealed(peer, reserved, (to, ecn.bits()), (header, &packet));
            }
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
    pub fn flush(&mut self, mut failed: impl FnMut(SendError, SocketAddr, &[u8])) {
        for (to, packet, path_mtu_bytes) in self.too_wide.drain(..) {
            failed(SendError::PathTooNarrow(path_mtu_bytes), to, &packet);
        }
        for (to, packet, error) in self.unsealed.drain(..) {
            failed(SendError::NoSession(error), to, &packet);
        }
        self.push_handshakes();
        let path_mtus = &mut self.path_mtus;
        let mut tell = |error: io::Error, to: SocketAddr, packet: &[u8]| match error.raw_os_error() {
            // A device whose MTU was lowered since its path was asked for.
            Some(libc::EMSGSIZE) => failed(SendError::PathTooNarrow(path_mtus.towards(to.ip())), to, packet),
            _ => failed(SendError::Kernel(error), to, packet),
        };
        if let Some(lanes) = &mut self.lanes {
            lanes.flush();
            lanes.failures().for_each(|Failure { error, to, packet }| tell(error, to, &packet));
        }
        self.batch.flush(&self.exit.socket, |error, to, packet| tell(error, to, &packet));
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
