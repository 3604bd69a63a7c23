//! A link under its owner's terms, packet by packet.
use crate::calendar::LocalTime;
use crate::ledger::Ledger;
use crate::terms::{Allowance, Rest, Terms};

/// One link and its terms. Packets are taken off what may still be carried as they pass; the ledger, where they are
/// booked now and then, says anew how much that is.
#[derive(Debug, Clone)]
pub struct Share {
    terms: Terms,
    allowance: Allowance,
}

impl Share {
    /// A link of which nothing is known yet: it may be used once it has been judged.
    pub fn new(terms: Terms) -> Self {
        let left_bytes = if terms.is_free() { u64::MAX } else { 0 };
        Self { terms, allowance: Allowance::Bytes(left_bytes) }
    }

    /// What was agreed.
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Bytes have passed, in either direction.
    pub fn carry(&mut self, bytes: u64) {
        if let Allowance::Bytes(left_bytes) = &mut self.allowance
            && *left_bytes != u64::MAX
        {
            *left_bytes = left_bytes.saturating_sub(bytes);
        }
    }

    /// Whether [`Share::judge`] has to be asked before anything more is carried.
    pub fn is_used_up(&self) -> bool {
        self.allowance == Allowance::Bytes(0)
    }

    /// What a ledger in which everything is booked says of the link of this name. True when that begins a rest, or ends
    /// one.
    pub fn judge(&mut self, now: LocalTime, ledger: &Ledger, link: &str) -> bool {
        let before = self.rest();
        self.allowance =
            self.terms.allowance(now, |first, next| ledger.of_link(link, first, next).total_bytes());
        before.is_some() != self.rest().is_some()
    }

    /// Why it may not be used for now, if so.
    pub const fn rest(&self) -> Option<Rest> {
        match self.allowance {
            Allowance::Rest(rest) => Some(rest),
            Allowance::Bytes(_) => None,
        }
    }
}
