//! Lists of events whose memory goes from hand to hand.
//!
//! What one list gives back is the first that another takes: few pending events keep to few lines of the near cache,
//! however many slots they pass through.
use super::Event;

/// A list of events in order of insertion, by the number of its memory; it has none while it is empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct List(u32);

impl List {
    pub const EMPTY: Self = Self(u32::MAX);
}

/// The memory of all lists.
#[derive(Debug)]
pub(super) struct Lists<T> {
    all: Vec<Vec<Event<T>>>,
    /// The numbers of those that no list has, the last one used last.
    free: Vec<u32>,
}

impl<T> Lists<T> {
    pub const fn new() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }

    /// How many events are in them.
    pub fn len(&self) -> usize {
        self.all.iter().map(Vec::len).sum()
    }

    /// How many events there is memory for.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.all.iter().map(Vec::capacity).sum()
    }

    /// Puts `event` at the end of `list`.
    #[inline(always)] // Called at two places, with an event that is in registers.
    pub fn append(&mut self, list: &mut List, event: Event<T>) {
        if list.0 == List::EMPTY.0 {
            list.0 = self.free.pop().unwrap_or_else(|| self.make());
        }
        self.all[list.0 as usize].push(event);
    }

    /// Memory for one more list.
    #[cold]
    fn make(&mut self) -> u32 {
        self.all.push(Vec::new());
        self.all.len() as u32 - 1
    }

    /// Empties `list`: exchanges what it holds for `emptied`, whose memory is the next to be used.
    #[inline]
    pub fn exchange(&mut self, list: &mut List, emptied: &mut Vec<Event<T>>) {
        let number = std::mem::replace(list, List::EMPTY).0;
        if let Some(events) = self.all.get_mut(number as usize) {
            std::mem::swap(events, emptied);
            self.free.push(number);
        }
    }
}
