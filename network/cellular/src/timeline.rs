//! Which transmissions may share a slot, and the slots that are still free.
use crate::reach::Reach;
use crate::routes::Hop;
use alloc::vec;
use alloc::vec::Vec;

/// When two transmissions between four different hosts disturb one another. Hosts that take part in one transmission
/// never take part in another of the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictRule {
    /// When a receiver hears the other sender. Of the plausible rules the one that gives the spatial reuse that the
    /// thesis reports in figure 38(a).
    ReceiverSide,
    /// When either end hears either end of the other, as after RTS and CTS.
    BothEnds,
}

/// A set of slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SlotSet(Vec<u64>);

impl SlotSet {
    fn insert(&mut self, slot: usize) {
        if self.0.len() <= slot / 64 {
            self.0.resize(slot / 64 + 1, 0);
        }
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}

/// The first slot from `from` on that is in neither set.
fn first_in_neither(one: &SlotSet, other: &SlotSet, from: usize) -> usize {
    let mut index = from / 64;
    let mut free = !(one.word(index) | other.word(index)) & (u64::MAX << (from % 64));
    while free == 0 {
        index += 1;
        free = !(one.word(index) | other.word(index));
    }
    index * 64 + free.trailing_zeros() as usize
}

/// For every host the slots in which it can no longer send or no longer receive. Slots have no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    rule: ConflictRule,
    cannot_send: Vec<SlotSet>,
    cannot_receive: Vec<SlotSet>,
}

impl Timeline {
    /// Without transmissions, for hosts numbered below `hosts`.
    pub fn new(hosts: usize, rule: ConflictRule) -> Self {
        let none = vec![SlotSet::default(); hosts];
        Self { rule, cannot_send: none.clone(), cannot_receive: none }
    }

    /// The first slot from `from` on in which `hop` disturbs nothing and is not disturbed.
    pub fn first_free(&self, hop: Hop, from: usize) -> usize {
        first_in_neither(&self.cannot_send[hop.from], &self.cannot_receive[hop.to], from)
    }

    /// Whether `hop` may have `slot`.
    pub fn is_free(&self, hop: Hop, slot: usize) -> bool {
        self.first_free(hop, slot) == slot
    }

    /// Gives `slot` to `hop`.
    pub fn take(&mut self, reach: &Reach, hop: Hop, slot: usize) {
        for host in [hop.from, hop.to] {
            self.cannot_send[host].insert(slot);
            self.cannot_receive[host].insert(slot);
        }
        for &near_sender in reach.of(hop.from) {
            self.cannot_receive[near_sender].insert(slot);
            if self.rule == ConflictRule::BothEnds {
                self.cannot_send[near_sender].insert(slot);
            }
        }
        for &near_receiver in reach.of(hop.to) {
            self.cannot_send[near_receiver].insert(slot);
            if self.rule == ConflictRule::BothEnds {
                self.cannot_receive[near_receiver].insert(slot);
            }
        }
    }

    /// Takes all transmissions back.
    pub fn clear(&mut self) {
        self.cannot_send.iter_mut().chain(&mut self.cannot_receive).for_each(|set| set.0.clear());
    }

    /// The slots of consecutive hops of one packet, each the first free one behind its predecessor's. `None` when the
    /// first hop would have to wait until `first_before` or longer.
    pub fn first_fit(&self, hops: &[Hop], first_before: usize) -> Option<Vec<usize>> {
        let mut slots = Vec::with_capacity(hops.len());
        let mut from = 0;
        for &hop in hops {
            // Hops of one packet lie in different slots and cannot disturb one another.
            let slot = self.first_free(hop, from);
            if slots.is_empty() && slot >= first_before {
                return None;
            }
            slots.push(slot);
            from = slot + 1;
        }
        Some(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::{ConflictRule, Timeline};
    use crate::reach::Reach;
    use crate::routes::Hop;
    use alloc::vec::Vec;
    use prismux_wireless::Position;

    fn hop(from: usize, to: usize) -> Hop {
        Hop { from, to }
    }

    /// Six hosts in a row, 200 m apart; each hears its neighbours only.
    fn row() -> Reach {
        let places: Vec<Position> =
            (0..6).map(|host| Position { x_m: 200.0 * f64::from(host), y_m: 0.0 }).collect();
        Reach::new(&places, 250.0)
    }

    #[test]
    fn exposed_senders_share_a_slot_and_hidden_ones_do_not() {
        let mut timeline = Timeline::new(6, ConflictRule::ReceiverSide);
        timeline.take(&row(), hop(2, 1), 0);
        assert!(timeline.is_free(hop(3, 4), 0), "the senders hear one another, the receivers only their own");
        assert!(!timeline.is_free(hop(4, 3), 0), "3 hears 2");
        assert!(!timeline.is_free(hop(0, 1), 0), "1 is taken");
        assert!(!timeline.is_free(hop(0, 0), 0), "1 hears 0");
        let mut timeline = Timeline::new(6, ConflictRule::BothEnds);
        timeline.take(&row(), hop(2, 1), 0);
        assert!(!timeline.is_free(hop(3, 4), 0), "3 has heard the RTS of 2");
        assert!(timeline.is_free(hop(4, 5), 0));
    }

    #[test]
    fn a_packet_advances_one_slot_at_a_time() {
        let mut timeline = Timeline::new(6, ConflictRule::ReceiverSide);
        let hops = [hop(0, 1), hop(1, 2), hop(2, 3)];
        assert_eq!(timeline.first_fit(&hops, 1), Some([0, 1, 2].to_vec()));
        for (slot, hop) in hops.into_iter().enumerate() {
            timeline.take(&row(), hop, slot);
        }
        // 1 sends in slot 1, and in slot 2 the sender 2 would be heard by it.
        assert_eq!(timeline.first_fit(&hops, 10), Some([3, 4, 5].to_vec()));
        assert_eq!(timeline.first_fit(&hops, 3), None);
        timeline.clear();
        assert_eq!(timeline.first_fit(&hops, 1), Some([0, 1, 2].to_vec()));
    }

    #[test]
    fn slots_behind_the_first_64_are_kept_apart_too() {
        let mut timeline = Timeline::new(6, ConflictRule::ReceiverSide);
        for slot in 0..130 {
            timeline.take(&row(), hop(0, 1), slot);
        }
        assert_eq!(timeline.first_free(hop(1, 2), 0), 130);
        assert_eq!(timeline.first_free(hop(3, 4), 70), 70);
    }
}
