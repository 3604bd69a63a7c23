//! Where results of a sweep go as they finish.
//!
//! For `runs.parquet` there is a folder `runs.parquet.parts` while the sweep lasts: `journal` has a line for every
//! finished task, written before the next one counts as done; from time to time its lines become `part-N.parquet`. In
//! the end all parts become `runs.parquet`, and the folder goes. Whatever ends a sweep early (Ctrl-C, power, a full
//! disk) costs the runs in hand; the same command goes on from there.

use super::axis::Axis;
use super::merge::{merge, select, tasks, texts};
use super::parquet::{self, FileError};
use super::plan::Task;
use super::rows::{self, Row};
use crate::policies::{self, POLICY_HASH};
use arrow_array::RecordBatch;
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// The file has rows of other experiments, which must not mix with those of this sweep unless somebody wants it.
    OtherRows {
        /// The file.
        path: PathBuf,
        /// So many.
        count: usize,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Busy(path) => write!(f, "{}: another sweep writes there at this moment", path.display()),
            Self::OtherRows { path, count } => write!(
                f,
                "{}: {count} rows there are of other experiments: another scenario, this one as it was before a \
                 change, points that are not asked for, other policies, or another version\n  remedy: prune them, \
                 keep them beside the new ones (the columns scenario, scenario_hash, policy_hash and version tell \
                 them apart), or choose another file",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<FileError> for StoreError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// What becomes of rows of other experiments: their scenario, as it ran, is none of this sweep's, other policies
/// decided, or another version ran them. (Other seeds of the sweep's own points are the same experiment, and stay.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Others {
    /// A file that has any is refused.
    #[default]
    Refuse,
    /// They stay in the file, behind the sweep's own.
    Keep,
    /// They go when the sweep is finished.
    Prune,
}

/// The results of one sweep.
#[derive(Debug)]
pub struct Store {
    target: PathBuf,
    folder: PathBuf,
    axes: Vec<Axis>,
    scenario: String,
    /// The sweep's own tasks, in order.
    plan: Vec<String>,
    /// Stored tasks of other experiments.
    foreign: HashSet<String>,
    others: Others,
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

/// Tasks in `tables` that are of none of the experiments of `plan`.
fn foreign(tables: &[RecordBatch], plan: &[Task]) -> HashSet<String> {
    let points = plan.chunk_by(|a, b| Arc::ptr_eq(&a.point, &b.point));
    let own: HashSet<(String, String)> = points
        .map(|seeds| &seeds[0].point)
        .map(|point| (prismux_scenario::hash(&point.scenario.plan), policies::hash(&point.policies)))
        .collect();
    let mut foreign = HashSet::new();
    for table in tables {
        let what = texts(table, "scenario_hash").into_iter().zip(texts(table, POLICY_HASH));
        let ran = what.zip(texts(table, "version"));
        for (id, ((scenario, policies), version)) in tasks(table).into_iter().zip(ran) {
            if !own.contains(&(scenario.to_string(), policies.to_string()))
                || version != env!("CARGO_PKG_VERSION")
            {
                foreign.insert(id.to_string());
            }
        }
    }
    foreign
}

impl Store {
    /// Opens `target`, with everything that earlier sweeps left there, for the tasks of `plan`.
    ///
    /// # Errors
    /// [`StoreError`] for files that are damaged, foreign or cannot be written, for rows of other tasks that are to be
    /// refused, and when another sweep is at work there.
    pub fn open(
        target: &Path,
        axes: &[Axis],
        scenario: &str,
        plan: &[Task],
        others: Others,
    ) -> Result<Self, StoreError> {
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
            plan: plan.iter().map(|task| task.id.clone()).collect(),
            foreign: HashSet::new(),
            others,
            done: HashSet::new(),
            journal: journal.map_err(cannot(&journal_path))?,
            journal_bytes: 0,
            pending: Vec::new(),
            oldest: None,
            _lock: lock,
        };
        let mut tables: Vec<RecordBatch> = finished.into_iter().chain(store.parts()?).collect();
        for table in &tables {
            store.done.extend(tasks(table).into_iter().map(str::to_string));
        }
        store.read_journal()?;
        tables.push(store.pending_table());
        store.foreign = foreign(&tables, plan);
        if !store.foreign.is_empty() && others == Others::Refuse {
            return Err(StoreError::OtherRows { path: target.to_path_buf(), count: store.foreign.len() });
        }
        // Rows that could not be merged in the end are refused before the first run.
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

    /// The rows of the sweep's own tasks that are stored so far, in the order of the plan.
    ///
    /// # Errors
    /// [`StoreError`] for a file that is damaged, or rows of another sweep.
    pub fn table(&self) -> Result<RecordBatch, StoreError> {
        self.own(&self.all()?)
    }

    fn own(&self, all: &RecordBatch) -> Result<RecordBatch, StoreError> {
        select(all, &self.plan).map_err(|reason| FileError::new(&self.target, reason).into())
    }

    /// Everything stored so far, the sweep's own rows first.
    fn all(&self) -> Result<RecordBatch, StoreError> {
        let mut tables = self.parts()?;
        if self.target.exists() {
            tables.insert(0, parquet::read(&self.target)?);
        }
        tables.push(self.pending_table());
        merge(&tables, &self.plan).map_err(|reason| FileError::new(&self.target, reason).into())
    }

    /// Makes one file of the rows, less those of other experiments that are to go, and returns the sweep's own in the
    /// order of the plan.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot; then everything stays where it was.
    pub fn finish(self) -> Result<RecordBatch, StoreError> {
        let all = self.all()?;
        let own = self.own(&all)?;
        let stays = |id: &&str| self.others != Others::Prune || !self.foreign.contains(*id);
        let staying: Vec<String> = tasks(&all).into_iter().filter(stays).map(str::to_string).collect();
        let staying = select(&all, &staying).map_err(|reason| FileError::new(&self.target, reason))?;
        parquet::write(&self.target, &staying)?;
        // Parts that stay behind are read once more and change nothing.
        let _ = fs::remove_dir_all(&self.folder);
        Ok(own)
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
