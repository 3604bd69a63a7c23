//! Events as text: one JSON object per line.
use super::sink::EventSink;
use super::vocabulary::Event;
use prismux_units::Instant;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};

/// One line of an event log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<'a> {
    /// Nanoseconds from the start of the run.
    pub time_ns: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event<'a>,
}

/// Writes events as JSON lines. The first write error is kept and ends the log; [`JsonLines::finish`] returns it.
#[derive(Debug)]
pub struct JsonLines<W: Write> {
    writer: W,
    error: Option<io::Error>,
}

impl<W: Write> JsonLines<W> {
    /// A log into `writer`, which should be buffered.
    pub const fn new(writer: W) -> Self {
        Self { writer, error: None }
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// The first error that any write met.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.flush().map(|()| self.writer),
        }
    }
}

impl<W: Write> EventSink for JsonLines<W> {
    fn event(&mut self, at: Instant, event: &Event<'_>) {
        #[derive(Serialize)]
        struct Line<'e> {
            time_ns: u64,
            #[serde(flatten)]
            event: &'e Event<'e>,
        }
        if self.error.is_none() {
            let written = serde_json::to_writer(&mut self.writer, &Line { time_ns: at.as_nanos(), event });
            let result = written.map_err(io::Error::from).and_then(|()| self.writer.write_all(b"\n"));
            self.error = result.err();
        }
    }
}

/// Reads an event log back.
///
/// # Errors
/// When reading fails or a line is not an event; the message carries the line number.
pub fn read_json_lines(reader: impl BufRead) -> io::Result<Vec<Record<'static>>> {
    let mut records = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let record = serde_json::from_str(&line?)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {e}", index + 1)))?;
        records.push(record);
    }
    Ok(records)
}
