//! Packets that the air knows by number, in places that are used again.

/// Places for packets of type `F`.
#[derive(Debug)]
pub(super) struct Frames<F> {
    places: Vec<Option<F>>,
    free: Vec<u32>,
}

impl<F> Default for Frames<F> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<F> Frames<F> {
    /// Puts a packet into a place of its own.
    pub fn put(&mut self, frame: F) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(frame);
                place
            }
            None => {
                self.places.push(Some(frame));
                self.places.len() as u32 - 1
            }
        }
    }

    /// The packet in a place.
    pub fn get(&self, place: u32) -> Option<&F> {
        self.places.get(place as usize)?.as_ref()
    }

    /// Empties a place.
    pub fn take(&mut self, place: u32) -> Option<F> {
        let frame = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(frame)
    }
}
