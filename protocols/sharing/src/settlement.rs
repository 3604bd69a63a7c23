//! How a lender and a borrower come to a statement that both have signed.
//!
//! ```text
//!   lender                                   borrower
//!     Claim: on this day so much     ─────►
//!                                    ◄─────  Proposal: at least so much, signed
//!     Confirmation: signed too       ─────►
//! ```
//!
//! What counts is what has arrived: of what the lender claims to have received and to have sent, the borrower proposes
//! no more than it has itself sent and received, and the lender signs no more than it claimed. So nobody signs more
//! than it has counted. A statement says "at least": what it leaves out can come with the next one, which says as much
//! or more. Messages travel where both ends are authenticated; that they are lost, repeated or late does no harm.
mod borrower;
mod lender;
mod message;

pub use borrower::Borrower;
pub use lender::Lender;
pub use message::{Claim, MAX_MESSAGE_BYTES, Message, NoMessage, SignedCount};

use crate::ledger::Carried;
use core::fmt;

/// Two counts of one stretch differ by this much without anybody being wrong, beside a sixteenth.
const SLACK_BYTES: u64 = 64 * 1024;

/// Days for which counts and statements are kept.
const KEPT_DAYS: usize = 397;

/// Why something was not signed, or not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is of a day that is not now, and was not lately.
    OtherDay,
    /// It names another key for signatures than before.
    OtherKey,
    /// The signature is not of this statement, or of another key.
    Forged,
    /// It says more than was counted here.
    MoreThanCounted,
    /// It takes back what was signed before.
    Backwards,
    /// Nobody has asked for it, or it has been answered.
    NotAsked,
    /// It comes too soon after the last one.
    TooSoon,
}

impl Refusal {
    /// The name in counters and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherDay => "other_day",
            Self::OtherKey => "other_key",
            Self::Forged => "forged",
            Self::MoreThanCounted => "more_than_counted",
            Self::Backwards => "backwards",
            Self::NotAsked => "not_asked",
            Self::TooSoon => "too_soon",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherDay => "it is of another day",
            Self::OtherKey => "it names another key for signatures than before",
            Self::Forged => "the signature is not of this statement",
            Self::MoreThanCounted => "it says more than was counted here",
            Self::Backwards => "it takes back what was signed before",
            Self::NotAsked => "nobody has asked for it",
            Self::TooSoon => "it comes too soon after the last one",
        })
    }
}

impl core::error::Error for Refusal {}

/// What was signed and what was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SettlementCounters {
    /// Statements with both signatures.
    pub signed: u64,
    /// Messages that led to nothing.
    pub refused: u64,
    /// Statements that say less than the lender has counted, beyond what is lost and under way.
    pub short: u64,
}

/// Whether one count is less than another by more than losses and what is under way explain.
fn is_short(said: Carried, counted: Carried) -> bool {
    let short = |said: u64, counted: u64| counted.saturating_sub(said) > SLACK_BYTES + counted / 16;
    short(said.forward_bytes, counted.forward_bytes) || short(said.return_bytes, counted.return_bytes)
}

/// The lesser of two counts in each direction.
fn least(a: Carried, b: Carried) -> Carried {
    Carried {
        forward_bytes: a.forward_bytes.min(b.forward_bytes),
        return_bytes: a.return_bytes.min(b.return_bytes),
    }
}

/// The greater of two counts in each direction.
fn greatest(a: Carried, b: Carried) -> Carried {
    Carried {
        forward_bytes: a.forward_bytes.max(b.forward_bytes),
        return_bytes: a.return_bytes.max(b.return_bytes),
    }
}

/// What the first has beyond the second.
fn beyond(a: Carried, b: Carried) -> Carried {
    Carried {
        forward_bytes: a.forward_bytes.saturating_sub(b.forward_bytes),
        return_bytes: a.return_bytes.saturating_sub(b.return_bytes),
    }
}

/// Whether the first is no more than the second in either direction.
fn is_within(a: Carried, b: Carried) -> bool {
    least(a, b) == a
}
