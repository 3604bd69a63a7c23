//! Frames on the air, in places that are used again.
use crate::mac::Frame;
use alloc::vec::Vec;

#[derive(Debug)]
struct OnAir<P> {
    frame: Frame<P>,
    /// The hosts at which its signal is strong enough to become a frame.
    hearers: Vec<u32>,
}

/// All frames on the air.
#[derive(Debug)]
pub(crate) struct Frames<P> {
    places: Vec<OnAir<P>>,
    free: Vec<u32>,
    /// Signals that may still become a frame.
    being_received: u64,
}

impl<P> Default for Frames<P> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), being_received: 0 }
    }
}

impl<P: Copy> Frames<P> {
    /// Adds a frame. Answers with its place.
    pub fn add(&mut self, frame: Frame<P>) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.places[slot as usize].frame = frame;
                slot
            }
            None => {
                self.places.push(OnAir { frame, hearers: Vec::new() });
                self.places.len() as u32 - 1
            }
        }
    }

    /// The frame, and the list of those who hear it, which must be given back.
    pub fn take(&mut self, slot: u32) -> Option<(Frame<P>, Vec<u32>)> {
        let place = self.places.get_mut(slot as usize)?;
        Some((place.frame, core::mem::take(&mut place.hearers)))
    }

    pub fn give_back(&mut self, slot: u32, hearers: Vec<u32>) {
        self.being_received += hearers.len() as u64;
        self.places[slot as usize].hearers = hearers;
    }

    /// Forgets a frame.
    pub fn remove(&mut self, slot: u32, mut hearers: Vec<u32>) {
        self.being_received -= hearers.len() as u64;
        hearers.clear();
        self.places[slot as usize].hearers = hearers;
        self.free.push(slot);
    }

    pub fn being_received(&self) -> u64 {
        self.being_received
    }
}
