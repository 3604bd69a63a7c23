//! An interface that sleeps and wakes.
use super::Pipe;
use prismux_units::Instant;

impl Pipe {
    /// Stops asking and timing: the interface sleeps. Data that still comes is taken.
    pub fn freeze(&mut self) {
        if !self.frozen {
            self.frozen = true;
            self.counters.freezes += 1;
        }
    }

    /// Asks again; what was outstanding when the pipe froze is written off.
    pub fn thaw(&mut self, now: Instant) {
        if self.frozen {
            self.frozen = false;
            self.timers.heard(now);
            self.write_off();
        }
    }

    /// Whether the pipe is frozen.
    pub const fn is_frozen(&self) -> bool {
        self.frozen
    }
}
