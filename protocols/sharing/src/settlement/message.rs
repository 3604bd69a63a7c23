//! What lender and borrower say to each other, as bytes. Integers are big-endian.
//!
//! A kind (1 byte), the key that the sender's signatures are verified with (32), the day as days since 1970 (4), the
//! sequence (8), bytes towards the receivers and from them (8 each), and behind all but a claim a signature (64).
use crate::calendar::Day;
use crate::ledger::Carried;
use crate::statement::{KEY_BYTES, SIGNATURE_BYTES, SignatureBytes};
use alloc::vec::Vec;
use core::fmt;

const CLAIM: u8 = 1;
const PROPOSAL: u8 = 2;
const CONFIRMATION: u8 = 3;

/// Bytes of the longest message.
pub const MAX_MESSAGE_BYTES: usize = 1 + KEY_BYTES + 4 + 3 * 8 + SIGNATURE_BYTES;

/// What the lender has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// What the lender's signatures are verified with.
    pub verifying: [u8; KEY_BYTES],
    /// The day, by the lender's calendar.
    pub day: Day,
    /// The least sequence that a proposal may have.
    pub sequence: u64,
    /// What came to the lender, and what it sent, on this day so far.
    pub carried: Carried,
}

/// What one end signs of a day: the borrower in a proposal, and then the lender in the confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedCount {
    /// What the sender's signatures are verified with.
    pub verifying: [u8; KEY_BYTES],
    /// The day of the claim.
    pub day: Day,
    /// Of the statement.
    pub sequence: u64,
    /// At least so much was carried.
    pub carried: Carried,
    /// The sender's signature of the statement.
    pub signature: SignatureBytes,
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Lender to borrower.
    Claim(Claim),
    /// Borrower to lender.
    Proposal(SignedCount),
    /// Lender to borrower.
    Confirmation(SignedCount),
}

/// What is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMessage;

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no message of lender and borrower")
    }
}

impl core::error::Error for NoMessage {}

impl Message {
    /// The message as bytes, behind what is in `out` already.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (kind, verifying, day, sequence, carried, signature) = match self {
            Self::Claim(m) => (CLAIM, &m.verifying, m.day, m.sequence, m.carried, None),
            Self::Proposal(m) => (PROPOSAL, &m.verifying, m.day, m.sequence, m.carried, Some(&m.signature)),
            Self::Confirmation(m) => {
                (CONFIRMATION, &m.verifying, m.day, m.sequence, m.carried, Some(&m.signature))
            }
        };
        out.push(kind);
        out.extend_from_slice(verifying);
        out.extend_from_slice(&day.number().to_be_bytes());
        for number in [sequence, carried.forward_bytes, carried.return_bytes] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend(signature.into_iter().flatten());
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`NoMessage`]: too short, too long, of an unknown kind, or of no day.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoMessage> {
        let mut rest = bytes;
        let [kind] = take(&mut rest)?;
        let verifying = take(&mut rest)?;
        let day = Day::from_number(i32::from_be_bytes(take(&mut rest)?)).ok_or(NoMessage)?;
        let mut number = || take(&mut rest).map(u64::from_be_bytes);
        let sequence = number()?;
        let carried = Carried { forward_bytes: number()?, return_bytes: number()? };
        let message = match kind {
            CLAIM => Self::Claim(Claim { verifying, day, sequence, carried }),
            PROPOSAL | CONFIRMATION => {
                let signed = SignedCount { verifying, day, sequence, carried, signature: take(&mut rest)? };
                if kind == PROPOSAL { Self::Proposal(signed) } else { Self::Confirmation(signed) }
            }
            _ => return Err(NoMessage),
        };
        rest.is_empty().then_some(message).ok_or(NoMessage)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], NoMessage> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or(NoMessage)?;
    *rest = tail;
    Ok(*head)
}
