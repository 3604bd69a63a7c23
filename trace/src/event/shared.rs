//! One event log for several observers.
use super::json_lines::JsonLines;
use super::sink::EventSink;
use super::vocabulary::Event;
use prismux_units::Instant;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A log that several observers write to, on whatever threads they live: clones are handles of the same log.
///
/// Lines are whole, whoever writes them. Observers that look at their clocks before they get their turn may leave lines
/// a moment out of order; readers sort by time.
#[derive(Clone)]
pub struct SharedLog(Arc<Mutex<Option<Log>>>);

/// The log itself.
type Log = JsonLines<Box<dyn Write + Send>>;

impl SharedLog {
    /// A log into `writer`, which should be buffered.
    pub fn new(writer: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(Some(JsonLines::new(writer)))))
    }

    /// Ends the log; what other handles write from here on is forgotten.
    ///
    /// # Errors
    /// The first error that any write met.
    pub fn finish(&self) -> io::Result<()> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        log.map_or(Ok(()), |log| log.finish().map(drop))
    }
}

impl EventSink for SharedLog {
    fn event(&mut self, at: Instant, event: &Event<'_>) {
        if let Some(log) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            log.event(at, event);
        }
    }
}

impl fmt::Debug for SharedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedLog")
    }
}
