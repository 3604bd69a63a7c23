//! What an air tells the hosts on it.
use crate::HostId;
use crate::mac::Frame;
use alloc::collections::VecDeque;
use prismux_units::Instant;

/// Something that has happened at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AirEvent<P> {
    /// A packet has come for the host, or for all.
    Received {
        /// The host.
        host: HostId,
        /// The neighbour who sent it.
        from: HostId,
        /// Whether it was for all.
        broadcast: bool,
        /// The packet: the sender's still, and to be copied.
        payload: P,
    },
    /// A packet for somebody else has passed a host that listens to all.
    Overheard {
        /// The host.
        host: HostId,
        /// The neighbour who sent it.
        from: HostId,
        /// Whom it is for.
        to: HostId,
        /// The packet: the sender's still.
        payload: P,
    },
    /// A packet has been acknowledged by the neighbour, or was a broadcast. The sender has it back.
    Sent {
        /// The sender.
        host: HostId,
        /// The neighbour; `None` for a broadcast.
        to: Option<HostId>,
        /// The packet.
        payload: P,
    },
    /// A neighbour has not answered the last attempt. The sender has the packet back.
    Failed {
        /// The sender.
        host: HostId,
        /// The neighbour.
        next_hop: HostId,
        /// The packet.
        payload: P,
    },
    /// The host's battery is empty: the packet, which waited, is not sent any more. The sender has it back.
    PoweredOff {
        /// The sender.
        host: HostId,
        /// The packet.
        payload: P,
    },
    /// A frame begins (only on an air that reports its frames).
    OnAir {
        /// When its sender begins.
        at: Instant,
        /// The frame.
        frame: Frame<P>,
    },
}

/// Events that nobody has taken yet.
pub(crate) type Events<P> = VecDeque<AirEvent<P>>;
