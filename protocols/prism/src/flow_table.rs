//! Flows by key: a hash table of small numbers into a slab, so that timers and iteration use the numbers.
use crate::flow::Flow;
use alloc::vec::Vec;
use core::cell::Cell;
use core::net::IpAddr;
use hashbrown::HashTable;
use prismux_units::Instant;
use prismux_wire::FlowKey;

/// Flows by key and by number.
#[derive(Debug)]
pub(crate) struct FlowTable<P> {
    index: HashTable<u32>,
    slots: Vec<Option<Flow<P>>>,
    free: Vec<u32>,
    seed: u64,
    /// The flow found last: packets of a flow come in bursts.
    last: Cell<u32>,
}

impl<P: Clone> FlowTable<P> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { index: HashTable::new(), slots: Vec::new(), free: Vec::new(), seed, last: Cell::new(0) }
    }

    /// Number of flows.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The number of the flow with this key.
    pub(crate) fn find(&self, key: &FlowKey) -> Option<u32> {
        let slots = &self.slots;
        let flow = |number: u32| slots.get(number as usize).and_then(Option::as_ref);
        let matches = |&number: &u32| flow(number).is_some_and(|flow| flow.key == *key);
        if !matches(&self.last.get()) {
            self.last.set(self.index.find(hash(key, self.seed), matches).copied()?);
        }
        Some(self.last.get())
    }

    /// Adds a flow; its key must be new.
    #[expect(clippy::indexing_slicing, reason = "free numbers and those in the index are places of the list")]
    pub(crate) fn insert(&mut self, now: Instant, key: FlowKey) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            if self.slots.len() == self.slots.capacity() {
                self.slots.reserve_exact((self.slots.len() / 8).max(16));
            }
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[number as usize] = Some(Flow::new(now, key, number));
        let (slots, seed) = (&self.slots, self.seed);
        self.index.insert_unique(hash(&key, seed), number, |&other| {
            slots[other as usize].as_ref().map_or(0, |flow| hash(&flow.key, seed))
        });
        number
    }

    /// The flow with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Flow<P>> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// The flow with this number, to change.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Flow<P>> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// All flows, by rising number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Flow<P>> {
        self.slots.iter().flatten()
    }

    /// All flows, by rising number, to change.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow<P>> {
        self.slots.iter_mut().flatten()
    }

    /// Takes a flow out.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Flow<P>> {
        let flow = self.slots.get_mut(number as usize)?.take()?;
        if let Ok(entry) = self.index.find_entry(hash(&flow.key, self.seed), |&other| other == number) {
            entry.remove();
        }
        self.free.push(number);
        Some(flow)
    }

    /// Numbers of all flows, rising.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + use<'_, P> {
        self.slots.iter().enumerate().filter_map(|(number, slot)| slot.as_ref().map(|_| number as u32))
    }

    /// Bytes of memory, packets that are held apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        let unused = self.slots.capacity() - self.index.len();
        let flows: usize = self.slots.iter().flatten().map(Flow::memory_bytes).sum();
        flows + unused * size_of::<Option<Flow<P>>>() + self.index.capacity() * 5 + self.free.capacity() * 4
    }
}

/// A keyed hash of a flow (folded multiplication): the seed keeps outsiders from choosing flows that collide.
pub(crate) fn hash(key: &FlowKey, seed: u64) -> u64 {
    let ports =
        u64::from(key.source_port) << 32 | u64::from(key.destination_port) << 16 | u64::from(key.protocol);
    let mut state = fold(seed ^ 0x9E37_79B9_7F4A_7C15, ports ^ 0x2545_F491_4F6C_DD1D);
    for address in [key.source, key.destination] {
        state = match address {
            IpAddr::V4(v4) => fold(state ^ u64::from(v4.to_bits()), 0xA076_1D64_78BD_642F),
            IpAddr::V6(v6) => {
                let bits = v6.to_bits();
                fold(
                    fold(state ^ bits as u64, 0xE703_7ED1_A0B4_28DB) ^ (bits >> 64) as u64,
                    0x8EBC_6AF0_9C88_C6E3,
                )
            }
        };
    }
    state
}

/// Both halves of the product of `a` and `b`, folded into one.
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}
