//! Statements that two daemons have signed, and what leads to them, in a file beside that of the accounts.
//!
//! It is written as the accounts are, by a thread of its own. What a borrower signs leaves only once it is in the file:
//! [`Statements::are_kept`].
mod repayments;

use crate::accounts::{Keeper, SAVE_INTERVAL};
use prismux_sealed::KeyPair;
use prismux_sharing::records::{Record, Records};
use prismux_sharing::settlement::SettlementCounters;
use prismux_sharing::{Day, Signer};
use prismux_units::{Duration, Instant};
pub(crate) use repayments::Repayments;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Days that are kept, as those of accounts.
const KEPT_DAYS: i32 = 397;

/// Time between two lines of the log about what was refused.
const TELL_INTERVAL: Duration = Duration::from_secs(60);

/// Who signs for a daemon with these keys.
pub(crate) fn signer(keys: &KeyPair) -> Signer {
    Signer::new(keys.public().0, &keys.derived_secret(Signer::PURPOSE))
}

/// The file of a daemon with this file of accounts.
pub fn statements_file(accounts_file: &Path) -> PathBuf {
    accounts_file.with_extension("statements")
}

/// What is kept.
#[derive(Debug)]
pub(crate) struct Statements {
    records: Records,
    keeper: Option<Keeper>,
    added: Vec<Record>,
    saves_from: Instant,
    /// A refusal is told no earlier.
    tells_from: Instant,
}

impl Statements {
    /// Goes on with those of a daemon with this file of accounts, or a day long gone. Where the file cannot be read,
    /// they are kept in memory alone, and a warning is in the log.
    pub fn open(accounts_file: &Path, today: Day) -> Self {
        let file = statements_file(accounts_file);
        let first = Day::from_number(today.number().saturating_sub(KEPT_DAYS));
        let read = Keeper::open(file.clone(), "statements", |text| {
            let (mut records, torn_lines) = Records::read(text);
            if let Some(first) = first {
                records.forget_before(first);
            }
            let whole = records.whole();
            (records, torn_lines, whole)
        });
        let (records, keeper) = match read {
            Ok((records, keeper)) => (records, Some(keeper)),
            Err(error) => {
                let file = file.display();
                tracing::warn!(%file, %error, "statements cannot be kept: credit begins anew at every start");
                (Records::default(), None)
            }
        };
        Self { records, keeper, added: Vec::new(), saves_from: Instant::ZERO, tells_from: Instant::ZERO }
    }

    /// Everything that is kept.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Keeps what is new.
    pub fn note(&mut self, new: Vec<Record>) {
        for record in new {
            if self.keeper.is_some() {
                self.added.push(record.clone());
            }
            self.records.note(record);
        }
    }

    /// Has what is new written, unless something is being written.
    pub fn save(&mut self) {
        let Some(keeper) = self.keeper.as_mut().filter(|keeper| !keeper.is_writing()) else { return };
        let added = std::mem::take(&mut self.added);
        let lines = || added.iter().map(Record::line).collect();
        keeper.add((added.len(), self.records.len()), lines, || self.records.whole());
    }

    /// The same, every few seconds.
    pub fn save_in_time(&mut self, now: Instant) {
        if now >= self.saves_from {
            self.saves_from = now + SAVE_INTERVAL;
            self.save();
        }
    }

    /// Whether everything is in the file, as far as it can be.
    pub fn are_kept(&self) -> bool {
        self.added.is_empty() && !self.keeper.as_ref().is_some_and(Keeper::is_writing)
    }

    /// Where they are kept.
    pub fn file(&self) -> Option<&Path> {
        self.keeper.as_ref().map(Keeper::file)
    }

    /// Whether the log may tell of a refusal: now and then.
    pub fn may_tell(&mut self, now: Instant) -> bool {
        let may = now >= self.tells_from;
        if may {
            self.tells_from = now + TELL_INTERVAL;
        }
        may
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        // What is written last the keeper waits for itself.
        if let Some(keeper) = &mut self.keeper {
            keeper.finish();
        }
        self.save();
    }
}

/// What a status page says of statements.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Report {
    /// Statements with both signatures, since the start.
    signed: u64,
    /// Messages that led to nothing.
    refused: u64,
    /// Statements that say less than the lender has counted, beyond what is lost and under way.
    short: u64,
    /// What both have signed for, on all days that are kept.
    signed_bytes: u64,
    /// What was carried and is not in a statement yet, as this end has counted it.
    unsigned_bytes: u64,
}

impl Report {
    /// Of counters, what both have signed for, and what is left.
    pub const fn new(counters: &SettlementCounters, signed_bytes: u64, unsigned_bytes: u64) -> Self {
        let SettlementCounters { signed, refused, short } = *counters;
        Self { signed, refused, short, signed_bytes, unsigned_bytes }
    }
}
