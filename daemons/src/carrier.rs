//! What proxy and home do alike: packets from the kernel and frames from tunnels go into a core, and its verdicts out.
//!
//! * [`Striping`]: a core with its clock, and one packet into it in each direction.
//! * [`batches`]: many packets for each wake-up. [`rewrite`]: the core's changes as bytes.
pub(crate) mod batches;
pub(crate) mod rewrite;

use crate::device;
use crate::tunnel::socket::Frame;
use prismux_endpoint::{Deadline, Host, drive, expire};
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::{LinkId, ProxyConfig};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::{IpPacket, TcpPacket, flow_hash};

/// The protocol machine, with packets as bytes.
pub(crate) type Core = prismux_prism::Proxy<PacketBuf>;

/// Where the core is drained to, and who else sees what goes into it.
pub(crate) trait Exits: Host<Core> {
    /// Buffers for packets of our own.
    fn pool(&self) -> &PacketPool;
    /// A packet that came out of a tunnel, as it is.
    fn hand_to_kernel(&mut self, packet: &[u8]);
    /// This goes into the core on its way into the tunnels.
    fn note_outbound(&mut self, _now: Instant, _packet: &[u8]) {}
    /// This goes into the core on its way out of them.
    fn note_inbound(&mut self, _now: Instant, _link: LinkId, _packet: &[u8]) {}
}

/// A core, and when it wants to be called.
pub(crate) struct Striping {
    /// To be drained after every mutation.
    pub core: Core,
    /// As of the last time it was drained.
    deadline: Option<Deadline>,
    inner_mtu_bytes: usize,
}

impl Striping {
    /// No links, no flows. The MSS of SYNs is clamped by address family, which the core's single number cannot.
    pub fn new(settings: ProxyConfig, inner_mtu_bytes: usize) -> Self {
        let core = Core::new(ProxyConfig { mss_clamp: None, ..settings });
        Self { core, deadline: None, inner_mtu_bytes }
    }

    /// When [`Striping::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|deadline| deadline.at)
    }

    /// Calls the core if it is due; says whether it was. It is to be drained then.
    pub fn expire(&mut self, now: Instant) -> bool {
        expire(&mut self.core, now)
    }

    /// Carries out what the core decided: to be called after every mutation of the core.
    pub fn drain(&mut self, now: Instant, exits: &mut impl Host<Core>) {
        self.deadline = drive(&mut self.core, now, exits);
    }

    /// A packet on its way into the tunnels, whose header has been read.
    pub fn outbound(&mut self, now: Instant, ip: IpPacket, mut packet: PacketBuf, exits: &mut impl Exits) {
        match TcpPacket::from_ip(ip, &packet) {
            Ok(tcp) => {
                device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
                exits.note_outbound(now, &packet);
                self.core.handle_data(now, tcp.flow(), &tcp.header, tcp.payload_bytes(), packet);
            }
            // Another protocol, a fragment, or a segment that its receiver must judge: whole, by flow.
            Err(_) => {
                exits.note_outbound(now, &packet);
                self.core.handle_opaque(flow_hash(&ip, &packet), packet);
            }
        }
        self.drain(now, exits);
    }

    /// A packet that came over `link`, whose header has been read.
    ///
    /// # Errors
    /// Why it goes no further.
    pub fn inbound(
        &mut self,
        now: Instant,
        link: LinkId,
        ip: IpPacket,
        frame: &Frame<'_>,
        exits: &mut impl Exits,
    ) -> Result<(), DropReason> {
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        let mut packet = exits.pool().copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        let Ok(tcp) = TcpPacket::from_ip(ip, &packet) else {
            exits.hand_to_kernel(&packet);
            return Ok(());
        };
        device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
        exits.note_inbound(now, link, &packet);
        self.core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), packet);
        self.drain(now, exits);
        Ok(())
    }
}
