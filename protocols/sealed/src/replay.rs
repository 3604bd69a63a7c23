//! Nothing is accepted twice: a window over the numbers of what arrived (as RFC 6479 does it, without shifting).

/// How far numbers may lag behind the highest and still be told apart.
pub const WINDOW: u64 = (WORDS as u64 - 1) * BITS;

const WORDS: usize = 32;
const BITS: u64 = 64;

/// The numbers that have been seen.
#[derive(Debug, Clone)]
pub struct ReplayWindow {
    /// One more than the highest.
    next: u64,
    seen: [u64; WORDS],
}

impl ReplayWindow {
    /// Nothing has been seen.
    pub const fn new() -> Self {
        Self { next: 0, seen: [0; WORDS] }
    }

    /// One more than the highest number that has been accepted.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Whether `number` could be new. To be asked first, because opening what is sealed costs more.
    pub fn may_accept(&self, number: u64) -> bool {
        if number >= self.next {
            return number != u64::MAX;
        }
        let too_old = self.next - number > WINDOW;
        !too_old && self.seen.get(word(number)).is_some_and(|word| word & bit(number) == 0)
    }

    /// Notes `number`, which has proved authentic; false if it had been seen or is too old.
    pub fn accept(&mut self, number: u64) -> bool {
        if !self.may_accept(number) {
            return false;
        }
        if number >= self.next {
            let (from, to) = (self.next.div_ceil(BITS), number / BITS);
            // Words between the old highest and the new are for numbers not seen yet.
            for cleared in (from..=to).take(WORDS) {
                self.note(cleared * BITS, |_| 0);
            }
            self.next = number + 1;
        }
        self.note(number, |word| word | bit(number));
        true
    }

    /// Changes the word in which `number` stands.
    fn note(&mut self, number: u64, change: impl FnOnce(u64) -> u64) {
        if let Some(word) = self.seen.get_mut(word(number)) {
            *word = change(*word);
        }
    }
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self::new()
    }
}

fn word(number: u64) -> usize {
    (number / BITS % WORDS as u64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % BITS)
}

#[cfg(test)]
mod tests;
