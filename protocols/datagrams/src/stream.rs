//! One stream at the far end: what has come, what waits, and what is missing.
use crate::order::{distance, next};
use alloc::vec::Vec;
use prismux_units::Instant;

/// Numbers up to this far around the next one belong to the same run of the near end.
const REACH: i32 = 1024;
/// Numbers whose coming is remembered.
const WINDOW: u32 = 2 * REACH as u32;
const WORDS: usize = WINDOW as usize / 64;

/// What a packet is to its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The one that was waited for.
    Next,
    /// There are some missing before it.
    Ahead,
    /// It was given up, and came after all.
    Late,
    /// It has come before.
    Repeated,
}

#[derive(Debug)]
struct Held<P> {
    number: u32,
    arrived_at: Instant,
    packet: P,
}

#[derive(Debug)]
pub(crate) struct Stream<P> {
    /// All before have come, or were given up.
    expected: u32,
    /// A bit for each number around `expected`: it has come.
    came: [u64; WORDS],
    /// In order of numbers.
    held: Vec<Held<P>>,
    /// The latest number of each link.
    latest: Vec<(u8, u32)>,
    /// When a packet was given up last.
    pub(crate) gave_up_at: Instant,
}

impl<P> Stream<P> {
    pub(crate) fn new(first: u32) -> Self {
        let came = [0; WORDS];
        Self { expected: first, came, held: Vec::new(), latest: Vec::new(), gave_up_at: Instant::ZERO }
    }

    /// Whether a number is of another run than what came so far.
    pub(crate) fn is_foreign(&self, number: u32) -> bool {
        !(-REACH..REACH).contains(&distance(number, self.expected))
    }

    /// Notes that `number` came over `link`.
    pub(crate) fn note(&mut self, link: u8, number: u32) -> Place {
        match self.latest.iter_mut().find(|(known, _)| *known == link) {
            Some((_, latest)) if distance(number, *latest) > 0 => *latest = number,
            Some(_) => {}
            None => self.latest.push((link, number)),
        }
        if self.has_come(number) {
            return Place::Repeated;
        }
        self.set(number, true);
        match distance(number, self.expected) {
            0 => Place::Next,
            ahead if ahead > 0 => Place::Ahead,
            _ => Place::Late,
        }
    }

    /// Keeps a packet that has some missing before it.
    pub(crate) fn hold(&mut self, now: Instant, number: u32, packet: P) {
        let ahead = |held: &Held<P>| distance(held.number, number) > 0;
        let place = self.held.iter().position(ahead).unwrap_or(self.held.len());
        self.held.insert(place, Held { number, arrived_at: now, packet });
    }

    /// How many packets wait.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Since when the first of them has.
    pub(crate) fn held_since(&self) -> Option<Instant> {
        self.held.iter().map(|held| held.arrived_at).min()
    }

    /// Lets go what no longer misses anything before it.
    pub(crate) fn advance(&mut self, mut pass: impl FnMut(P)) {
        while self.has_come(self.expected) {
            let number = self.expected;
            if self.held.first().is_some_and(|held| held.number == number) {
                pass(self.held.remove(0).packet);
            }
            self.expected = next(number);
            // Its place is that of the number at the far edge now.
            self.set(number.wrapping_add(REACH as u32), false);
        }
    }

    /// Gives up what is missing before the first packet that waits.
    pub(crate) fn give_up(&mut self, now: Instant, pass: impl FnMut(P)) -> u64 {
        let Some(first) = self.held.first().map(|held| held.number) else { return 0 };
        let mut missing = 0;
        while self.expected != first && !self.has_come(self.expected) {
            let number = self.expected;
            self.expected = next(number);
            self.set(number.wrapping_add(REACH as u32), false);
            missing += 1;
        }
        self.gave_up_at = now;
        self.advance(pass);
        missing
    }

    /// Whether all `links` have delivered something later than what is missing: links keep the order, so it is lost
    /// (RFC 1990 section 4.1).
    pub(crate) fn is_lost(&self, mut links: impl Iterator<Item = u8>) -> bool {
        let latest = |link: u8| self.latest.iter().find(|(known, _)| *known == link);
        links.all(|link| latest(link).is_some_and(|&(_, number)| distance(number, self.expected) > 0))
    }

    fn has_come(&self, number: u32) -> bool {
        let bit = number % WINDOW;
        self.came.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }

    fn set(&mut self, number: u32, has_come: bool) {
        let bit = number % WINDOW;
        if let Some(word) = self.came.get_mut(bit as usize / 64) {
            *word = *word & !(1 << (bit % 64)) | u64::from(has_come) << (bit % 64);
        }
    }
}
