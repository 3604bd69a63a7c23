//! Writing off what is outstanding when its fate says nothing about the path.
use super::core::Engine;
use super::interface::Phase;
use super::ns2::Ns2;
use super::scoreboard::Scoreboard;
use super::undo::Undo;
use prismux_units::Instant;

impl Engine {
    /// Forgets everything outstanding: it counts neither as delivered nor as lost, and the timers stop. Window and RTT
    /// estimates stay; a recovery under way ends as if it were complete.
    ///
    /// For a host that stopped listening by its own choice (a radio put to sleep): what was under way then is gone, and
    /// the path is not to blame. The units must not be reported as returned afterwards.
    pub fn write_off(&mut self) {
        if self.phase != Phase::Open {
            self.end_recovery();
        }
        self.board = Scoreboard::new();
        self.acked = self.next;
        self.recovery_point = self.next;
        self.urgent = None;
        self.dup_acks = 0;
        self.returned_bytes = 0;
        self.rescued = false;
        self.limited_until = 0;
        self.undo = Undo::default();
        self.ns2 = Ns2::default();
        self.cancel_probe();
        self.forget_probe();
        self.rto_at = Instant::MAX;
        self.reorder_at = Instant::MAX;
    }
}
