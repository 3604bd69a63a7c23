//! Transports with their settings.
use crate::{Congestion, LinkId, NodeId};
use alloc::string::String;
use alloc::vec::Vec;
use prismux_mptcp::{Coupling, MptcpConfig, Scheduler};
use prismux_ptcp::{PtcpConfig, Reassignment, ResumeOrder};
use prismux_r2cp::{R2cpConfig, Scheduling};
use prismux_rcp::RcpConfig;
use prismux_tcp::TcpConfig;
use prismux_tcp_door::DoorConfig;
use prismux_units::{ByteCount, Duration, Rate};

/// How the data of a flow travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// One ordinary TCP connection.
    Tcp,
    /// TCP whose sender understands the loss reports of a PRISM proxy (TCP-PRISM).
    TcpPrism,
    /// TCP whose receiver tells of its handoffs and whose sender listens (TCP for handoffs, TCP-HO).
    TcpHo,
    /// TCP that takes reordering for a sign of a new route (detection of out-of-order and response, TCP-DOOR).
    TcpDoor(DoorConfig),
    /// Multipath TCP (RFC 8684): ours in the simulator, the kernel's in the lab.
    Mptcp(MptcpSettings),
    /// TCP whose receiver marks the ACKs that wait for what its link has damaged (explicit loss notification, TCP-ELN).
    TcpEln,
    /// Reception Control Protocol (RCP): the receiver asks and controls, the sender answers.
    Rcp(RcpSettings),
    /// RCP whose receiver knows what its link has damaged.
    RcpEln(RcpSettings),
    /// Radial RCP (R²CP): one stream over several RCP pipes.
    R2cp(R2cpSettings),
    /// Parallel TCP (pTCP): one connection with a pipe for every access link.
    Ptcp(PtcpSettings),
    /// Several TCP connections, striped over by an application without knowledge of rates.
    StripingUnaware(StripingSettings),
    /// The same by an application that deals in proportion to the links' rates.
    StripingSmart(StripingSettings),
    /// Datagrams that nobody answers (RFC 768).
    Udp,
}

impl Transport {
    /// Whether a flow has a pipe for every access link.
    pub const fn has_pipe_per_link(&self) -> bool {
        matches!(self, Self::Ptcp(_) | Self::Mptcp(_) | Self::StripingUnaware(_) | Self::StripingSmart(_))
    }

    /// Whether a scheduler spreads one stream of the flow over several paths.
    pub const fn spreads_a_stream(&self) -> bool {
        matches!(self, Self::Mptcp(_) | Self::Ptcp(_) | Self::R2cp(_))
    }

    /// The settings of a flow over one RCP connection.
    pub const fn rcp(&self) -> Option<&RcpSettings> {
        match self {
            Self::Rcp(settings) | Self::RcpEln(settings) => Some(settings),
            _ => None,
        }
    }

    /// Whether both are the same transport, whatever their settings.
    pub fn is_same_as(&self, other: &Self) -> bool {
        core::mem::discriminant(self) == core::mem::discriminant(other)
    }
}

/// Settings of a transfer over one RCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RcpSettings {
    /// Who sends the SYN.
    pub opened_by: RcpOpener,
    /// How far beyond what the receiver has may be asked for: the sender's own flow control (reverse flow control).
    pub request_limit: ByteCount,
    /// How often the radio of a sleeping receiver wakes for a moment, counted from the start of its sleep: it sleeps on
    /// until then when it could wake. At once when `None`.
    pub beacon: Option<Duration>,
    /// With STP: what a bundle of requests asks for is asked for segment by segment, over a third of a round trip.
    pub spread_grants: bool,
}

impl RcpSettings {
    /// The receiver opens, the sender sets no limit, sleep ends at once, grants leave at once.
    pub const DEFAULT: Self = Self {
        opened_by: RcpOpener::Receiver,
        request_limit: ByteCount::new(64 << 20),
        beacon: None,
        spread_grants: false,
    };

    /// As the protocol has them, on top of TCP's switches.
    pub fn config(&self, tcp: &TcpConfig) -> RcpConfig {
        RcpConfig {
            request_limit: self.request_limit,
            spread_grants: self.spread_grants,
            ..RcpConfig::from_tcp(tcp)
        }
    }
}

/// The end of an RCP connection that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RcpOpener {
    /// Who asks for data.
    Receiver,
    /// Who has it.
    Sender,
}

/// Settings of a transfer over several RCP pipes.
#[derive(Debug, Clone, PartialEq)]
pub struct R2cpSettings {
    /// The pipes, at least one; names are unique. They end at the flow's receiver.
    pub pipes: Vec<Pipe>,
    /// Which segment a pipe asks for next.
    pub scheduling: Scheduling,
    /// The rate at which the stream is wanted; as fast as possible when `None`.
    pub target_rate: Option<Rate>,
}

impl R2cpSettings {
    /// No pipe yet, segments by expected arrival, as fast as possible.
    pub const DEFAULT: Self =
        Self { pipes: Vec::new(), scheduling: Scheduling::ExpectedArrival, target_rate: None };

    /// As the protocol has them, on top of TCP's switches.
    pub fn config(&self, tcp: &TcpConfig) -> R2cpConfig {
        R2cpConfig {
            scheduling: self.scheduling,
            target_rate: self.target_rate,
            ..R2cpConfig::new(RcpConfig::from_tcp(tcp))
        }
    }
}

/// One pipe: a server, reached over one link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipe {
    /// Name.
    pub name: String,
    /// The host that serves it; all servers of a flow hold the same bytes.
    pub server: NodeId,
    /// The link that it begins or ends at; `None` leaves that to routing.
    pub link: Option<LinkId>,
    /// What using it costs; cheaper pipes are used first.
    pub cost: u8,
    /// Its congestion control; the flow's when `None`.
    pub congestion: Option<Congestion>,
    /// When it opens.
    pub opens: Duration,
    /// When nothing more is asked for; what is under way still arrives.
    pub closes: Option<Duration>,
    /// When its interface is gone.
    pub drops: Option<Duration>,
}

impl Pipe {
    /// A pipe to `server` that routing leads, from the start to the end.
    pub fn new(name: &str, server: NodeId) -> Self {
        let (name, opens) = (name.into(), Duration::ZERO);
        Self { name, server, link: None, cost: 0, congestion: None, opens, closes: None, drops: None }
    }
}

/// Settings of pTCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtcpSettings {
    /// When bytes are unbound from a pipe.
    pub reassignment: Reassignment,
    /// The pipe from which bytes were unbound may take them anew, as published.
    pub reassign_to_same_pipe: bool,
    /// Redundant striping: a copy for another pipe after a timeout.
    pub redundant: bool,
    /// A copy of each repair for a quicker pipe.
    pub opportunistic_retransmission: bool,
    /// Which pipe is asked first.
    pub resume_order: ResumeOrder,
    /// Coupled increase (RFC 6356).
    pub coupled: bool,
    /// Explicit loss notification.
    pub loss_notification: bool,
    /// Each end tells the addresses that it has on the flow's links, in lists of any lengths: one pipe for each of the
    /// opening end's, the other's in rotation. Without it a pipe for each link.
    pub address_lists: bool,
}

impl PtcpSettings {
    /// As published, with bytes unbound from a pipe whose TCP probes.
    pub const DEFAULT: Self = Self {
        reassignment: Reassignment::Probe,
        reassign_to_same_pipe: false,
        redundant: true,
        opportunistic_retransmission: true,
        resume_order: ResumeOrder::LeastRtt,
        coupled: false,
        loss_notification: false,
        address_lists: false,
    };

    /// As the protocol has them, with at most `pipes` pipes that follow `tcp`.
    pub fn config(&self, tcp: TcpConfig, pipes: u8) -> PtcpConfig {
        PtcpConfig {
            reassignment: self.reassignment,
            reassign_to_same_pipe: self.reassign_to_same_pipe,
            redundant_striping: self.redundant,
            opportunistic_retransmission: self.opportunistic_retransmission,
            resume_order: self.resume_order,
            coupled: self.coupled,
            loss_notification: self.loss_notification,
            ..PtcpConfig::new(tcp, pipes)
        }
    }
}

/// Settings of MPTCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MptcpSettings {
    /// Which subflow gets the next bytes.
    pub scheduler: Scheduler,
    /// How the subflows' congestion windows hang together; without coupling each has the flow's congestion control.
    pub coupling: Coupling,
    /// The segment that everybody waits for is repeated when the window is full.
    pub opportunistic_retransmission: bool,
    /// The subflow that held it halves its window.
    pub penalisation: bool,
    /// Send buffer, which bounds what is unacknowledged.
    pub send_buffer: ByteCount,
}

impl MptcpSettings {
    /// What Linux does.
    pub const DEFAULT: Self = Self {
        scheduler: Scheduler::Linux,
        coupling: Coupling::Off,
        opportunistic_retransmission: true,
        penalisation: true,
        send_buffer: ByteCount::new(64 << 20),
    };

    /// As the protocol has them, with subflows that follow `tcp`, whose window is the connection's.
    pub fn config(&self, tcp: TcpConfig) -> MptcpConfig {
        MptcpConfig {
            scheduler: self.scheduler,
            coupling: self.coupling,
            opportunistic_retransmission: self.opportunistic_retransmission,
            penalisation: self.penalisation,
            send_buffer: self.send_buffer,
            ..MptcpConfig::new(tcp)
        }
    }
}

/// Settings of an application that stripes over TCP connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripingSettings {
    /// Room for early records at the receiver.
    pub buffer: ByteCount,
    /// How often the true rates become known to a smart sender after the start; only then when `None`.
    pub estimate_every: Option<Duration>,
    /// Links with larger socket buffers.
    pub wide_links: Vec<LinkId>,
    /// Size of these; as the others when `None`.
    pub wide_window: Option<ByteCount>,
    /// Explicit loss notification on every connection.
    pub loss_notification: bool,
    /// What the connections are.
    pub over: StripedOver,
}

/// The connections of a striping application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripedOver {
    /// TCP, opened by the sending application.
    Tcp,
    /// RCP, opened by the receiving application.
    Rcp,
}

impl StripingSettings {
    /// TCP with a buffer of 64 kB, rates known at the start, all sockets alike.
    pub const DEFAULT: Self = Self {
        buffer: ByteCount::new(64_000),
        estimate_every: None,
        wide_links: Vec::new(),
        wide_window: None,
        loss_notification: false,
        over: StripedOver::Tcp,
    };

    /// Switches of the connections over [`Self::wide_links`], where the others have `tcp`.
    pub fn wide(&self, tcp: &TcpConfig) -> TcpConfig {
        TcpConfig {
            receive_buffer: self.wide_window.unwrap_or(tcp.receive_buffer),
            window_scaling: true,
            ..tcp.clone()
        }
    }
}
