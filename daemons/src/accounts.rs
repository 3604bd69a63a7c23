//! What links have carried, by day, over restarts: the ledger of [`prismux_sharing`] with a calendar and a file.
//!
//! Counters are read each second; what has changed is written every [`SAVE_INTERVAL`], and when a link begins to rest,
//! by a thread of its own, so that a slow disk holds up no packet. A daemon that is killed loses what passed since, a
//! host whose power fails what the kernel had not written to the disk.
use prismux_linux::local_time;
use prismux_sharing::{Account, Carried, Day, Ledger, LocalTime, Terms, journal};
use prismux_units::{ByteCount, Duration, Instant};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Time between two looks at the counters.
const BOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two changes of the file.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// Lines that are added to the file before it is written anew, beside four for each of its entries.
const MAX_ADDED_LINES: usize = 10_000;

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
        let (ledger, keeper) = match Keeper::open(file.clone()) {
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
        if let Some(keeper) = &mut self.keeper {
            keeper.save(&mut self.ledger);
        }
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
        self.keeper.as_ref().map(|keeper| keeper.file.as_path())
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            keeper.finish();
            keeper.save(&mut self.ledger);
            keeper.finish();
        }
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

/// A file, and the thread that writes to it.
#[derive(Debug)]
struct Keeper {
    file: PathBuf,
    added_lines: usize,
    writing: Option<JoinHandle<io::Result<()>>>,
    /// It could not be written, and somebody has been told.
    is_lost: bool,
}

impl Keeper {
    fn open(file: PathBuf) -> io::Result<(Ledger, Self)> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let bytes = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let (ledger, torn_lines) = journal::read(&String::from_utf8_lossy(&bytes));
        if torn_lines > 0 {
            tracing::warn!(torn_lines, file = %file.display(), "accounts have lines that were torn, and are left out");
        }
        // Begins with whole lines, and shows that it can be written.
        replace(&file, &journal::whole(&ledger))?;
        Ok((ledger, Self { file, added_lines: 0, writing: None, is_lost: false }))
    }

    /// Has what has changed written, unless that is still going on.
    fn save(&mut self, ledger: &mut Ledger) {
        if self.writing.as_ref().is_some_and(|writing| !writing.is_finished()) {
            return;
        }
        self.finish();
        let changed = ledger.take_changed();
        if changed.is_empty() {
            return;
        }
        self.added_lines += changed.len();
        let is_long = self.added_lines > MAX_ADDED_LINES + 4 * ledger.len();
        let text = match is_long {
            true => journal::whole(ledger),
            false => changed.iter().map(journal::line).collect(),
        };
        if is_long {
            self.added_lines = 0;
        }
        let file = self.file.clone();
        let write = move || if is_long { replace(&file, &text) } else { append(&file, &text) };
        match std::thread::Builder::new().name("accounts".to_owned()).spawn(write) {
            Ok(writing) => self.writing = Some(writing),
            Err(error) => self.failed(&error),
        }
    }

    /// Waits for what is being written.
    fn finish(&mut self) {
        // A thread that panicked has written nothing more than one that failed.
        let written = self.writing.take().map(|writing| writing.join().unwrap_or(Ok(())));
        if let Some(Err(error)) = written {
            self.failed(&error);
        }
    }

    fn failed(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.is_lost, true) {
            tracing::warn!(file = %self.file.display(), %error, "accounts cannot be written");
        }
    }
}

fn append(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}

/// Whole or not at all, however this ends.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let new = file.with_extension("accounts.new");
    let mut out: File = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(new, file)
}

#[cfg(test)]
mod tests;
