//! Numbers of 32 bits as positions that never wrap around.
use prismux_wire::SeqNumber;

/// A packet's number is at most so far from the highest seen: a jump must be confirmed by a second packet.
const MAX_JUMP: u64 = 1 << 16;

/// Unwraps the numbers of arriving packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    highest: Option<u64>,
    /// A number far above the others that came last: the next one may confirm it.
    suspect: Option<u64>,
}

impl Numbering {
    /// Positions begin here, so that none is below zero.
    const ORIGIN: u64 = 1 << 32;

    /// The position of `number`, or `None` when it is too far from all that came before. Two packets in a row that
    /// are near each other are believed.
    pub fn unwrap(&mut self, number: SeqNumber) -> Option<u64> {
        let Some(highest) = self.highest else {
            let position = Self::ORIGIN + u64::from(number.0);
            self.highest = Some(position);
            return Some(position);
        };
        let position = number.unwrap_near(SeqNumber(0), highest)?;
        if position > highest.saturating_add(MAX_JUMP) {
            let confirmed = self.suspect.is_some_and(|suspect| position.abs_diff(suspect) <= MAX_JUMP);
            self.suspect = Some(position);
            if !confirmed {
                return None;
            }
        }
        self.highest = Some(highest.max(position));
        Some(position)
    }

    /// The number on the wire of a position.
    pub const fn wire(position: u64) -> SeqNumber {
        SeqNumber(position as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around_and_jumps_must_be_confirmed() {
        let mut numbering = Numbering::default();
        let first = numbering.unwrap(SeqNumber(u32::MAX)).unwrap();
        assert_eq!(numbering.unwrap(SeqNumber(0)), Some(first + 1));
        assert_eq!(numbering.unwrap(SeqNumber(u32::MAX - 5)), Some(first - 5));
        assert_eq!(numbering.unwrap(SeqNumber(1_000_000)), None);
        assert_eq!(numbering.unwrap(SeqNumber(2_000_000_000)), None);
        assert_eq!(numbering.unwrap(SeqNumber(2_000_000_003)), Some(first + 2_000_000_004));
        assert_eq!(Numbering::wire(first + 7), SeqNumber(6));
    }
}
