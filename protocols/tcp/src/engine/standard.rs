//! The sender of the RFCs, as selected by the switches: loss detection, recovery and timers.
//!
//! An acknowledgement passes the phases of `acking` in order. Plain state (`ack_context`, `probe`, `prr`, `rack`,
//! `undo`, `rates`, `delivery_rate`, `pacer`) lies below; what is done with it, one file for each mechanism, above:
//!
//! | file | does | RFC |
//! |---|---|---|
//! | `acking` | deliver, measure, detect, decide, adjust, arm | 5681, 6298 |
//! | `sending` | what to send next, and the note that it was sent | 6675, 3042 |
//! | `detect` | which segments are lost | 5681, 6582, 6675, 8985 |
//! | `recover` | entering, walking through and leaving recovery | 5681, 6582, 6675, 9937 |
//! | `timeout` | the timers | 6298, 8985 |
//! | `tail_probe` | tail loss probes | 8985 |
//! | `spurious` | taking back a spurious reduction | 3522, 3708, 4015, 5682 |
//! | `rate_based` | samples for and pacing by a rate-based congestion control | draft-ietf-ccwg-bbr |
//! | `notified` | recoveries that loss notices begin | |
//! | `path` | starting over on another path | |
//! | `write_off` | units given up through no fault of the path | |
mod ack_context;
mod acking;
mod delivery_rate;
mod detect;
mod notified;
mod pacer;
mod path;
mod probe;
mod prr;
mod rack;
mod rate_based;
mod rates;
mod recover;
mod sending;
mod spurious;
mod tail_probe;
mod timeout;
mod undo;
mod write_off;

use super::sender::Sender;
use alloc::boxed::Box;
use prismux_endpoint::Deadline;
use prismux_units::Instant;
use probe::Probe;
use prr::Prr;
use rack::Rack;
use rates::Rates;
use undo::Undo;

/// A sender and what the mechanisms of the RFCs remember.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Standard {
    pub(super) sender: Sender,
    reorder_at: Instant,
    probe: Probe,
    /// The window was the limit while this position was the next to send.
    limited_until: u64,
    /// Bytes that duplicate ACKs without SACK say have left the network.
    returned_bytes: u64,
    /// RFC 6675 rule 4: a rescue retransmission was made in this recovery.
    rescued: bool,
    /// What an old path held is being sent again, and no loss has been seen meanwhile.
    repairing_path: bool,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    /// For a paced or rate-based congestion control.
    rates: Option<Box<Rates>>,
    /// When the present path came into use. Transmissions before say nothing about it.
    path_since: Instant,
}

impl Standard {
    pub(super) fn new(sender: Sender) -> Self {
        let rates = Rates::wanted_by(&sender.congestion);
        Self {
            sender,
            reorder_at: Instant::MAX,
            probe: Probe::new(),
            limited_until: 0,
            returned_bytes: 0,
            rescued: false,
            repairing_path: false,
            rack: Rack::new(),
            prr: Prr::default(),
            undo: Undo::default(),
            rates,
            path_since: Instant::ZERO,
        }
    }

    /// Estimate of what is in the network: sent, less lost, less returned (RFC 6675 `pipe`).
    pub(super) fn pipe(&self) -> u64 {
        self.sender.board.in_flight().bytes.saturating_sub(self.returned_bytes)
    }

    /// The window is what limits sending.
    pub(super) fn note_window_limit(&mut self) {
        self.limited_until = self.sender.next.max(1);
    }

    /// The first timer, at [`Instant::MAX`] if none runs.
    pub(super) fn first_timer(&self) -> Deadline {
        let (mut at, mut why) = (self.sender.rto_at, "rto");
        if self.probe.at < Instant::MAX && self.probe.at <= at {
            (at, why) = (self.probe.at, "tlp");
        }
        if self.reorder_at < at {
            (at, why) = (self.reorder_at, "rack-reorder");
        }
        if let Some(rates) = &self.rates
            && rates.pacer.due < at
        {
            (at, why) = (rates.pacer.due, "pacing");
        }
        Deadline { at, why }
    }
}
