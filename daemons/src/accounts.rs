//! What links have carried, by day, over restarts: the ledger of [`prismux_sharing`] with a calendar and a file.
//!
//! Counters are read each second; what has changed is written every [`SAVE_INTERVAL`], and when a link begins to rest,
//! by a thread of its own, so that a slow disk holds up no packet. A daemon that is killed loses what passed since, a
//! host whose power fails what the kernel had not written to the disk.
mod keeper;

pub(crate) use keeper::Keeper;
use prismux_linux::local_time;
use prismux_sharing::{Account, Carried, Day, Ledger, LocalTime, Terms, journal};
use prismux_units::{ByteCount, Duration, Instant};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Time between two looks at the counters.
const BOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two changes of the file.
pub(crate) const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// The accounts of a daemon.
#[derive(Debug)]
pub(crate) struct Accounts {
    ledger: Ledger,
    /// What each counter showed when it was last read.
    counters: BTreeMap<Account, Carried>,
    keeper: Option<Keeper>,
    /// The local time of the last booking.
    time: LocalTime,
    next_book: Instant,
    next_save: Instant,
}

impl Accounts {
    /// Goes on with the accounts of `file`. Where it cannot be read, they are kept in memory alone, and a warning is in
    /// the log.
    pub fn open(file: PathBuf) -> Self {
        // Reads the time zone as long as it can be read.
        let time = time_now();
        let read = Keeper::open(file.clone(), "accounts", |text| {
            let (ledger, torn_lines) = journal::read(text);
            let whole = journal::whole(&ledger);
            (ledger, torn_lines, whole)
        });
        let (ledger, keeper) = match read {
            Ok((ledger, keeper)) => (ledger, Some(keeper)),
            Err(error) => {
                let file = file.display();
                tracing::warn!(%file, %error, "accounts cannot be kept: they and caps begin anew at every start");
                (Ledger::default(), None)
            }
        };
        let counters = BTreeMap::new();
        Self { ledger, counters, keeper, time, next_book: Instant::ZERO, next_save: Instant::ZERO }
    }

    /// When [`Accounts::is_due`] begins to hold.
    pub fn deadline(&self) -> Instant {
        self.next_book
    }

    /// Whether counters are to be read.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next_book <= now
    }

    /// Books what counters show beyond what they showed before, on the day that `time` is in. A counter that is not
    /// among them any more has gone.
    pub fn book(
        &mut self,
        now: Instant,
        time: LocalTime,
        counters: impl Iterator<Item = (Account, Carried)>,
    ) {
        let before = std::mem::take(&mut self.counters);
        for (account, carried) in counters {
            let known = before.get(&account).copied().unwrap_or_default();
            self.ledger.add(time.day, &account, carried.since(known));
            self.counters.insert(account, carried);
        }
        self.time = time;
        self.next_book = now + BOOK_INTERVAL;
        if self.next_save <= now {
            self.save(now);
        }
    }

    /// Has what has changed written.
    pub fn save(&mut self, now: Instant) {
        self.next_save = now + SAVE_INTERVAL;
        self.write();
    }

    fn write(&mut self) {
        let Some(keeper) = self.keeper.as_mut().filter(|keeper| !keeper.is_writing()) else { return };
        let changed = self.ledger.take_changed();
        let (lines, entries) = (changed.len(), self.ledger.len());
        let added = || changed.iter().map(journal::line).collect();
        keeper.add((lines, entries), added, || journal::whole(&self.ledger));
    }

    /// Everything that is booked.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is booked for a link, for its status page.
    pub fn booked(&self, link: &str, terms: &Terms) -> Booked {
        let today = self.time.day;
        let month = terms.reset_day.month_of(today);
        let carried = |first, next| self.ledger.of_link(link, first, next).total_bytes();
        Booked {
            today_bytes: carried(today, today.next()),
            month_bytes: carried(month.first, month.next),
            month_from: month.first.to_string(),
            cap_per_day_bytes: terms.cap_per_day.map(ByteCount::as_u64),
            cap_per_month_bytes: terms.cap_per_month.map(ByteCount::as_u64),
        }
    }

    /// Where they are kept.
    pub fn file(&self) -> Option<&Path> {
        self.keeper.as_ref().map(Keeper::file)
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        // What is written last the keeper waits for itself.
        if let Some(keeper) = &mut self.keeper {
            keeper.finish();
        }
        self.write();
    }
}

/// What a link has carried today and in its billing month, both directions and headers of the tunnel together, and how
/// much it may.
#[derive(Debug, Serialize)]
pub(crate) struct Booked {
    today_bytes: u64,
    month_bytes: u64,
    /// The first day of the billing month.
    month_from: String,
    cap_per_day_bytes: Option<u64>,
    cap_per_month_bytes: Option<u64>,
}

/// The local time. A clock beyond the calendar shows its first day.
pub(crate) fn time_now() -> LocalTime {
    let Some(time) = local_time::now() else { return LocalTime::default() };
    let day = Day::from_date(time.year, time.month, time.day).unwrap_or_default();
    LocalTime { day, minute: time.minute }
}

#[cfg(test)]
mod tests;
