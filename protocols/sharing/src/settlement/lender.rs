//! The side that carries.
use super::message::{Claim, SignedCount};
use super::{KEPT_DAYS, Refusal, SettlementCounters, beyond, is_short, is_within};
use crate::calendar::Day;
use crate::ledger::Carried;
use crate::records::{Record, Records};
use crate::statement::{KEY_BYTES, Party, Signed, Signer, Statement};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Claims without an answer after which the borrower does not know of statements.
const MAX_UNANSWERED: u32 = 3;

/// What was lent on a day.
#[derive(Debug, Clone, Copy, Default)]
struct Lent {
    counted: Carried,
    /// What was counted at the last claim that was answered.
    settled: Carried,
    signed: Option<Signed>,
}

impl Lent {
    fn signed_for(&self) -> Carried {
        self.signed.map_or(Carried::default(), |signed| signed.statement.carried)
    }

    /// What the borrower owes for it: what both have signed where that is all but what was lost, else what was counted,
    /// so that nothing is gained by not signing.
    fn owed_bytes(&self) -> u64 {
        let signed = self.signed_for();
        let owed = if is_short(signed, self.counted) { self.counted } else { signed };
        owed.total_bytes()
    }
}

/// A lender's dealings with one borrower.
#[derive(Debug)]
pub struct Lender {
    signer: Signer,
    borrower: [u8; KEY_BYTES],
    /// What the borrower's signatures are verified with, once it has said so.
    verifying: Option<[u8; KEY_BYTES]>,
    days: BTreeMap<Day, Lent>,
    sequence: u64,
    interval: Duration,
    /// The last claim, which has not been answered yet.
    claimed: Option<Claim>,
    unanswered: u32,
    next_claim: Instant,
    counters: SettlementCounters,
    records: Vec<Record>,
}

impl Lender {
    /// Goes on with what is kept of the borrower with this static key, and claims every `interval`.
    pub fn new(signer: Signer, borrower: [u8; KEY_BYTES], interval: Duration, kept: &Records) -> Self {
        let mut lender = Self {
            signer,
            borrower,
            verifying: None,
            days: BTreeMap::new(),
            sequence: 0,
            interval,
            claimed: None,
            unanswered: 0,
            next_claim: Instant::ZERO,
            counters: SettlementCounters::default(),
            records: Vec::new(),
        };
        let own = lender.signer.party();
        for (day, counted) in kept.lent_to(&borrower) {
            lender.days.entry(day).or_default().counted = counted;
        }
        for signed in kept.statements() {
            let Statement { lender: by, borrower: to, day, sequence, .. } = signed.statement;
            if by == own && to.key == borrower {
                lender.verifying = Some(to.verifying);
                lender.sequence = lender.sequence.max(sequence);
                lender.days.entry(day).or_default().signed = Some(*signed);
            }
        }
        lender
    }

    /// Counts what came for the borrower, and what was sent for it, on a day.
    pub fn carried(&mut self, day: Day, carried: Carried) {
        if carried == Carried::default() {
            return;
        }
        let lent = self.days.entry(day).or_default();
        lent.counted = lent.counted.plus(carried);
        let counted = Record::Lent { borrower: self.borrower, day, carried: lent.counted };
        match self.records.last_mut() {
            Some(last @ Record::Lent { .. }) if last.day() == Some(day) => *last = counted,
            _ => self.records.push(counted),
        }
        while self.days.len() > KEPT_DAYS {
            self.days.pop_first();
        }
    }

    /// The borrower is there anew, and may know of statements now.
    pub fn begin(&mut self) {
        self.unanswered = 0;
    }

    /// The next claim, if it is time for one and there is something to claim.
    pub fn poll(&mut self, now: Instant) -> Option<Claim> {
        (now >= self.next_claim && self.unanswered < MAX_UNANSWERED).then(|| self.claim_now(now))?
    }

    /// A claim, if there is something to claim.
    pub fn claim_now(&mut self, now: Instant) -> Option<Claim> {
        // A day that has ended is claimed once more, before the one that goes on.
        let mut latest = self.days.iter().rev().take(2).filter(|(_, lent)| lent.counted != lent.settled);
        let (&day, lent) = latest.next_back()?;
        let carried = lent.counted;
        let sequence = self.sequence.checked_add(1)?;
        let claim = Claim { verifying: self.signer.party().verifying, day, sequence, carried };
        self.claimed = Some(claim);
        self.unanswered = self.unanswered.saturating_add(1);
        self.next_claim = now + self.interval;
        Some(claim)
    }

    /// Whether a claim has had no answer yet.
    pub const fn is_waiting(&self) -> bool {
        self.claimed.is_some()
    }

    /// Signs what the borrower proposes.
    ///
    /// # Errors
    /// [`Refusal`]: it is not signed.
    pub fn proposed(&mut self, proposal: &SignedCount) -> Result<SignedCount, Refusal> {
        let confirmation = self.answer(proposal);
        self.counters.refused += u64::from(confirmation.is_err());
        confirmation
    }

    fn answer(&mut self, proposal: &SignedCount) -> Result<SignedCount, Refusal> {
        if let Some(confirmation) = self.confirmed_before(proposal) {
            self.unanswered = 0;
            return Ok(confirmation);
        }
        let claim = self.claimed.filter(|claim| claim.day == proposal.day).ok_or(Refusal::NotAsked)?;
        let SignedCount { verifying, day, sequence, carried, signature: by_borrower } = *proposal;
        if self.verifying.is_some_and(|known| known != verifying) {
            return Err(Refusal::OtherKey);
        }
        let borrower = Party { key: self.borrower, verifying };
        let statement = Statement { lender: self.signer.party(), borrower, day, sequence, carried };
        if !statement.is_signed_by(&borrower, &by_borrower) {
            return Err(Refusal::Forged);
        }
        self.verifying = Some(verifying);
        self.unanswered = 0;
        let lent = self.days.get_mut(&day).ok_or(Refusal::NotAsked)?;
        if sequence < claim.sequence || !is_within(lent.signed_for(), carried) {
            return Err(Refusal::Backwards);
        }
        if !is_within(carried, claim.carried) {
            return Err(Refusal::MoreThanCounted);
        }
        let signature = self.signer.sign(&statement);
        let signed = Signed { statement, by_lender: signature, by_borrower };
        (lent.settled, lent.signed) = (claim.carried, Some(signed));
        self.counters.signed += 1;
        self.counters.short += u64::from(is_short(carried, claim.carried));
        (self.sequence, self.claimed) = (sequence, None);
        self.records.push(Record::Statement(Box::new(signed)));
        Ok(SignedCount { verifying: self.signer.party().verifying, day, sequence, carried, signature })
    }

    /// The confirmation of a proposal that was signed already.
    fn confirmed_before(&self, proposal: &SignedCount) -> Option<SignedCount> {
        let signed = self.days.get(&proposal.day)?.signed?;
        let Statement { lender, day, sequence, carried, .. } = signed.statement;
        let is_same = (sequence, carried, signed.by_borrower)
            == (proposal.sequence, proposal.carried, proposal.signature);
        let signature = signed.by_lender;
        is_same.then_some(SignedCount { verifying: lender.verifying, day, sequence, carried, signature })
    }

    /// What the borrower owes for all days that are kept, in bytes of both directions: what both have signed, and what
    /// was counted and not signed, beyond what is lost on a link.
    pub fn owed_bytes(&self) -> u64 {
        self.days.values().fold(0, |sum: u64, lent| sum.saturating_add(lent.owed_bytes()))
    }

    /// What both have signed for all days that are kept, in bytes of both directions.
    pub fn signed_bytes(&self) -> u64 {
        let signed = self.days.values().map(|lent| lent.signed_for().total_bytes());
        signed.fold(0, u64::saturating_add)
    }

    /// What was counted and both have not signed, for all days that are kept, in bytes of both directions.
    pub fn unsigned_bytes(&self) -> u64 {
        let beyond = |lent: &Lent| beyond(lent.counted, lent.signed_for()).total_bytes();
        self.days.values().map(beyond).fold(0, u64::saturating_add)
    }

    /// What was signed and what was refused.
    pub const fn counters(&self) -> &SettlementCounters {
        &self.counters
    }

    /// What is to be kept and was not yet.
    pub fn take_records(&mut self) -> Vec<Record> {
        core::mem::take(&mut self.records)
    }
}
