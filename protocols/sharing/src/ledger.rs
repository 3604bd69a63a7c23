//! Accounts of bytes.
use crate::calendar::Day;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Days that are kept: a year and a billing month.
const KEPT_DAYS: usize = 397;

/// Accounts of one day. What is carried for more of them is booked together, as of `others`.
const MAX_ACCOUNTS: usize = 1024;

/// Whose bytes they are. Spaces and control characters of either name become underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// What carried them: a device, or a member's name.
    link: String,
    /// Who was at the other end of it.
    peer: String,
}

impl Account {
    /// The account of a link and whoever is at its other end.
    pub fn new(link: &str, peer: &str) -> Self {
        let word = |text: &str| {
            let letter = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
            let word: String = text.chars().map(letter).collect();
            if word.is_empty() { String::from("-") } else { word }
        };
        Self { link: word(link), peer: word(peer) }
    }

    /// The link's name.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The name of whoever is at the other end.
    pub fn peer(&self) -> &str {
        &self.peer
    }
}

/// Bytes in both directions, with the headers of tunnels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// Towards the receivers.
    pub forward_bytes: u64,
    /// From the receivers.
    pub return_bytes: u64,
}

impl Carried {
    /// Both directions together, as caps count them.
    pub const fn total_bytes(self) -> u64 {
        self.forward_bytes.saturating_add(self.return_bytes)
    }

    /// With more.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            forward_bytes: self.forward_bytes.saturating_add(more.forward_bytes),
            return_bytes: self.return_bytes.saturating_add(more.return_bytes),
        }
    }

    /// What came since a counter stood at `before`. A counter that is less has begun anew.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        if self.forward_bytes < before.forward_bytes || self.return_bytes < before.return_bytes {
            return self;
        }
        Self {
            forward_bytes: self.forward_bytes - before.forward_bytes,
            return_bytes: self.return_bytes - before.return_bytes,
        }
    }
}

/// What was carried on one day for one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The day, by the calendar of where the link is.
    pub day: Day,
    /// For whom.
    pub account: Account,
    /// How much, on this day.
    pub carried: Carried,
}

/// Accounts of bytes by day. A day's count never shrinks, whatever clocks do: who sets the clock back to a day goes on
/// with what was booked on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    days: BTreeMap<Day, BTreeMap<Account, Carried>>,
    changed: BTreeSet<(Day, Account)>,
}

impl Ledger {
    /// Books what was carried. A day too many takes the oldest with it.
    pub fn add(&mut self, day: Day, account: &Account, carried: Carried) {
        if carried == Carried::default() {
            return;
        }
        let accounts = self.days.entry(day).or_default();
        let is_full = accounts.len() >= MAX_ACCOUNTS && !accounts.contains_key(account);
        let others = Account::new("others", "others");
        let account = if is_full { &others } else { account };
        match accounts.get_mut(account) {
            Some(before) => *before = before.plus(carried),
            None => {
                accounts.insert(account.clone(), carried);
            }
        }
        self.changed.insert((day, account.clone()));
        self.forget_all_but(day);
    }

    /// Forgets the oldest days that are too many, but not `day`: a clock may stand at a day long gone.
    fn forget_all_but(&mut self, day: Day) {
        while self.days.len() > KEPT_DAYS {
            let oldest = self.days.keys().copied().find(|&other| other != day);
            if oldest.and_then(|oldest| self.days.remove(&oldest)).is_none() {
                return;
            }
        }
    }

    /// Replaces what was booked, as a line of the journal says.
    pub(crate) fn set(&mut self, entry: Entry) {
        let day = entry.day;
        self.days.entry(day).or_default().insert(entry.account, entry.carried);
        self.forget_all_but(day);
    }

    /// What a link carried from `first` until the day before `next`, whoever was at its other end.
    pub fn of_link(&self, link: &str, first: Day, next: Day) -> Carried {
        if first >= next {
            return Carried::default();
        }
        let from = Account { link: String::from(link), peer: String::new() };
        let own = |accounts: &BTreeMap<Account, Carried>| {
            let own = accounts.range(&from..).take_while(|(account, _)| account.link == link);
            own.fold(Carried::default(), |sum, (_, carried)| sum.plus(*carried))
        };
        let days = self.days.range(first..next).map(|(_, accounts)| own(accounts));
        days.fold(Carried::default(), Carried::plus)
    }

    /// Everything that is booked, by day, link and peer.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.days.iter().flat_map(|(&day, accounts)| {
            accounts.iter().map(move |(account, &carried)| Entry { day, account: account.clone(), carried })
        })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.days.values().map(BTreeMap::len).sum()
    }

    /// Whether nothing is booked.
    pub fn is_empty(&self) -> bool {
        self.days.is_empty()
    }

    /// Entries that have changed since they were last asked for.
    pub fn take_changed(&mut self) -> Vec<Entry> {
        let changed = core::mem::take(&mut self.changed);
        let entry = |(day, account): (Day, Account)| {
            let carried = *self.days.get(&day)?.get(&account)?;
            Some(Entry { day, account, carried })
        };
        changed.into_iter().filter_map(entry).collect()
    }
}
