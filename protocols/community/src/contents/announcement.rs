//! What members tell each other, in network byte order:
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version 1 (upper 4 bits), type 7 (lower 4 bits): no datagram of `prismux serve` begins so |
//! | 1-3 | zero |
//! | 4-11 | the sender's run: a number that it has drawn at its start |
//! | 12-19 | the receiver's run, as the sender has heard it; zero before |
//! | 20-27 | number of the announcement, higher than the last |
//! | 28-59 | the key of the sender's server |
//! | 60-91 | root: the hash of the list of pieces |
//! | 92-95 | how many pieces there are |
//! | 96 | how many of them the sender takes from the origin, 8 at most |
//! | then | these, 4 bytes each, ascending |
//! | then | what the sender has: a bit for each piece, the first the highest |
//!
//! Whoever sends it puts a proof behind that it knows the community's secret.
use super::layout::MAX_PIECES;
use super::piece_set::PieceSet;
use alloc::vec::Vec;
use core::fmt;

/// The first byte of every announcement.
pub const ANNOUNCEMENT: u8 = 0x17;
/// Bytes of a member's key.
pub const KEY_BYTES: usize = 32;
/// Bytes of the root of a list of pieces.
pub const ROOT_BYTES: usize = 32;
/// Pieces that one member may claim at a time.
pub const MAX_CLAIMS: usize = 8;
/// Bytes of an announcement, at most.
pub const MAX_ANNOUNCEMENT_BYTES: usize = 97 + 4 * MAX_CLAIMS + MAX_PIECES as usize / 8;

/// What a member has, and what it takes from the origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The sender's run.
    pub run: u64,
    /// The receiver's run, as the sender has heard it; zero before. Who hears its own knows that the announcement is
    /// no old one.
    pub echo: u64,
    /// Higher than that of any earlier announcement of this run.
    pub number: u64,
    /// The key of the sender's server.
    pub key: [u8; KEY_BYTES],
    /// Of which file.
    pub root: [u8; ROOT_BYTES],
    /// What the sender takes from the origin, ascending, [`MAX_CLAIMS`] at most.
    pub claims: Vec<u32>,
    /// What the sender has.
    pub held: PieceSet,
}

/// Why bytes are no announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It begins otherwise.
    Kind,
    /// It is too short or too long for what it says.
    Length,
    /// It speaks of too many pieces, of none, or of some that do not exist.
    Pieces,
    /// It claims too many pieces, or not in their order.
    Claims,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "no announcement of this version",
            Self::Length => "too short or too long",
            Self::Pieces => "pieces that do not exist, none or too many",
            Self::Claims => "too many claims, or out of order",
        })
    }
}

impl core::error::Error for Malformed {}

fn number<const N: usize>(bytes: &[u8]) -> Result<(&[u8; N], &[u8]), Malformed> {
    bytes.split_first_chunk().ok_or(Malformed::Length)
}

impl Announcement {
    /// Reads an announcement.
    ///
    /// # Errors
    /// When it is none, or contradicts itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let (head, rest) = number::<4>(bytes)?;
        if *head != [ANNOUNCEMENT, 0, 0, 0] {
            return Err(Malformed::Kind);
        }
        let (run, rest) = number(rest)?;
        let (echo, rest) = number(rest)?;
        let (sequence, rest) = number(rest)?;
        let (key, rest) = number(rest)?;
        let (root, rest) = number(rest)?;
        let (count, rest) = number(rest)?;
        let (&[claimed], mut rest) = number::<1>(rest)?;
        let count = u32::from_be_bytes(*count);
        if count == 0 || count > MAX_PIECES {
            return Err(Malformed::Pieces);
        }
        if usize::from(claimed) > MAX_CLAIMS {
            return Err(Malformed::Claims);
        }
        let mut claims = Vec::new();
        for _ in 0..claimed {
            let (claim, behind) = number(rest)?;
            rest = behind;
            let claim = u32::from_be_bytes(*claim);
            if claim >= count || claims.last().is_some_and(|last| *last >= claim) {
                return Err(Malformed::Claims);
            }
            claims.push(claim);
        }
        if rest.len() != count.div_ceil(8) as usize {
            return Err(Malformed::Length);
        }
        Ok(Self {
            run: u64::from_be_bytes(*run),
            echo: u64::from_be_bytes(*echo),
            number: u64::from_be_bytes(*sequence),
            key: *key,
            root: *root,
            claims,
            held: PieceSet::from_bits(count, rest).ok_or(Malformed::Pieces)?,
        })
    }

    /// Appends the announcement to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[ANNOUNCEMENT, 0, 0, 0]);
        for value in [self.run, self.echo, self.number] {
            out.extend_from_slice(&value.to_be_bytes());
        }
        out.extend_from_slice(&self.key);
        out.extend_from_slice(&self.root);
        out.extend_from_slice(&self.held.count().to_be_bytes());
        let claims = self.claims.get(..MAX_CLAIMS).unwrap_or(&self.claims);
        out.push(claims.len() as u8);
        for claim in claims {
            out.extend_from_slice(&claim.to_be_bytes());
        }
        out.extend_from_slice(self.held.bits());
    }
}

#[cfg(test)]
mod tests;
