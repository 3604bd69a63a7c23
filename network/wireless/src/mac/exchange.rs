//! What a host is in the middle of: its own packet, the answer it waits for, the answer it owes.
use super::Outgoing;
use crate::HostId;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

/// The packet that a host tries to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current<P> {
    pub packet: Outgoing<P>,
    pub sequence: u16,
    pub short_retries: u8,
    pub long_retries: u8,
}

/// What a host that has sent waits for, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Nothing,
    Cts(Instant),
    Ack(Instant),
    /// The access point's next frame, which acknowledges what a polled host sent, or does not.
    CfAck(Instant),
    /// Nobody answers a broadcast, or a packet in a slot: its own end.
    End(Instant),
}

impl Waiting {
    #[inline]
    pub fn until(self) -> Instant {
        match self {
            Self::Nothing => Instant::MAX,
            Self::Cts(until) | Self::Ack(until) | Self::CfAck(until) | Self::End(until) => until,
        }
    }
}

/// What a host sends SIFS after it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// To an RTS, with the NAV and the rate of that RTS.
    Cts(HostId, Duration, Rate),
    /// To data, with its rate.
    Ack(HostId, Rate),
    /// To a CTS: the host's own packet.
    Data,
    /// To data that came together, with its rate.
    BlockAck(HostId, Rate),
    /// To a poll of an access point, and whether a packet came with it.
    Polled(HostId, bool),
    /// To itself: the next packet of what it sends together.
    Part(HostId),
}

/// The number of the latest data from each of the neighbours heard of last.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    latest: Vec<(HostId, u16)>,
}

/// Neighbours whose latest number is kept.
const MAX_SENDERS: usize = 64;

impl Duplicates {
    /// Whether `sequence` is the latest from `sender`; it is from now on.
    pub fn seen(&mut self, sender: HostId, sequence: u16) -> bool {
        match self.latest.iter().position(|(known, _)| *known == sender) {
            Some(0) => {}
            Some(at) => self.latest.swap(at, at - 1),
            None => {
                self.latest.truncate(MAX_SENDERS - 1);
                self.latest.push((sender, sequence));
                return false;
            }
        }
        let Some(entry) = self.latest.iter_mut().find(|(known, _)| *known == sender) else { return false };
        core::mem::replace(&mut entry.1, sequence) == sequence
    }
}
