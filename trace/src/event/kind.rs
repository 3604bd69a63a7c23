//! What kinds of events are to people.
use super::vocabulary::EventKind;
use std::fmt;

impl EventKind {
    /// True for events that come with single packets, frames or steps: thousands in a second, for logs of runs and not
    /// for people.
    pub const fn is_of_a_packet(self) -> bool {
        matches!(
            self,
            Self::PacketSent
                | Self::PacketDelivered
                | Self::PacketDropped
                | Self::PacketScheduled
                | Self::AckReleased
                | Self::HeldChanged
                | Self::LossDetected
                | Self::PacketRepaired
                | Self::WindowChanged
                | Self::FrameSent
                | Self::FrameLost
                | Self::PacketOriginated
                | Self::PacketQueued
                | Self::PacketArrived
                | Self::HostMoved
        )
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
