//! What is still under way when a member leaves.
use prismux_units::{Duration, Instant};

/// A member that has left gets nothing more, but what was sent to it before is still on its way.
#[derive(Debug)]
pub(super) struct Departure {
    /// It ends by then, whatever comes.
    end: Instant,
    /// When data last came.
    latest: Instant,
    /// The proxy's signature is worth waiting for until then.
    awaited: Option<Instant>,
}

/// Nothing for so long: nothing is under way any more.
const QUIET: Duration = Duration::from_millis(300);
/// A proxy that knows of statements signs within this time.
const MAX_SIGNING: Duration = Duration::from_secs(1);
/// A departure takes no longer than this.
const MAX_DURATION: Duration = Duration::from_secs(2);

impl Departure {
    /// The member has said goodbye, and may await the proxy's signature.
    pub fn begin(now: Instant, awaits_signature: bool) -> Self {
        let awaited = awaits_signature.then_some(now + MAX_SIGNING);
        Self { end: now + MAX_DURATION, latest: now, awaited }
    }

    /// Nothing is worth waiting for.
    pub fn at_once(now: Instant) -> Self {
        Self { end: now, latest: now, awaited: None }
    }

    /// Data has come.
    pub fn on_data(&mut self, now: Instant) {
        self.latest = now;
    }

    /// The proxy has signed.
    pub fn settled(&mut self) {
        self.awaited = None;
    }

    /// When the member ends.
    pub fn deadline(&self) -> Instant {
        self.awaited.unwrap_or(self.latest).max(self.latest + QUIET).min(self.end)
    }
}
