//! What an air tells the hosts on it.
use crate::HostId;
use crate::mac::{Frame, FrameKind};
use crate::reorder::Reorder;
use crate::resolution::{ArpMessage, Load};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use prismux_units::Instant;

/// Something that has happened at a host.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The address of a neighbour was not known in time: the packet, which waited for it, has made room for another.
    /// The sender has it back.
    Unresolved {
        /// The sender.
        host: HostId,
        /// The neighbour.
        next_hop: HostId,
        /// The packet.
        payload: P,
    },
    /// The interface queue has no room for a packet that waited for the address of its neighbour, or for one that it
    /// displaces. The sender has it back.
    Refused {
        /// The sender.
        host: HostId,
        /// The packet.
        payload: P,
    },
    /// A frame begins (only on an air that reports its frames).
    OnAir {
        /// When its sender begins.
        at: Instant,
        /// The frame, kept elsewhere: other events are far smaller.
        frame: Box<Frame<P>>,
        /// Of an RTS: the packet that it announces.
        announces: Option<P>,
    },
    /// A frame with data, or an RTS, was lost at the neighbour it is for, or not answered (only on an air that reports
    /// its frames).
    Missed {
        /// Which of both.
        kind: FrameKind,
        /// The sender.
        host: HostId,
        /// The neighbour.
        next_hop: HostId,
        /// Why.
        miss: Miss,
        /// The packet in it, or that which it announces.
        payload: P,
    },
}

impl<P: Copy> AirEvent<P> {
    /// The packet that it is about, unless a frame without one begins.
    pub fn payload(&self) -> Option<P> {
        match self {
            Self::Received { payload, .. }
            | Self::Overheard { payload, .. }
            | Self::Sent { payload, .. }
            | Self::Failed { payload, .. }
            | Self::PoweredOff { payload, .. }
            | Self::Unresolved { payload, .. }
            | Self::Refused { payload, .. }
            | Self::Missed { payload, .. } => Some(*payload),
            Self::OnAir { frame, .. } => frame.payload,
        }
    }
}

/// How a frame reaches several hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// It is for all: [`AirEvent::Received`].
    Broadcast,
    /// It is for another host: [`AirEvent::Overheard`].
    Overheard,
}

/// Why the packet of a frame has not come to the host that the frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Miss {
    /// The signal was below the carrier-sense threshold.
    Unheard,
    /// The signal was below the receive threshold, or noise damaged it.
    Weak,
    /// Another signal overlapped it.
    Collided,
    /// A much stronger frame was being received.
    Overpowered,
    /// The host was sending.
    WhileSending,
    /// The host's battery was empty.
    WithoutPower,
    /// The host left the channel.
    Tuning,
    /// The frame came, and found the host in no state to answer it.
    Refused,
}

impl Miss {
    /// The name in event logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unheard => "unheard",
            Self::Weak => "weak",
            Self::Collided => "collision",
            Self::Overpowered => "overpowered",
            Self::WhileSending => "receiver_sending",
            Self::WithoutPower => "no_power",
            Self::Tuning => "off_channel",
            Self::Refused => "refused",
        }
    }
}

impl<P> AirEvent<Load<P>> {
    /// The event of a packet; `None` for what happens to a message of address resolution, but that its frame begins.
    fn of_packet(self) -> Option<AirEvent<P>> {
        Some(match self {
            Self::Received { host, from, broadcast, payload } => {
                AirEvent::Received { host, from, broadcast, payload: payload.packet()? }
            }
            Self::Overheard { host, from, to, payload } => {
                AirEvent::Overheard { host, from, to, payload: payload.packet()? }
            }
            Self::Sent { host, to, payload } => AirEvent::Sent { host, to, payload: payload.packet()? },
            Self::Failed { host, next_hop, payload } => {
                AirEvent::Failed { host, next_hop, payload: payload.packet()? }
            }
            Self::PoweredOff { host, payload } => AirEvent::PoweredOff { host, payload: payload.packet()? },
            Self::Unresolved { host, next_hop, payload } => {
                AirEvent::Unresolved { host, next_hop, payload: payload.packet()? }
            }
            Self::Refused { host, payload } => AirEvent::Refused { host, payload: payload.packet()? },
            Self::OnAir { at, frame, announces } => AirEvent::OnAir {
                at,
                frame: Box::new(frame.opened()),
                announces: announces.and_then(Load::packet),
            },
            Self::Missed { kind, host, next_hop, miss, payload } => {
                AirEvent::Missed { kind, host, next_hop, miss, payload: payload.packet()? }
            }
        })
    }
}

impl<P> Events<Load<P>> {
    /// The next event of a packet, or of a frame.
    #[inline]
    pub fn pop_front(&mut self) -> Option<AirEvent<P>> {
        self.looked_through = 0;
        core::iter::from_fn(|| self.queue.pop_front()).find_map(AirEvent::of_packet)
    }

    /// Takes out the next event where it tells the same of `packet` at another host as `latest` has told.
    #[inline]
    pub fn pop_same(&mut self, latest: Hearing, packet: &P) -> Option<HostId>
    where
        P: PartialEq,
    {
        let host = match (self.queue.front()?, latest) {
            (AirEvent::Overheard { host, payload: Load::Packet(payload), .. }, Hearing::Overheard)
            | (
                AirEvent::Received { host, broadcast: true, payload: Load::Packet(payload), .. },
                Hearing::Broadcast,
            ) if payload == packet => *host,
            _ => return None,
        };
        self.queue.pop_front();
        Some(host)
    }

    /// Takes out the next message of address resolution that has come to a host.
    #[inline]
    pub fn pop_arp(&mut self) -> Option<(HostId, ArpMessage)> {
        while let Some(event) = self.queue.get(self.looked_through) {
            if let AirEvent::Received { host, payload: Load::Arp(message), .. } = *event {
                self.queue.remove(self.looked_through);
                return Some((host, message));
            }
            self.looked_through += 1;
        }
        None
    }
}

/// Events that nobody has taken yet, and packets that cannot be told of since others come before them.
#[derive(Debug)]
pub(crate) struct Events<P> {
    queue: VecDeque<AirEvent<P>>,
    /// How many of them have been looked through for messages of address resolution.
    looked_through: usize,
    reorder: Reorder<P>,
}

impl<P: Copy> Events<P> {
    pub const fn new() -> Self {
        Self { queue: VecDeque::new(), looked_through: 0, reorder: Reorder::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn push_back(&mut self, event: AirEvent<P>) {
        self.queue.push_back(event);
    }

    /// A packet of an aggregate has come. Whether it is new.
    pub fn receive_part(&mut self, to: HostId, from: HostId, sequence: u16, payload: P) -> bool {
        let is_new = self.reorder.receive(to, from, sequence, payload);
        self.hand_up(to, from);
        is_new
    }

    /// The sender gives a packet of an aggregate up.
    pub fn abandon(&mut self, to: HostId, from: HostId, sequence: u16) {
        self.reorder.abandon(to, from, sequence);
    }

    /// Tells of what has come and has nothing missing before it.
    pub fn hand_up(&mut self, host: HostId, from: HostId) {
        while let Some(payload) = self.reorder.next(host, from) {
            self.queue.push_back(AirEvent::Received { host, from, broadcast: false, payload });
        }
    }

    /// What a block acknowledgement of `to` says.
    pub fn received(&mut self, to: HostId, from: HostId) -> (u16, u64) {
        self.reorder.received(to, from)
    }

    /// A host is no more: what it holds back is lost.
    pub fn forget(&mut self, host: HostId) {
        self.reorder.forget(host);
    }
}
