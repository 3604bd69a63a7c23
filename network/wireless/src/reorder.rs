//! Several packets in one transmission: the receiver's side, which keeps their order.
//!
//! A packet whose predecessors are missing is held back. It is handed up when they come, or when the sender gives them
//! up: that the receiver learns at once stands for 802.11's BlockAckReq, whose airtime is left out.
use crate::HostId;
use alloc::collections::{BTreeMap, VecDeque};

/// A number that has not been handed up.
#[derive(Debug, Clone, Copy)]
enum Place<P> {
    Missing,
    /// The sender has given it up.
    Abandoned,
    Held(P),
}

/// Packets from one sender at one receiver.
#[derive(Debug)]
struct Window<P> {
    /// The number of the first place.
    first: u16,
    places: VecDeque<Place<P>>,
}

/// What has come to receivers, by receiver and sender.
#[derive(Debug)]
pub(crate) struct Reorder<P> {
    windows: BTreeMap<(HostId, HostId), Window<P>>,
}

impl<P: Copy> Window<P> {
    const fn new() -> Self {
        Self { first: 0, places: VecDeque::new() }
    }

    /// The place of a number; `None` for one that is done with.
    fn place(&mut self, sequence: u16) -> Option<&mut Place<P>> {
        let ahead = sequence.wrapping_sub(self.first);
        if ahead > u16::MAX / 2 {
            return None;
        }
        let index = usize::from(ahead);
        while self.places.len() <= index {
            self.places.push_back(Place::Missing);
        }
        self.places.get_mut(index)
    }

    /// Takes out the first place, if nothing is missing there: what was held in it, if anything.
    fn take_first(&mut self) -> Option<Option<P>> {
        let held = match self.places.front()? {
            Place::Missing => return None,
            Place::Abandoned => None,
            Place::Held(payload) => Some(*payload),
        };
        self.places.pop_front();
        self.first = self.first.wrapping_add(1);
        Some(held)
    }
}

impl<P: Copy> Reorder<P> {
    pub const fn new() -> Self {
        Self { windows: BTreeMap::new() }
    }

    fn window(&mut self, to: HostId, from: HostId) -> &mut Window<P> {
        self.windows.entry((to, from)).or_insert(Window::new())
    }

    /// A packet has come. Whether it is new.
    pub fn receive(&mut self, to: HostId, from: HostId, sequence: u16, payload: P) -> bool {
        match self.window(to, from).place(sequence) {
            Some(place @ Place::Missing) => {
                *place = Place::Held(payload);
                true
            }
            _ => false,
        }
    }

    /// The sender gives a packet up.
    pub fn abandon(&mut self, to: HostId, from: HostId, sequence: u16) {
        if let Some(place @ Place::Missing) = self.window(to, from).place(sequence) {
            *place = Place::Abandoned;
        }
    }

    /// The next packet in order that can be handed up.
    pub fn next(&mut self, to: HostId, from: HostId) -> Option<P> {
        let window = self.windows.get_mut(&(to, from))?;
        core::iter::from_fn(|| window.take_first()).flatten().next()
    }

    /// What a block acknowledgement says: all numbers before the first have been received, and those from it on whose
    /// bits are set.
    pub fn received(&mut self, to: HostId, from: HostId) -> (u16, u64) {
        let window = self.window(to, from);
        let held = |(index, place): (usize, &Place<P>)| u64::from(matches!(place, Place::Held(_))) << index;
        (window.first, window.places.iter().take(64).enumerate().map(held).sum())
    }

    /// A receiver is no more: what it holds back is lost.
    pub fn forget(&mut self, to: HostId) {
        let of_receiver = self.windows.range_mut((to, HostId(0))..=(to, HostId(u32::MAX)));
        for place in of_receiver.flat_map(|(_, window)| &mut window.places) {
            if let Place::Held(_) = place {
                *place = Place::Abandoned;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reorder;
    use crate::HostId;
    use alloc::vec::Vec;

    const TO: HostId = HostId(1);
    const FROM: HostId = HostId(0);

    fn handed_up(reorder: &mut Reorder<u32>) -> Vec<u32> {
        core::iter::from_fn(|| reorder.next(TO, FROM)).collect()
    }

    #[test]
    fn packets_wait_for_those_before_them_until_the_sender_gives_these_up() {
        let mut reorder = Reorder::new();
        assert!(reorder.receive(TO, FROM, 0, 100));
        assert!(reorder.receive(TO, FROM, 2, 102));
        assert!(reorder.receive(TO, FROM, 4, 104));
        assert!(!reorder.receive(TO, FROM, 2, 102), "it is held");
        assert_eq!(handed_up(&mut reorder), [100]);
        assert!(!reorder.receive(TO, FROM, 0, 100), "it was handed up");
        assert_eq!(reorder.received(TO, FROM), (1, 0b1010));
        assert!(reorder.receive(TO, FROM, 1, 101));
        assert_eq!(handed_up(&mut reorder), [101, 102]);
        reorder.abandon(TO, FROM, 3);
        assert_eq!(handed_up(&mut reorder), [104]);
        assert_eq!(reorder.received(TO, FROM), (5, 0));
    }

    #[test]
    fn numbers_wrap() {
        let mut reorder = Reorder::new();
        for sequence in 0..=u16::MAX {
            assert!(reorder.receive(TO, FROM, sequence, u32::from(sequence)));
            assert_eq!(reorder.next(TO, FROM), Some(u32::from(sequence)));
        }
        assert!(reorder.receive(TO, FROM, 0, 65_536));
        assert!(!reorder.receive(TO, FROM, u16::MAX, 0));
        assert_eq!(reorder.next(TO, FROM), Some(65_536));
    }

    #[test]
    fn what_a_receiver_without_power_holds_is_never_handed_up() {
        let mut reorder = Reorder::new();
        reorder.receive(TO, FROM, 1, 101);
        reorder.forget(TO);
        reorder.abandon(TO, FROM, 0);
        assert_eq!(handed_up(&mut reorder), [0_u32; 0]);
    }
}
