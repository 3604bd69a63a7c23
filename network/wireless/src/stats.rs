//! What a host's radio and MAC have done. Every signal and every packet is in exactly one of the counters of its end.
use alloc::vec::Vec;
use prismux_units::Duration;

/// Counters of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostStats {
    /// Signals that reached the receiver with power above the carrier-sense threshold.
    pub signals: u64,
    /// Signals that became a frame.
    pub frames_received: u64,
    /// Signals below the receive threshold, and packets of aggregates whose beginning was not heard.
    pub lost_weak: u64,
    /// Signals lost to others that overlapped.
    pub lost_collided: u64,
    /// Signals lost to a much stronger frame that was being received.
    pub lost_overpowered: u64,
    /// Signals lost because the host was sending.
    pub lost_while_sending: u64,
    /// Signals lost because the host's battery was empty.
    pub lost_without_power: u64,
    /// Signals lost because the host left their channel.
    pub lost_tuning: u64,

    /// RTS frames sent.
    pub rts_sent: u64,
    /// CTS frames sent.
    pub cts_sent: u64,
    /// Data frames sent to one neighbour, retries included.
    pub data_sent: u64,
    /// Data frames sent to all.
    pub broadcasts_sent: u64,
    /// ACK frames sent, of single packets and of blocks.
    pub acks_sent: u64,
    /// Frames sent that begin or end contention-free periods.
    pub beacons_sent: u64,
    /// Data frames sent without data: polls, acknowledgements, and that there is nothing to send.
    pub nulls_sent: u64,

    /// Packets handed to the MAC.
    pub packets_offered: u64,
    /// Packets that were acknowledged, or sent where nobody acknowledges: broadcasts, and all packets in slots.
    pub packets_sent: u64,
    /// Bytes of packets that were acknowledged, without MAC header.
    pub acknowledged_bytes: u64,
    /// Packets given up after the last attempt.
    pub packets_failed: u64,
    /// Packets that had no room in the interface queue.
    pub queue_drops: u64,
    /// Packets that fit into none of the host's slots.
    pub packets_without_slot: u64,
    /// Packets that the host took back.
    pub packets_withdrawn: u64,
    /// Packets lost because the host's battery was empty.
    pub packets_without_power: u64,
    /// Questions for the address of a neighbour.
    pub arp_requests: u64,
    /// Answers to such questions.
    pub arp_replies: u64,
    /// Packets that never came to the MAC: the address of their neighbour was not known in time.
    pub packets_unresolved: u64,
    /// Attempts without an answer.
    pub timeouts: u64,
    /// Steps to a faster rate.
    pub rates_raised: u64,
    /// Steps to a slower rate.
    pub rates_lowered: u64,
    /// Packets taken in.
    pub packets_received: u64,
    /// Data frames that had come before.
    pub duplicates: u64,
    /// Data frames that found the host in no state to answer, and were not taken in.
    pub data_refused: u64,

    /// Time spent sending.
    pub sending: Duration,
    /// Time spent hearing signals, own sending excepted.
    pub receiving: Duration,
    /// Time spent asleep.
    pub asleep: Duration,
    /// Energy drawn, in nanojoules, where that is counted.
    pub drawn_nj: u64,
    /// Energy left in the battery, in nanojoules; `None` for a host without one, and for a radio that draws on
    /// another's.
    pub battery_nj: Option<u64>,
}

impl core::ops::AddAssign for HostStats {
    /// Both together, as of the radios of one host.
    fn add_assign(&mut self, other: Self) {
        self.rts_sent += other.rts_sent;
        self.cts_sent += other.cts_sent;
        self.data_sent += other.data_sent;
        self.broadcasts_sent += other.broadcasts_sent;
        self.acks_sent += other.acks_sent;
        self.beacons_sent += other.beacons_sent;
        self.nulls_sent += other.nulls_sent;
        self.signals += other.signals;
        self.frames_received += other.frames_received;
        self.lost_weak += other.lost_weak;
        self.lost_collided += other.lost_collided;
        self.lost_overpowered += other.lost_overpowered;
        self.lost_while_sending += other.lost_while_sending;
        self.lost_without_power += other.lost_without_power;
        self.lost_tuning += other.lost_tuning;
        self.packets_offered += other.packets_offered;
        self.packets_sent += other.packets_sent;
        self.acknowledged_bytes += other.acknowledged_bytes;
        self.packets_failed += other.packets_failed;
        self.queue_drops += other.queue_drops;
        self.packets_without_slot += other.packets_without_slot;
        self.packets_withdrawn += other.packets_withdrawn;
        self.packets_without_power += other.packets_without_power;
        self.arp_requests += other.arp_requests;
        self.arp_replies += other.arp_replies;
        self.packets_unresolved += other.packets_unresolved;
        self.timeouts += other.timeouts;
        self.rates_raised += other.rates_raised;
        self.rates_lowered += other.rates_lowered;
        self.packets_received += other.packets_received;
        self.duplicates += other.duplicates;
        self.data_refused += other.data_refused;
        self.sending += other.sending;
        self.receiving += other.receiving;
        self.asleep += other.asleep;
        self.drawn_nj += other.drawn_nj;
        self.battery_nj = match (self.battery_nj, other.battery_nj) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
    }
}

impl HostStats {
    /// Frames sent.
    pub const fn frames_sent(&self) -> u64 {
        self.rts_sent
            + self.cts_sent
            + self.data_sent
            + self.broadcasts_sent
            + self.acks_sent
            + self.beacons_sent
            + self.nulls_sent
    }

    /// What results show of a host, under its names there; energy where `counts_energy`.
    pub fn columns(&self, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut columns = Vec::from([
            ("frames_sent", self.frames_sent()),
            ("frames_received", self.frames_received),
            ("frames_collided", self.lost_collided),
            ("packets_given_up", self.packets_failed),
            ("acknowledged_bytes", self.acknowledged_bytes),
        ]);
        if self.rates_raised + self.rates_lowered > 0 {
            columns.push(("rates_raised", self.rates_raised));
            columns.push(("rates_lowered", self.rates_lowered));
        }
        if self.arp_requests + self.arp_replies > 0 {
            columns.push(("arp_requests", self.arp_requests));
            columns.push(("arp_replies", self.arp_replies));
            columns.push(("packets_unresolved", self.packets_unresolved));
        }
        if self.packets_without_slot > 0 {
            columns.push(("packets_without_slot", self.packets_without_slot));
        }
        if counts_energy {
            columns.push(("energy_drawn_uj", self.drawn_nj / 1000));
            columns.push(("frames_lost_without_power", self.lost_without_power));
            columns.push(("packets_without_power", self.packets_without_power));
        }
        columns.extend(self.battery_nj.map(|left_nj| ("battery_left_uj", left_nj / 1000)));
        columns
    }

    /// Signals whose end is known: received, or lost by cause.
    pub const fn signals_ended(&self) -> u64 {
        self.frames_received
            + self.lost_weak
            + self.lost_collided
            + self.lost_overpowered
            + self.lost_while_sending
            + self.lost_without_power
            + self.lost_tuning
    }

    /// Packets whose end is known: sent, given up, or never taken.
    pub const fn packets_ended(&self) -> u64 {
        self.packets_sent
            + self.packets_failed
            + self.queue_drops
            + self.packets_without_slot
            + self.packets_withdrawn
            + self.packets_without_power
    }
}
