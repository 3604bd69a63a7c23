//! A link under its owner's terms, packet by packet.
use crate::calendar::LocalTime;
use crate::credit::CreditLeft;
use crate::ledger::Ledger;
use crate::terms::{Allowance, Rest, Terms};

/// One link and its terms. Packets are taken off what may still be carried as they pass; the ledger, where they are
/// booked now and then, says anew how much that is.
#[derive(Debug, Clone)]
pub struct Share {
    terms: Terms,
    allowance: Allowance,
    /// What the borrower may owe more, where that is limited.
    credit: Option<CreditLeft>,
    /// The battery is too low.
    battery: Option<Rest>,
}

impl Share {
    /// A link of which nothing is known yet: it may be used once it has been judged.
    pub fn new(terms: Terms) -> Self {
        let left_bytes = if terms.is_free() { u64::MAX } else { 0 };
        Self { terms, allowance: Allowance::Bytes(left_bytes), credit: None, battery: None }
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

    /// What the borrower may owe more from now on, where that is limited; [`Share::judge`] makes use of it.
    pub const fn set_credit(&mut self, credit: Option<CreditLeft>) {
        self.credit = credit;
    }

    /// What the battery says from now on ([`Battery::judge`](crate::Battery::judge)); [`Share::judge`] makes use of it.
    pub const fn set_battery(&mut self, rest: Option<Rest>) {
        self.battery = rest;
    }

    /// Whether [`Share::judge`] has to be asked before anything more is carried.
    pub fn is_used_up(&self) -> bool {
        self.allowance == Allowance::Bytes(0)
    }

    /// What a ledger in which everything is booked says of the link of this name. True when that begins a rest, or ends
    /// one.
    pub fn judge(&mut self, now: LocalTime, ledger: &Ledger, link: &str) -> bool {
        let before = self.rest();
        let of_terms =
            self.terms.allowance(now, |first, next| ledger.of_link(link, first, next).total_bytes());
        self.allowance = self.with_credit(of_terms);
        before.is_some() != self.rest().is_some()
    }

    /// What may be carried by terms, battery and credit: terms tell until when, so that they come first.
    fn with_credit(&self, of_terms: Allowance) -> Allowance {
        let Allowance::Bytes(bytes) = of_terms else { return of_terms };
        if let Some(rest) = self.battery {
            return Allowance::Rest(rest);
        }
        let Some(credit) = self.credit else { return of_terms };
        let rested = matches!(self.allowance, Allowance::Rest(Rest::Credit { .. }));
        let may_go_on = if rested { credit.is_back() } else { credit.left_bytes > 0 };
        match may_go_on {
            true => Allowance::Bytes(bytes.min(credit.left_bytes)),
            false => Allowance::Rest(Rest::Credit { limit: credit.limit }),
        }
    }

    /// Why it may not be used for now, if so.
    pub const fn rest(&self) -> Option<Rest> {
        match self.allowance {
            Allowance::Rest(rest) => Some(rest),
            Allowance::Bytes(_) => None,
        }
    }
}
