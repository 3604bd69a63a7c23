//! What proxy and home do alike: packets from the kernel and frames from tunnels go into a core, and its verdicts out.
//!
//! * [`Striping`]: a core with its clock, and one packet into it in each direction.
//! * [`datagrams`]: what the core does not stripe. [`busiest`]: the connections that carry most.
//! * [`batches`]: many packets for each wake-up. [`rewrite`]: the core's changes as bytes.
pub(crate) mod batches;
pub(crate) mod busiest;
pub(crate) mod datagrams;
pub(crate) mod rewrite;

use crate::config::Datagrams;
use crate::device;
use crate::tunnel::socket::Frame;
use busiest::{Busiest, Busy, Way};
use datagrams::Spreading;
use prismux_endpoint::{Deadline, Host, drive, expire};
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::{LinkConfig, LinkId, ProxyConfig};
use prismux_receipts::LinkEstimate;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::{FlowKey, IpPacket, TcpPacket, flow_hash};

/// The protocol machine, with packets as bytes.
pub(crate) type Core = prismux_prism::Proxy<PacketBuf>;

/// Where the core is drained to, and who else sees what goes into it.
pub(crate) trait Exits: Host<Core> {
    /// Buffers for packets of our own.
    fn pool(&self) -> &PacketPool;
    /// A packet that came out of a tunnel, as it is.
    fn hand_to_kernel(&mut self, packet: &[u8]);
    /// A packet over a link, as it is, with an order beside it if there is one.
    fn send(&mut self, now: Instant, link: LinkId, packet: PacketBuf, order: Option<u32>);
    /// A packet goes nowhere.
    fn count(&mut self, reason: DropReason);
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
    /// What new connections are told that passes.
    inner_mtu_bytes: usize,
    /// Where both ends know how.
    spreading: Option<Spreading>,
    /// What goes into the tunnels is on its way to the receivers; at a home, from them.
    outbound: Way,
    busiest: Busiest,
}

impl Striping {
    /// No links, no flows. The MSS of SYNs is clamped by address family, which the core's single number cannot.
    pub fn new(settings: ProxyConfig, inner_mtu_bytes: usize) -> Self {
        let core = Core::new(ProxyConfig { mss_clamp: None, ..settings });
        let (outbound, busiest) = (Way::Forward, Busiest::default());
        Self { core, deadline: None, inner_mtu_bytes, spreading: None, outbound, busiest }
    }

    /// With what is not TCP spread by these rules, and numbers that begin at `first`.
    #[must_use]
    pub fn with_datagrams(mut self, rules: Option<Datagrams>, first: u32) -> Self {
        self.spreading = rules.map(|rules| Spreading::new(rules, first));
        self
    }

    /// At a home, whose own packets go into the tunnels.
    #[must_use]
    pub fn at_home(mut self) -> Self {
        self.outbound = Way::Return;
        self
    }

    /// The connections that carry most now.
    pub fn busiest(&self, now: Instant) -> Vec<Busy> {
        self.busiest.shown(now)
    }

    /// New connections are told that packets of up to so many bytes pass.
    pub fn set_mtu(&mut self, inner_mtu_bytes: usize) {
        self.inner_mtu_bytes = inner_mtu_bytes;
    }

    /// When [`Striping::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let held = self.spreading.as_ref().and_then(Spreading::deadline);
        self.deadline.map(|deadline| deadline.at).into_iter().chain(held).min()
    }

    /// Calls the core if it is due; says whether it was. It is to be drained then.
    pub fn expire(&mut self, now: Instant) -> bool {
        expire(&mut self.core, now)
    }

    /// Lets datagrams go that have waited long enough.
    pub fn expire_datagrams(&mut self, now: Instant, exits: &mut impl Exits) {
        if self.spreading.as_mut().is_some_and(|spreading| spreading.expire(now)) {
            self.deliver_ordered(now, exits);
        }
    }

    /// A link may be used.
    pub fn join(&mut self, now: Instant, link: LinkId, config: LinkConfig) {
        if let Some(spreading) = &mut self.spreading {
            spreading.join(link, config.round_trip);
        }
        self.core.join(now, link, config);
    }

    /// A link may not be used any more.
    pub fn leave(&mut self, now: Instant, link: LinkId) {
        if let Some(spreading) = &mut self.spreading {
            spreading.leave(link);
        }
        self.core.leave(now, link);
    }

    /// What receipts say of a link, for what the core does not stripe.
    pub fn measured(&mut self, now: Instant, link: LinkId, estimate: &LinkEstimate) {
        if let Some(spreading) = &mut self.spreading {
            spreading.measured(now, link, estimate);
        }
    }

    /// What a status page shows of datagrams.
    pub fn datagrams(&self) -> Option<datagrams::Report> {
        self.spreading.as_ref().map(Spreading::report)
    }

    /// Carries out what the core decided: to be called after every mutation of the core.
    pub fn drain(&mut self, now: Instant, exits: &mut impl Host<Core>) {
        self.deadline = drive(&mut self.core, now, exits);
    }

    /// A packet on its way into the tunnels, whose header has been read.
    pub fn outbound(&mut self, now: Instant, ip: IpPacket, mut packet: PacketBuf, exits: &mut impl Exits) {
        self.busiest.count(now, FlowKey::of_packet(&ip, &packet), self.outbound, ip.total_bytes);
        let tcp = TcpPacket::from_ip(ip, &packet);
        let class = |spreading: &Spreading| spreading.class_of(&ip, &packet, tcp.is_ok());
        if let Some(class) = self.spreading.as_ref().and_then(class) {
            if let Ok(tcp) = tcp {
                device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
            }
            if let Some(spreading) = &mut self.spreading {
                spreading.send(now, class, &ip, packet, exits);
            }
            return;
        }
        match tcp {
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
        let flow = FlowKey::of_packet(&ip, inner).reversed();
        self.busiest.count(now, flow, self.outbound.other(), ip.total_bytes);
        let mut packet = exits.pool().copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        match (&mut self.spreading, frame.order) {
            (Some(spreading), Some(order)) => {
                spreading.arrived(now, link, order, packet);
                self.deliver_ordered(now, exits);
            }
            _ => self.deliver(now, link, ip, packet, exits),
        }
        Ok(())
    }

    /// Packets whose turn has come.
    fn deliver_ordered(&mut self, now: Instant, exits: &mut impl Exits) {
        while let Some((link, packet)) = self.spreading.as_mut().and_then(|spreading| spreading.poll(now)) {
            match IpPacket::parse(&packet) {
                Ok(ip) => self.deliver(now, link, ip, packet, exits),
                // Parsed when it came.
                Err(_) => exits.count(DropReason::MalformedPacket),
            }
        }
    }

    fn deliver(
        &mut self,
        now: Instant,
        link: LinkId,
        ip: IpPacket,
        mut packet: PacketBuf,
        exits: &mut impl Exits,
    ) {
        let Ok(tcp) = TcpPacket::from_ip(ip, &packet) else { return exits.hand_to_kernel(&packet) };
        device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
        exits.note_inbound(now, link, &packet);
        self.core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), packet);
        self.drain(now, exits);
    }
}
