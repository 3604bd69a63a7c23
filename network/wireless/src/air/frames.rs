//! Frames on the air, in places that are used again.
use crate::event::Miss;
use crate::mac::Frame;
use alloc::vec::Vec;
use prismux_units::Instant;

#[derive(Debug)]
struct OnAir<P> {
    frame: Frame<P>,
    /// The number of the kind of radio that sends it.
    kind: usize,
    /// The hosts at which its signal is strong enough to become a frame.
    hearers: Vec<u32>,
    /// On which channel its signal is, and until when; `None` before it begins and behind its end.
    signal: Option<(u8, Instant)>,
    /// What its signal was lost to at once at the host that it is for, where that is watched.
    miss: Option<Miss>,
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
    /// Adds a frame that a radio of this kind sends. Answers with its place.
    pub fn add(&mut self, frame: Frame<P>, kind: usize) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                let place = &mut self.places[slot as usize];
                (place.frame, place.kind) = (frame, kind);
                slot
            }
            None => {
                self.places.push(OnAir { frame, kind, hearers: Vec::new(), signal: None, miss: None });
                self.places.len() as u32 - 1
            }
        }
    }

    /// The frame, and the list of those who hear it, which must be given back.
    pub fn take(&mut self, slot: u32) -> Option<(Frame<P>, Vec<u32>)> {
        let place = self.places.get_mut(slot as usize)?;
        Some((place.frame, core::mem::take(&mut place.hearers)))
    }

    /// The frame.
    pub fn get(&self, slot: u32) -> Option<&Frame<P>> {
        Some(&self.places.get(slot as usize)?.frame)
    }

    /// The frame, the kind of its sender's radio, and the list of those who hear it, as [`Frames::begin`] is to know
    /// it.
    pub fn get_mut(&mut self, slot: u32) -> Option<(&Frame<P>, usize, &mut Vec<u32>)> {
        let place = self.places.get_mut(slot as usize)?;
        Some((&place.frame, place.kind, &mut place.hearers))
    }

    /// The frame has begun: on which channel it is, until when, and what its signal was lost to at once at the host
    /// that it is for, where that is watched.
    pub fn begin(&mut self, slot: u32, signal: (u8, Instant), miss: Option<Miss>) {
        let place = &mut self.places[slot as usize];
        self.being_received += place.hearers.len() as u64;
        (place.signal, place.miss) = (Some(signal), miss);
    }

    /// What the signal was lost to at once, as it was said when the frame began.
    pub fn noted(&self, slot: u32) -> Option<Miss> {
        self.places[slot as usize].miss
    }

    /// The frames whose signals are on `channel`, with their places and ends.
    pub fn on_channel(&self, channel: u8) -> impl Iterator<Item = (u32, &Frame<P>, Instant)> {
        let heard = move |(slot, place): (u32, &'_ OnAir<P>)| match place.signal {
            Some((on, until)) if on == channel => Some((slot, until)),
            _ => None,
        };
        let places = (0..).zip(&self.places).filter_map(heard);
        places.map(|(slot, until)| (slot, &self.places[slot as usize].frame, until))
    }

    /// Forgets a frame.
    pub fn remove(&mut self, slot: u32, mut hearers: Vec<u32>) {
        self.being_received -= hearers.len() as u64;
        hearers.clear();
        let place = &mut self.places[slot as usize];
        (place.hearers, place.signal) = (hearers, None);
        self.free.push(slot);
    }

    pub fn being_received(&self) -> u64 {
        self.being_received
    }
}
