//! What is known of one neighbour.
use super::event::Reason;
use crate::contents::PieceSet;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// After so many failures in a row a neighbour is left for good.
const MAX_FAILURES: u32 = 4;
/// Who has broken so many claims is not believed again.
const MAX_BROKEN_CLAIMS: usize = 3;

#[derive(Debug)]
pub(super) struct Neighbour {
    pub(super) heard_at: Instant,
    pub(super) held: PieceSet,
    /// What it says now that it takes from the origin.
    claims: Vec<u32>,
    /// When it first claimed each piece that it ever did: to claim one again gains no time.
    claimed_at: BTreeMap<u32, Instant>,
    /// Pieces that it claimed and never had in time.
    broken_claims: BTreeSet<u32>,
    /// In a row.
    pub(super) failures: u32,
    pub(super) rests_until: Instant,
    pub(super) left: Option<Reason>,
}

impl Neighbour {
    pub(super) fn new(count: u32) -> Self {
        Self {
            heard_at: Instant::ZERO,
            held: PieceSet::none(count),
            claims: Vec::new(),
            claimed_at: BTreeMap::new(),
            broken_claims: BTreeSet::new(),
            failures: 0,
            rests_until: Instant::ZERO,
            left: None,
        }
    }

    pub(super) fn hear(&mut self, now: Instant, held: &PieceSet, claims: &[u32]) {
        self.heard_at = now;
        self.held = held.clone();
        self.claims = claims.iter().copied().filter(|claim| *claim < held.count()).collect();
        for claim in &self.claims {
            self.claimed_at.entry(*claim).or_insert(now);
        }
        // It was silent.
        self.left = None;
    }

    pub(super) const fn is_live(&self) -> bool {
        self.left.is_none()
    }

    pub(super) const fn is_left_for_good(&self) -> bool {
        matches!(self.left, Some(Reason::Lied | Reason::Owing))
    }

    /// It has not given what it owed; true if it is to be left for good.
    pub(super) fn fail(&mut self, now: Instant, rest: Duration) -> bool {
        self.rests_until = now + rest * (1 << self.failures.min(8));
        self.failures += 1;
        self.failures >= MAX_FAILURES
    }

    /// Whether it has `piece` and may be asked for it, now or soon.
    pub(super) fn may_give(&self, now: Instant, piece: u32) -> bool {
        self.is_live() && self.rests_until <= now && self.held.contains(piece)
    }

    /// Since when it has claimed `piece`, if that counts.
    pub(super) fn claims(&self, now: Instant, patience: Duration, piece: u32) -> Option<Instant> {
        let believed =
            self.is_live() && self.broken_claims.len() < MAX_BROKEN_CLAIMS && self.claims.contains(&piece);
        let since = self.claimed_at.get(&piece).copied().filter(|_| believed)?;
        (now < since + patience).then_some(since)
    }

    /// Since when it has claimed what it claims, as far as that counts.
    pub(super) fn claimed(&self, now: Instant, patience: Duration) -> impl Iterator<Item = Instant> + '_ {
        self.claims.iter().filter_map(move |piece| self.claims(now, patience, *piece))
    }

    /// Notes claims that were not kept, of pieces that are still missing here.
    pub(super) fn judge_claims(&mut self, now: Instant, patience: Duration, here: &PieceSet) {
        let (claimed_at, held) = (&self.claimed_at, &self.held);
        let is_broken = |piece: &u32| {
            let is_over = claimed_at.get(piece).is_some_and(|since| now >= *since + patience);
            is_over && !held.contains(*piece) && !here.contains(*piece)
        };
        self.broken_claims.extend(self.claims.iter().copied().filter(is_broken));
    }
}
