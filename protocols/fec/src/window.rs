//! The latest packets that came out of a tunnel, by number.
use alloc::vec::Vec;
use prismux_wire::SeqNumber;

/// Packets so far below the highest number are not kept: a block and its repairs, and room for what is out of order.
const WINDOW: usize = 256;
/// After so many old numbers in a row the highest is not believed any more: it was forged, or numbers began anew.
const MAX_OLD: u32 = 64;

/// A packet that came, or was recovered.
#[derive(Debug, Clone)]
pub(crate) struct Kept<P> {
    number: SeqNumber,
    pub packet: P,
    pub is_recovered: bool,
}

/// The latest packets.
#[derive(Debug)]
pub(crate) struct Window<P> {
    /// By number modulo the window; empty until a packet is kept.
    places: Vec<Option<Kept<P>>>,
    highest: Option<SeqNumber>,
    /// Numbers in a row that were too old.
    old: u32,
}

impl<P> Window<P> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), highest: None, old: 0 }
    }

    /// The packet with `number`, if it is kept.
    pub fn get(&self, number: SeqNumber) -> Option<&Kept<P>> {
        self.places.get(place(number))?.as_ref().filter(|kept| kept.number == number)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: SeqNumber) -> Option<&mut Kept<P>> {
        self.places.get_mut(place(number))?.as_mut().filter(|kept| kept.number == number)
    }

    /// Whether `number` is in the window, or above it.
    pub fn is_recent(&mut self, number: SeqNumber) -> bool {
        let is_recent = self.highest.is_none_or(|highest| highest.distance_from(number) < WINDOW as i32);
        self.old = if is_recent { 0 } else { self.old + 1 };
        if self.old > MAX_OLD {
            self.highest = None;
        }
        is_recent
    }

    /// Keeps a packet, in place of one that is a window older.
    pub fn keep(&mut self, number: SeqNumber, packet: P, is_recovered: bool) {
        if self.places.is_empty() {
            self.places.resize_with(WINDOW, || None);
        }
        if let Some(kept) = self.places.get_mut(place(number)) {
            *kept = Some(Kept { number, packet, is_recovered });
        }
        if self.highest.is_none_or(|highest| number.distance_from(highest) > 0) {
            self.highest = Some(number);
        }
    }
}

/// Where a number is kept.
const fn place(number: SeqNumber) -> usize {
    number.0 as usize % WINDOW
}
