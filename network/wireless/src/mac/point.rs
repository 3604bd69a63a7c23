//! Contention-free periods (point coordination function, IEEE 802.11-1999, 9.3): an access point, the point
//! coordinator, takes the medium at fixed times, polls the stations on its list in turn, and gives the medium back.
use super::config::{BEACON_BYTES, CF_END_BYTES, MAX_FRAME_BYTES, Mac, NULL_BYTES};
use super::exchange::Current;
use crate::HostId;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// When contention-free periods are, the first at time zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollingConfig {
    /// From the beginning of one to that of the next.
    pub period: Duration,
    /// The longest that one lasts, from the time at which it was due (CFPMaxDuration).
    pub max_duration: Duration,
}

impl PollingConfig {
    /// What makes the periods impossible, if anything.
    pub(crate) fn fault(&self, mac: &Mac) -> Option<&'static str> {
        let sifs = mac.config.sifs;
        let longest = mac.longest_data() + sifs + mac.control(mac.config.data_rate).ack;
        let least = mac.pifs() + mac.beacon() + sifs + mac.null() + sifs + longest + sifs + mac.cf_end();
        let rules = [
            (
                self.max_duration >= least + mac.propagation_delay * 6,
                "a contention-free period must have room for a beacon, a poll, the longest packet and its end",
            ),
            (
                self.period >= self.max_duration + mac.difs + longest,
                "between contention-free periods there must be room for the longest packet",
            ),
            (self.period <= Duration::from_secs(60), "contention-free periods are over 60 s apart"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }
}

impl Mac {
    /// PCF interframe space.
    pub fn pifs(&self) -> Duration {
        self.config.sifs + self.config.slot
    }

    fn basic_airtime(&self, bytes: u32) -> Duration {
        self.config.modulation.airtime(bytes, self.config.basic_rate)
    }

    pub fn beacon(&self) -> Duration {
        self.basic_airtime(BEACON_BYTES)
    }

    pub fn cf_end(&self) -> Duration {
        self.basic_airtime(CF_END_BYTES)
    }

    /// A data frame without a packet: a poll, an acknowledgement, or a station's word that it has nothing.
    pub fn null(&self) -> Duration {
        self.basic_airtime(NULL_BYTES)
    }

    /// The longest that a polled station may send.
    pub fn longest_data(&self) -> Duration {
        self.config.modulation.airtime(MAX_FRAME_BYTES, self.config.data_rate)
    }
}

/// Contention-free periods, as one host knows them.
#[derive(Debug)]
pub(crate) struct Point<P> {
    /// When the next one is due.
    pub due: Instant,
    /// When the latest one must have ended.
    pub ends: Instant,
    pub coordinator: Option<Coordinator<P>>,
}

impl<P> Point<P> {
    pub const fn new() -> Self {
        Self { due: Instant::ZERO, ends: Instant::ZERO, coordinator: None }
    }
}

/// What the access point is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Contention,
    /// The beacon goes as soon as the medium has been idle for PIFS.
    Beacon,
    Polling,
}

/// The access point's part.
#[derive(Debug)]
pub(crate) struct Coordinator<P> {
    list: Vec<HostId>,
    /// Whose turn it is.
    next: usize,
    /// Polls in a row that moved no packet.
    pub idle_polls: usize,
    pub phase: Phase,
    /// When it sends next, unless somebody else is sending then.
    pub acts_at: Instant,
    pub polled: Option<HostId>,
    /// Whether the next frame acknowledges a packet.
    pub owes_ack: bool,
    /// Packets that went with a poll and are not acknowledged, one for each station at most.
    pending: Vec<Current<P>>,
    /// Whether one went with the latest poll.
    pub awaits_ack: bool,
}

impl<P: Copy> Coordinator<P> {
    pub const fn new(list: Vec<HostId>) -> Self {
        Self {
            list,
            next: 0,
            idle_polls: 0,
            phase: Phase::Contention,
            acts_at: Instant::ZERO,
            polled: None,
            owes_ack: false,
            pending: Vec::new(),
            awaits_ack: false,
        }
    }

    /// Whether nobody has anything to send, as far as polls tell.
    pub fn is_idle(&self) -> bool {
        self.idle_polls >= self.list.len()
    }

    /// The station whose turn it is.
    pub fn turn(&self) -> Option<HostId> {
        self.list.get(self.next).copied()
    }

    /// It is the next one's turn.
    pub fn advance(&mut self) {
        self.next = (self.next + 1) % self.list.len().max(1);
    }

    pub fn pending_packets(&self) -> usize {
        self.pending.len()
    }

    /// The packet for a station that is not acknowledged.
    pub fn pending_for(&self, station: HostId) -> Option<&Current<P>> {
        self.pending.iter().find(|pending| pending.packet.to == Some(station))
    }

    pub fn keep(&mut self, packet: Current<P>) {
        self.pending.push(packet);
    }

    /// The packet for a station was acknowledged or, if not, has gone `limit` times: it is done with.
    pub fn take_ended(&mut self, station: HostId, acknowledged: bool, limit: u8) -> Option<Current<P>> {
        let at = self.pending.iter().position(|pending| pending.packet.to == Some(station))?;
        let pending = self.pending.get_mut(at)?;
        if !acknowledged {
            pending.short_retries = pending.short_retries.saturating_add(1);
            if pending.short_retries < limit {
                return None;
            }
        }
        Some(self.pending.swap_remove(at))
    }

    /// All packets that are not acknowledged.
    pub fn take_all(&mut self) -> Vec<Current<P>> {
        core::mem::take(&mut self.pending)
    }
}
