//! What happened to links and packets, for traces and for people.
use crate::ids::LinkId;
use alloc::collections::VecDeque;

/// The newest events that are kept for a host that does not ask.
const MAX_KEPT: usize = 64;

/// Something that a person who watches the proxy wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyEvent {
    /// The link takes no new data from now on.
    LinkStandby {
        /// The link.
        link: LinkId,
        /// Why, for people.
        reason: &'static str,
    },
    /// The link takes new data again.
    LinkResumed {
        /// The link.
        link: LinkId,
    },
    /// The link is believed dead: several packets in a row are overdue and none has arrived, or receipts stay away. It
    /// is probed.
    LinkSilent {
        /// The link.
        link: LinkId,
    },
    /// A packet was declared lost.
    PacketLost {
        /// The link that it was sent over last.
        link: LinkId,
        /// By its age; otherwise later packets of the same link have arrived.
        by_age: bool,
    },
    /// A packet that the proxy itself had resent has arrived.
    PacketRepaired {
        /// The link that brought it.
        link: LinkId,
    },
}

impl ProxyEvent {
    const fn is_of_packet(&self) -> bool {
        matches!(self, Self::PacketLost { .. } | Self::PacketRepaired { .. })
    }

    /// The link that it is about.
    pub const fn link(&self) -> LinkId {
        match *self {
            Self::LinkStandby { link, .. }
            | Self::LinkResumed { link }
            | Self::LinkSilent { link }
            | Self::PacketLost { link, .. }
            | Self::PacketRepaired { link } => link,
        }
    }
}

/// The newest events, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<ProxyEvent>,
}

impl Events {
    /// Notes an event; the oldest gives way, of packets first: a link that falls silent loses many.
    pub(crate) fn note(&mut self, event: ProxyEvent) {
        if self.queue.len() >= MAX_KEPT {
            let oldest = self.queue.iter().position(ProxyEvent::is_of_packet).unwrap_or(0);
            self.queue.remove(oldest);
        }
        self.queue.push_back(event);
    }

    /// The oldest event that nobody has seen.
    pub(crate) fn take(&mut self) -> Option<ProxyEvent> {
        self.queue.pop_front()
    }
}
