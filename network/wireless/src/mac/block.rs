//! Several packets for one neighbour in one transmission (A-MPDU with block acknowledgement, IEEE 802.11-2012, 8.6.1,
//! 9.12 and 9.21): the sender's side.
//!
//! Each packet is a frame of its own in it, lost or received alone. The block acknowledgement says which have come; the
//! others go again, with new ones behind them. A packet that is acknowledged stays the sender's until those before it
//! are done with, since the receiver may still hold it back to keep the order.
use super::Outgoing;
use super::config::{Aggregation, Mac};
use crate::HostId;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use prismux_units::{Duration, Rate};

/// A packet in a block.
#[derive(Debug, Clone, Copy)]
struct Member<P> {
    packet: Outgoing<P>,
    sequence: u16,
    retries: u8,
    acknowledged: bool,
}

/// The packets that a host sends together.
#[derive(Debug)]
pub(crate) struct Block<P> {
    /// In order of their numbers, which follow one another.
    members: VecDeque<Member<P>>,
    /// Members of the transmission under way that have begun.
    begun: usize,
    /// The number of the next packet for each neighbour.
    next: BTreeMap<HostId, u16>,
}

/// What has become of a packet in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End<P> {
    Acknowledged(Outgoing<P>),
    /// With its number.
    GivenUp(Outgoing<P>, u16),
}

/// A member of a transmission, and when it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<P> {
    pub packet: Outgoing<P>,
    pub sequence: u16,
    pub airtime: Duration,
    /// How long the members behind it take together.
    pub remaining: Duration,
    pub is_first: bool,
}

impl<P: Copy> Block<P> {
    pub const fn new() -> Self {
        Self { members: VecDeque::new(), begun: 0, next: BTreeMap::new() }
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn waiting(&self) -> impl Iterator<Item = &Member<P>> {
        self.members.iter().filter(|member| !member.acknowledged)
    }

    /// The first packet that is not acknowledged.
    pub fn head(&self) -> Option<Outgoing<P>> {
        self.waiting().next().map(|member| member.packet)
    }

    /// Bytes of all that is to be sent, headers included.
    pub fn frame_bytes(&self, mac: &Mac) -> u32 {
        self.waiting().map(|member| subframe_bytes(&member.packet, mac)).sum()
    }

    /// How long all that is to be sent is on the air.
    pub fn airtime(&self, rate: Rate, mac: &Mac) -> Duration {
        mac.config.modulation.airtime(self.frame_bytes(mac), rate)
    }

    /// Whether there is room for another packet.
    pub fn has_room_for(&self, packet: &Outgoing<P>, rate: Rate, mac: &Mac, limits: &Aggregation) -> bool {
        let bytes = self.frame_bytes(mac).saturating_add(subframe_bytes(packet, mac));
        let airtime = mac.config.modulation.airtime(bytes, rate);
        let fits = bytes <= limits.max_bytes && airtime <= limits.max_airtime;
        self.is_empty() || self.members.len() < usize::from(limits.max_packets) && fits
    }

    /// Adds a packet for the neighbour that the others are for. Answers with its number.
    pub fn push(&mut self, to: HostId, packet: Outgoing<P>) -> u16 {
        let next = self.next.entry(to).or_insert(0);
        let sequence = *next;
        *next = next.wrapping_add(1);
        self.members.push_back(Member { packet, sequence, retries: 0, acknowledged: false });
        sequence
    }

    /// A transmission begins.
    pub fn begin(&mut self) {
        self.begun = 0;
    }

    /// The next member of the transmission under way.
    pub fn next_part(&mut self, rate: Rate, mac: &Mac) -> Option<Part<P>> {
        let (packet, sequence) = {
            let member = self.waiting().nth(self.begun)?;
            (member.packet, member.sequence)
        };
        let until = |count: usize| {
            let bytes = self.waiting().take(count).map(|member| subframe_bytes(&member.packet, mac)).sum();
            mac.config.modulation.airtime(bytes, rate)
        };
        let (whole, behind, is_first) = (self.airtime(rate, mac), until(self.begun + 1), self.begun == 0);
        let before = if is_first { Duration::ZERO } else { until(self.begun) };
        self.begun += 1;
        Some(Part { packet, sequence, airtime: behind - before, remaining: whole - behind, is_first })
    }

    /// Whether a member of the transmission under way has not begun.
    pub fn has_next_part(&self) -> bool {
        self.waiting().nth(self.begun).is_some()
    }

    /// A block acknowledgement has come: all numbers before `first` have been received, and those from there on whose
    /// bits are set.
    pub fn acknowledge(&mut self, first: u16, bitmap: u64) {
        for member in &mut self.members {
            let ahead = member.sequence.wrapping_sub(first);
            let is_before = ahead > u16::MAX / 2;
            member.acknowledged |= is_before || bitmap.checked_shr(u32::from(ahead)).unwrap_or(0) & 1 == 1;
        }
    }

    /// An attempt at all that is not acknowledged has failed.
    pub fn count_attempt(&mut self) {
        for member in self.members.iter_mut().filter(|member| !member.acknowledged) {
            member.retries = member.retries.saturating_add(1);
        }
    }

    /// No more attempts.
    pub fn give_up(&mut self) {
        for member in &mut self.members {
            member.retries = u8::MAX;
        }
    }

    /// Takes out what is done with: members that were tried `limit` times, and acknowledged ones with nothing before
    /// them.
    pub fn take_ended(&mut self, limit: u8) -> Vec<End<P>> {
        let mut ended = Vec::new();
        // Given up first: the receiver then holds nothing back any more when the sender gets packets back.
        self.members.retain(|member| {
            let given_up = !member.acknowledged && member.retries >= limit;
            if given_up {
                ended.push(End::GivenUp(member.packet, member.sequence));
            }
            !given_up
        });
        while let Some(first) = self.members.front().filter(|member| member.acknowledged) {
            ended.push(End::Acknowledged(first.packet));
            self.members.pop_front();
        }
        ended
    }
}

/// Bytes of a packet in an aggregate: header, checksum, delimiter, padded to four.
fn subframe_bytes<P>(packet: &Outgoing<P>, mac: &Mac) -> u32 {
    const DELIMITER_BYTES: u32 = 4;
    mac.frame_bytes(packet.bytes).saturating_add(DELIMITER_BYTES).next_multiple_of(4)
}
