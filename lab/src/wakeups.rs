//! How late this machine wakes a program that sleeps. Daemons, applications and kernel share its processors with
//! whatever else runs here, and what waits for a processor is measured as if it waited on a link.
use crate::timing::{DelaySummary, Lateness};
use prismux_linux::clock::Clock;
use prismux_units::Duration;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// How long the thread sleeps at a time: 500 samples a second, at a cost that nothing notices.
const SLEEP: Duration = Duration::from_millis(2);

/// A thread of ordinary priority that sleeps and is woken.
#[derive(Debug)]
pub(crate) struct Wakeups {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Lateness>>,
}

impl Wakeups {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no room for another thread.
    pub fn watch() -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&over);
        let work = move || {
            let (clock, mut late) = (Clock::start(), Lateness::default());
            while !theirs.load(Ordering::Relaxed) {
                let due = clock.now() + SLEEP;
                std::thread::sleep(std::time::Duration::from_nanos(SLEEP.as_nanos()));
                late.record(clock.now().saturating_since(due));
            }
            late
        };
        let thread = std::thread::Builder::new().name("wakeups".to_owned()).spawn(work)?;
        Ok(Self { over, thread: Some(thread) })
    }

    /// Ends the thread and says how late it was woken.
    pub fn finish(mut self) -> DelaySummary {
        self.end().unwrap_or_default().summary()
    }

    fn end(&mut self) -> Option<Lateness> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.end();
    }
}
