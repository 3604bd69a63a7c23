//! Reading a record.
use crate::build::Builder;
use crate::run::Run;
use prismux_trace::event::{EVENTS_FILE, Event, Line, Record, RunDescription};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How to make a record, for whoever has none.
const REMEDY: &str = "record a run with `prismux run SCENARIO --record DIR` and view DIR";
/// How packet captures begin.
const CAPTURE: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Held in memory while reading.
const BUFFER_BYTES: usize = 1 << 20;

/// Why there is nothing to look at.
#[derive(Debug)]
pub enum RecordError {
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The folder or file is something else than a record.
    NotARecord(PathBuf, String),
    /// A line in the middle of the record is damaged.
    Damaged(PathBuf, u64, String),
    /// It records a run in which nothing happened.
    Empty(PathBuf),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => {
                write!(f, "cannot read {}: {error}\n  remedy: {REMEDY}", path.display())
            }
            Self::NotARecord(path, why) => {
                write!(f, "{} is no record of a run: {why}\n  remedy: {REMEDY}", path.display())
            }
            Self::Damaged(path, line, why) => write!(
                f,
                "{}, line {line}: not an event: {why}\n  remedy: the lines before it can be viewed: head -n {} \
                    {} > part.jsonl",
                path.display(),
                line - 1,
                path.display()
            ),
            Self::Empty(path) => write!(
                f,
                "{} records a run in which no packet moved\n  remedy: see that a flow starts before the run's \
                    end, then {REMEDY}",
                path.display()
            ),
        }
    }
}

impl std::error::Error for RecordError {}

/// Reads the record in the folder `path`, or the event log `path` itself.
///
/// A log that was cut short (a full disk, a run that was interrupted) is read as far as it goes, with a warning in
/// [`Run::warnings`].
///
/// # Errors
/// [`RecordError`], with a remedy.
pub fn read(path: &Path) -> Result<Run, RecordError> {
    let file = match path.is_dir() {
        true => path.join(EVENTS_FILE),
        false => path.to_path_buf(),
    };
    if path.is_dir() && !file.exists() {
        return Err(RecordError::NotARecord(path.to_path_buf(), format!("it holds no {EVENTS_FILE}")));
    }
    let opened = File::open(&file).map_err(|error| RecordError::Unreadable(file.clone(), error))?;
    let run = read_lines(BufReader::with_capacity(BUFFER_BYTES, opened), &file)?;
    if run.is_empty() {
        return Err(RecordError::Empty(file));
    }
    Ok(run)
}

/// Reads lines as they come, which is in order of time but for a few of the lab's; with those, once more, sorted.
fn read_lines(reader: impl BufRead + Seek, file: &Path) -> Result<Run, RecordError> {
    let mut lines = Lines { reader, file, number: 0, bytes: Vec::new() };
    let (mut builder, cut) = match lines.in_order()? {
        Some(read) => read,
        None => lines.sorted()?,
    };
    let ended = builder.ended;
    builder.warn_if(cut.is_some(), || {
        let line = cut.unwrap_or(0);
        format!("The record is cut short in its line {line}: the run was interrupted or the disk was full.")
    });
    builder.warn_if(cut.is_none() && !ended, || {
        "The record has no end: the run was interrupted, or is still going on.".to_string()
    });
    Ok(builder.finish())
}

/// A builder that has taken all lines, and the number of the last one where that was cut short.
type Built = (Builder, Option<u64>);

/// The lines of a record.
struct Lines<'a, R> {
    reader: R,
    file: &'a Path,
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead + Seek> Lines<'_, R> {
    /// The next line; nothing at the end.
    fn advance(&mut self) -> Result<bool, RecordError> {
        self.bytes.clear();
        self.number += 1;
        let read = self.reader.read_until(b'\n', &mut self.bytes);
        read.map(|bytes| bytes > 0).map_err(|error| RecordError::Unreadable(self.file.to_path_buf(), error))
    }

    /// The line as an event; `None` for a last line that was cut short.
    fn event(&self) -> Result<Option<Line<'_>>, RecordError> {
        match serde_json::from_slice(&self.bytes) {
            Ok(line) => Ok(Some(line)),
            Err(_) if self.bytes.last() != Some(&b'\n') => Ok(None),
            Err(error) => Err(RecordError::Damaged(self.file.to_path_buf(), self.number, error.to_string())),
        }
    }

    /// A builder for what the first line describes.
    fn begin(&mut self) -> Result<Builder, RecordError> {
        let file = self.file;
        let unreadable = |error| RecordError::Unreadable(file.to_path_buf(), error);
        self.reader.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        if self.reader.fill_buf().map_err(unreadable)?.starts_with(&CAPTURE) {
            let why = "it is a packet capture (pcapng); Wireshark opens it".to_string();
            return Err(RecordError::NotARecord(file.to_path_buf(), why));
        }
        self.number = 0;
        self.advance()?;
        let built = first_line(&self.bytes).and_then(Builder::new);
        built.map_err(|why| RecordError::NotARecord(file.to_path_buf(), why))
    }

    /// Takes the lines as they come; `None` as soon as one is earlier than the one before.
    fn in_order(&mut self) -> Result<Option<Built>, RecordError> {
        let (mut builder, mut latest) = (self.begin()?, 0);
        while self.advance()? {
            match self.event()? {
                Some(line) if line.time_ns < latest => return Ok(None),
                Some(line) => {
                    latest = line.time_ns;
                    builder.take(&line);
                }
                None => return Ok(Some((builder, Some(self.number)))),
            }
        }
        Ok(Some((builder, None)))
    }

    /// Takes the lines in order of time; those of the same time as they come.
    fn sorted(&mut self) -> Result<Built, RecordError> {
        let (mut builder, mut cut) = (self.begin()?, None);
        let mut lines: Vec<(u64, Vec<u8>)> = Vec::new();
        while self.advance()? {
            match self.event()?.map(|line| line.time_ns) {
                Some(time) => lines.push((time, std::mem::take(&mut self.bytes))),
                None => cut = Some(self.number),
            }
        }
        lines.sort_by_key(|(time, _)| *time);
        for (_, bytes) in lines {
            self.bytes = bytes;
            if let Some(line) = self.event()? {
                builder.take(&line);
            }
        }
        Ok((builder, cut))
    }
}

/// The description that a record begins with.
fn first_line(bytes: &[u8]) -> Result<RunDescription<'static>, String> {
    if bytes.is_empty() {
        return Err("the file is empty".to_string());
    }
    match serde_json::from_slice::<Record<'static>>(bytes) {
        Ok(Record { event: Event::RunStarted(description), .. }) => Ok(*description),
        Ok(_) => {
            Err("its first event is not run_started: it was written by an older version, or its beginning \
            is missing"
                .to_string())
        }
        Err(error) => Err(format!("its first line is not an event ({error})")),
    }
}
