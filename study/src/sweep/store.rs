//! Where results of a sweep go as they finish.
//!
//! For `runs.parquet` there is a folder `runs.parquet.parts` while the sweep lasts: `journal` has a line for every
//! finished task, written before the next one counts as done; from time to time its lines become `part-N.parquet`. In
//! the end all parts become `runs.parquet`, and the folder goes. Whatever ends a sweep early (Ctrl-C, power, a full
//! disk) costs the runs in hand; the same command goes on from there.

use super::axis::Axis;
use super::merge::merge;
use super::parquet::{self, FileError};
use super::rows::{self, Row};
use arrow_array::RecordBatch;
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The journal becomes a part when it has so many lines,
const PART_ROWS: usize = 512;
/// or when its first line is so old.
const PART_AGE: Duration = Duration::from_secs(10);

/// Why results could not be stored.
#[derive(Debug)]
pub enum StoreError {
    /// A file cannot be read or written.
    File(FileError),
    /// Another sweep writes to the same file.
    Busy(PathBuf),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Busy(path) => write!(f, "{}: another sweep writes there at this moment", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<FileError> for StoreError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// The results of one sweep.
#[derive(Debug)]
pub struct Store {
    target: PathBuf,
    folder: PathBuf,
    axes: Vec<Axis>,
    scenario: String,
    /// Tasks that are stored, in whatever form.
    done: HashSet<String>,
    journal: File,
    journal_bytes: u64,
    /// Rows of the journal.
    pending: Vec<Row>,
    oldest: Option<Instant>,
    /// Held as long as the store is open.
    _lock: File,
}

impl Store {
    /// Opens `target`, with everything that earlier sweeps left there.
    ///
    /// # Errors
    /// [`StoreError`] for files that are damaged, foreign or cannot be written, and when another sweep is at work
    /// there.
    pub fn open(target: &Path, axes: &[Axis], scenario: &str) -> Result<Self, StoreError> {
        let mut folder = target.as_os_str().to_owned();
        folder.push(".parts");
        let folder = PathBuf::from(folder);
        // A wrong target shows before anything is made beside it.
        let finished = if target.exists() { Some(parquet::read(target)?) } else { None };
        let cannot = |path: &Path| {
            let path = path.to_path_buf();
            move |error: std::io::Error| FileError::new(&path, format!("cannot write: {error}"))
        };
        fs::create_dir_all(&folder).map_err(cannot(&folder))?;
        let lock_path = folder.join("lock");
        let lock = File::create(&lock_path).map_err(cannot(&lock_path))?;
        if lock.try_lock().is_err() {
            return Err(StoreError::Busy(target.to_path_buf()));
        }
        let journal_path = folder.join("journal");
        let journal = OpenOptions::new().create(true).read(true).append(true).open(&journal_path);
        let mut store = Self {
            target: target.to_path_buf(),
            folder,
            axes: axes.to_vec(),
            scenario: scenario.to_string(),
            done: HashSet::new(),
            journal: journal.map_err(cannot(&journal_path))?,
            journal_bytes: 0,
            pending: Vec::new(),
            oldest: None,
            _lock: lock,
        };
        let mut tables: Vec<RecordBatch> = finished.into_iter().chain(store.parts()?).collect();
        for table in &tables {
            store.done.extend(super::merge::tasks(table).into_iter().map(str::to_string));
        }
        store.read_journal()?;
        // Rows that could not be merged in the end are refused before the first run.
        tables.push(store.pending_table());
        merge(&tables, &[]).map_err(|reason| FileError::new(target, reason))?;
        Ok(store)
    }

    /// Whether the task is stored.
    pub fn has(&self, task: &str) -> bool {
        self.done.contains(task)
    }

    /// Number of stored tasks.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// True without any stored task.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Stores a row; false for a task that is stored already.
    ///
    /// # Errors
    /// [`StoreError::File`] when the disk takes no more; what was stored before stays.
    pub fn add(&mut self, row: Row) -> Result<bool, StoreError> {
        if self.has(&row.task) {
            return Ok(false);
        }
        let mut line = row.to_json();
        line.push('\n');
        if let Err(error) = self.journal.write_all(line.as_bytes()) {
            // Half a line would be skipped when the journal is read, too.
            let _ = self.journal.set_len(self.journal_bytes);
            return Err(self.cannot("journal", error).into());
        }
        self.journal_bytes += line.len() as u64;
        self.done.insert(row.task.clone());
        self.pending.push(row);
        let oldest = *self.oldest.get_or_insert_with(Instant::now);
        if self.pending.len() >= PART_ROWS || oldest.elapsed() >= PART_AGE {
            self.make_part()?;
        }
        Ok(true)
    }

    /// Turns the journal into a part.
    fn make_part(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let number = self.part_numbers()?.last().map_or(0, |last| last + 1);
        parquet::write(&self.part_path(number), &self.pending_table())?;
        self.journal.set_len(0).map_err(|error| self.cannot("journal", error))?;
        self.journal_bytes = 0;
        self.pending.clear();
        self.oldest = None;
        Ok(())
    }

    fn pending_table(&self) -> RecordBatch {
        rows::table(&self.axes, &self.pending, parquet::metadata(&self.scenario))
    }

    /// Everything stored so far, rows in the order of `order`.
    ///
    /// # Errors
    /// [`StoreError`] for a file that is damaged, or rows of another sweep.
    pub fn table(&self, order: &[String]) -> Result<RecordBatch, StoreError> {
        let mut tables = self.parts()?;
        if self.target.exists() {
            tables.insert(0, parquet::read(&self.target)?);
        }
        tables.push(self.pending_table());
        merge(&tables, order).map_err(|reason| FileError::new(&self.target, reason).into())
    }

    /// Makes one file of all rows, in the order of `order`, and returns them.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot; then everything stays where it was.
    pub fn finish(self, order: &[String]) -> Result<RecordBatch, StoreError> {
        let table = self.table(order)?;
        parquet::write(&self.target, &table)?;
        // Parts that stay behind are read once more and change nothing.
        let _ = fs::remove_dir_all(&self.folder);
        Ok(table)
    }

    /// The parts in the folder, by number.
    fn parts(&self) -> Result<Vec<RecordBatch>, StoreError> {
        self.part_numbers()?.into_iter().map(|n| Ok(parquet::read(&self.part_path(n))?)).collect()
    }

    fn part_path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("part-{number}.parquet"))
    }

    fn part_numbers(&self) -> Result<Vec<usize>, StoreError> {
        let cannot = |error| FileError::new(&self.folder, format!("cannot read: {error}"));
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name();
            let number = name.to_str().and_then(|n| n.strip_prefix("part-")?.strip_suffix(".parquet"));
            numbers.extend(number.and_then(|number| number.parse::<usize>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Takes over what an interrupted sweep left in the journal; a last line that is not whole goes.
    fn read_journal(&mut self) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let read = self.journal.read_to_end(&mut bytes);
        read.map_err(|error| FileError::new(&self.folder.join("journal"), format!("cannot read: {error}")))?;
        let mut whole = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let Some(row) = std::str::from_utf8(line).ok().and_then(|line| Row::from_json(line).ok()) else {
                break;
            };
            whole += line.len() as u64;
            if self.done.insert(row.task.clone()) {
                self.pending.push(row);
            }
        }
        self.journal.set_len(whole).map_err(|error| self.cannot("journal", error))?;
        self.journal_bytes = whole;
        self.oldest = (!self.pending.is_empty()).then(Instant::now);
        Ok(())
    }

    fn cannot(&self, file: &str, error: std::io::Error) -> FileError {
        FileError::new(&self.folder.join(file), format!("cannot write: {error}"))
    }
}
