//! The side for which is carried.
use super::message::{Claim, SignedCount};
use super::{KEPT_DAYS, Refusal, SettlementCounters, beyond, greatest, is_short, least};
use crate::calendar::Day;
use crate::ledger::Carried;
use crate::records::{Promise, Record, Records};
use crate::statement::{KEY_BYTES, Party, SignatureBytes, Signed, Signer, Statement};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// No more than one claim in this time is answered, for signatures take processor time,
const MIN_INTERVAL: Duration = Duration::from_millis(500);
/// beside those that would have been in so much time before.
const MAX_SAVED: Duration = Duration::from_millis(1500);

/// A statement of a day that has ended is proposed so often again, when no confirmation comes.
const MAX_REPEATS: u8 = 3;

/// A borrower's dealings with one lender. What [`Borrower::take_records`] gives is to be kept before a proposal leaves,
/// or one that is signed twice after a restart would be signed for two days.
#[derive(Debug)]
pub struct Borrower {
    signer: Signer,
    lender: [u8; KEY_BYTES],
    /// What the lender's signatures are verified with, once it has said so.
    verifying: Option<[u8; KEY_BYTES]>,
    /// What was counted and has not been signed for.
    unsigned: Carried,
    /// What was signed for a day at most.
    promised: BTreeMap<Day, Promise>,
    /// The last proposal, which the lender has not confirmed yet.
    proposed: Option<(Statement, SignatureBytes)>,
    /// How often it was proposed once more.
    repeats: u8,
    answers_from: Instant,
    counters: SettlementCounters,
    records: Vec<Record>,
}

impl Borrower {
    /// Goes on with what is kept of the lender with this static key.
    pub fn new(signer: Signer, lender: [u8; KEY_BYTES], kept: &Records) -> Self {
        let own = signer.party();
        let mut statements = kept.statements().filter(|signed| {
            let Statement { lender: other, borrower, .. } = signed.statement;
            other.key == lender && borrower == own
        });
        Self {
            verifying: statements.next().map(|signed| signed.statement.lender.verifying),
            unsigned: kept.unsigned_by(&lender),
            promised: kept.promises_to(&lender).collect(),
            signer,
            lender,
            proposed: None,
            repeats: 0,
            answers_from: Instant::ZERO,
            counters: SettlementCounters::default(),
            records: Vec::new(),
        }
    }

    /// Counts what was sent to the lender's link, and what came from it.
    pub fn carried(&mut self, carried: Carried) {
        if carried != Carried::default() {
            self.unsigned = self.unsigned.plus(carried);
            self.note_unsigned();
        }
    }

    /// Answers a claim, when it is `today` here. What is proposed is the lesser of both counts, and never less than was
    /// signed before.
    ///
    /// # Errors
    /// [`Refusal`]: it is not answered.
    pub fn claim(&mut self, now: Instant, today: Day, claim: &Claim) -> Result<SignedCount, Refusal> {
        let proposal = self.answer(now, today, claim);
        self.counters.refused += u64::from(proposal.is_err());
        proposal
    }

    fn answer(&mut self, now: Instant, today: Day, claim: &Claim) -> Result<SignedCount, Refusal> {
        if now + MAX_SAVED < self.answers_from {
            return Err(Refusal::TooSoon);
        }
        if today.number().abs_diff(claim.day.number()) > 1 {
            return Err(Refusal::OtherDay);
        }
        if *self.verifying.get_or_insert(claim.verifying) != claim.verifying {
            return Err(Refusal::OtherKey);
        }
        self.answers_from = self.answers_from.max(now) + MIN_INTERVAL;
        if let Some(proposal) = self.proposed_before(claim.day) {
            return Ok(proposal);
        }
        let before = self.promised.get(&claim.day).copied().unwrap_or_default();
        let counted = before.carried.plus(self.unsigned);
        let carried = greatest(before.carried, least(claim.carried, counted));
        let last = self.promised.values().map(|promise| promise.sequence).max().unwrap_or_default();
        let sequence = claim.sequence.max(last.checked_add(1).ok_or(Refusal::Backwards)?);
        self.unsigned = beyond(self.unsigned, beyond(carried, before.carried));
        let promise = Promise { sequence, carried };
        self.promised.insert(claim.day, promise);
        while self.promised.len() > KEPT_DAYS {
            self.promised.pop_first();
        }
        self.records.push(Record::Promised { lender: self.lender, day: claim.day, promise });
        self.note_unsigned();
        let (lender, borrower) =
            (Party { key: self.lender, verifying: claim.verifying }, self.signer.party());
        let statement = Statement { lender, borrower, day: claim.day, sequence, carried };
        let signature = self.signer.sign(&statement);
        (self.proposed, self.repeats) = (Some((statement, signature)), 0);
        self.counters.short += u64::from(is_short(carried, claim.carried));
        Ok(SignedCount { verifying: borrower.verifying, day: claim.day, sequence, carried, signature })
    }

    /// What was proposed for a day before `day` and never confirmed, once more: the confirmation may have been lost.
    fn proposed_before(&mut self, day: Day) -> Option<SignedCount> {
        let (statement, signature) = self.proposed.filter(|(statement, _)| statement.day < day)?;
        self.repeats = self.repeats.checked_add(1).filter(|repeats| *repeats <= MAX_REPEATS)?;
        let Statement { borrower, day, sequence, carried, .. } = statement;
        Some(SignedCount { verifying: borrower.verifying, day, sequence, carried, signature })
    }

    /// Takes the lender's signature.
    ///
    /// # Errors
    /// [`Refusal`]: it is of no statement that was proposed, or forged.
    pub fn confirmed(&mut self, confirmation: &SignedCount) -> Result<Signed, Refusal> {
        let signed = self.check(confirmation);
        match signed {
            Ok(signed) => {
                self.counters.signed += 1;
                self.proposed = None;
                self.records.push(Record::Statement(Box::new(signed)));
            }
            Err(_) => self.counters.refused += 1,
        }
        signed
    }

    fn check(&self, confirmation: &SignedCount) -> Result<Signed, Refusal> {
        let (statement, by_borrower) = self.proposed.ok_or(Refusal::NotAsked)?;
        let SignedCount { day, sequence, carried, signature: by_lender, .. } = *confirmation;
        if (day, sequence, carried) != (statement.day, statement.sequence, statement.carried) {
            return Err(Refusal::NotAsked);
        }
        let signed = Signed { statement, by_lender, by_borrower };
        let is_true = statement.is_signed_by(&statement.lender, &by_lender);
        is_true.then_some(signed).ok_or(Refusal::Forged)
    }

    /// What was counted and has not been signed for.
    pub const fn unsigned(&self) -> Carried {
        self.unsigned
    }

    /// What was signed and what was refused.
    pub const fn counters(&self) -> &SettlementCounters {
        &self.counters
    }

    /// What is to be kept and was not yet.
    pub fn take_records(&mut self) -> Vec<Record> {
        core::mem::take(&mut self.records)
    }

    /// The newest count alone is worth keeping.
    fn note_unsigned(&mut self) {
        let unsigned = Record::Unsigned { lender: self.lender, carried: self.unsigned };
        match self.records.last_mut() {
            Some(last @ Record::Unsigned { .. }) => *last = unsigned,
            _ => self.records.push(unsigned),
        }
    }
}
