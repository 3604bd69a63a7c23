//! The states of RFC 9293 section 3.3.2 (LISTEN belongs to [`Listener`](crate::Listener)).
use core::fmt;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// We sent SYN and wait for the peer's.
    SynSent,
    /// Both SYNs are out; ours is not acknowledged yet.
    SynReceived,
    /// Data flows in both directions.
    Established,
    /// We closed; our FIN is not acknowledged, the peer's has not come.
    FinWait1,
    /// Our FIN is acknowledged; the peer may go on sending.
    FinWait2,
    /// The peer closed; we may go on sending.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed, then we; our FIN is not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; old segments may still be under way.
    TimeWait,
    /// No connection.
    Closed,
}

impl State {
    /// The application may still hand over data to send.
    pub const fn can_send(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived | Self::Established | Self::CloseWait)
    }

    /// The peer's FIN has not arrived: data may still come.
    pub const fn can_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Data (or FIN) may be on the wire or waiting to be sent.
    pub(crate) const fn may_transmit_data(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }

    /// The name in the RFC.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
