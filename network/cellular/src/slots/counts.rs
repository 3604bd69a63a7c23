//! What a cell has done.
use super::CellConfig;
use crate::energy::PowerModel;
use crate::routes::Hop;
use alloc::vec;
use alloc::vec::Vec;

/// Counts of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Transmissions over peers' range that arrived at the next host.
    pub hops: u64,
    /// Transmissions over the range of the base station.
    pub direct: u64,
    /// Hosts that heard a transmission, addressed or not, the base station not counted.
    pub heard: u64,
    /// Transmissions to hosts that had moved away.
    pub lost: u64,
    /// Packets that a full queue refused.
    pub refused: u64,
    /// Slots that schedules gave to packets that were not there.
    pub wasted: u64,
    /// Slots in which a transmission was sent from or to where the base station hears it.
    pub busy_at_base: u64,
    /// Of each place.
    pub places: Vec<HostCounts>,
    pub(super) range_m: f64,
    last_busy: Option<u64>,
    hosts: usize,
    base_range_m: f64,
    power: PowerModel,
}

/// Counts of one place.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostCounts {
    /// Slots in which it sent packets of its own to a peer.
    pub sent: u64,
    /// Slots in which it sent packets of others to a peer.
    pub relayed: u64,
    /// Slots in which it sent to the base station directly; of the base station, to a host.
    pub direct: u64,
    /// Slots in which it heard a peer.
    pub heard: u64,
    /// Packets that it sent to a host which had moved away, or for which it had no way left.
    pub lost: u64,
    /// Packets that its full queue refused.
    pub refused: u64,
    /// Energy of its transmissions over peers' range, in watts times slots.
    peer_w_slots: f64,
}

impl Counts {
    pub(super) fn new(config: &CellConfig) -> Self {
        Self {
            hops: 0,
            direct: 0,
            heard: 0,
            lost: 0,
            refused: 0,
            wasted: 0,
            busy_at_base: 0,
            places: vec![HostCounts::default(); config.places()],
            range_m: 0.0,
            last_busy: None,
            hosts: config.hosts,
            base_range_m: config.base_range_m,
            power: config.power,
        }
    }

    /// A transmission between peers, which `hearers` hear.
    pub(super) fn peer_hop(&mut self, hop: Hop, hearers: &[usize], is_own: bool) {
        self.heard += hearers.len() as u64;
        for &hearer in hearers {
            self.places[hearer].heard += 1;
        }
        let sender = &mut self.places[hop.from];
        sender.sent += u64::from(is_own);
        sender.relayed += u64::from(!is_own);
        sender.peer_w_slots += self.power.send_w(self.range_m);
    }

    /// A transmission by a host to the base station, or by that; everybody hears it.
    pub(super) fn direct_hop(&mut self, from: usize) {
        self.direct += 1;
        self.heard += self.hosts as u64 - u64::from(from < self.hosts);
        self.places[from].direct += 1;
    }

    pub(super) fn lost(&mut self, at: usize) {
        self.lost += 1;
        self.places[at].lost += 1;
    }

    pub(super) fn refused(&mut self, at: usize) {
        self.refused += 1;
        self.places[at].refused += 1;
    }

    pub(super) fn channel_used_at_base(&mut self, slot: u64) {
        if self.last_busy.replace(slot) != Some(slot) {
            self.busy_at_base += 1;
        }
    }

    /// Transmissions by hosts: to peers, and to the base station directly.
    pub fn sent_by_hosts(&self) -> [u64; 2] {
        let hosts = || self.places.iter().take(self.hosts);
        [hosts().map(|host| host.sent + host.relayed).sum(), hosts().map(|host| host.direct).sum()]
    }

    /// Energy that a host has drawn, in watts times slots: sending over the range of peers or of the base station, and
    /// receiving whatever it heard.
    pub fn drawn_w_slots(&self, host: usize) -> f64 {
        let Some(own) = self.places.get(host) else { return 0.0 };
        let heard = own.heard + self.direct - own.direct;
        own.peer_w_slots
            + own.direct as f64 * self.power.send_w(self.base_range_m)
            + heard as f64 * self.power.receive_w
    }
}
