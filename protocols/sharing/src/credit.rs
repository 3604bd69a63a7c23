//! What a borrower may owe.
use prismux_units::ByteCount;

/// A link that rested because its borrower owed too much is lent again once this part of the limit has come back, so
/// that it does not come and go with every packet.
const PART_BACK: u64 = 16;

/// How much a lender lends without anything in return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Credit {
    /// Most that a borrower may owe; `None` for any amount.
    pub limit: Option<ByteCount>,
    /// The same while it has lent nothing back yet; `None` for no difference.
    pub at_first: Option<ByteCount>,
}

/// What was lent to a borrower, and what came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// What the borrower owes for what the lender's link has carried for it.
    pub owed_bytes: u64,
    /// What the borrower's links have carried for the lender, by statements of both.
    pub repaid_bytes: u64,
}

/// What is left of a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditLeft {
    /// Bytes that may be lent before something comes back.
    pub left_bytes: u64,
    /// Most that the borrower may owe.
    pub limit: ByteCount,
}

impl Credit {
    /// The limit that holds for a borrower.
    pub fn limit_for(&self, balance: Balance) -> Option<ByteCount> {
        let at_first = self.at_first.filter(|_| balance.repaid_bytes == 0);
        at_first.into_iter().chain(self.limit).min()
    }

    /// What is left; `None` where there is no limit. A borrower that has lent more than it owes has that beside the
    /// limit.
    pub fn left(&self, balance: Balance) -> Option<CreditLeft> {
        let limit = self.limit_for(balance)?;
        let given = limit.as_u64().saturating_add(balance.repaid_bytes);
        Some(CreditLeft { left_bytes: given.saturating_sub(balance.owed_bytes), limit })
    }
}

impl CreditLeft {
    /// Whether enough of it is left to begin lending again.
    pub(crate) fn is_back(&self) -> bool {
        self.left_bytes > 0 && self.left_bytes >= self.limit.as_u64() / PART_BACK
    }
}
