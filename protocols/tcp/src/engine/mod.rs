//! Units outstanding, units returned: loss detection, RTT estimation, recovery and congestion control.
//!
//! The engine knows positions in a stream of 64-bit numbers, times, and what an acknowledgement says about both;
//! it knows no headers and holds no bytes. In TCP the units are bytes sent that return as ACKs; a receiver-driven
//! transport can let them be requests that return as data.
//!
//! * [`EngineConfig`]: every switch. [`Send`], [`SendLimits`], [`Ack`], [`LossNotice`], [`AckOutcome`]: the interface.
//! * `core`: the [`Engine`] itself, its state and read-outs. `sending`: what to send next and the note that it was sent.
//!   `acking`: an acknowledgement, phase by phase. `timeout`: the timers.
//! * `scoreboard`: outstanding segments. `rtt`: RTT and timeout (RFC 6298).
//! * `detect`: which segments are lost (RFC 6675, RFC 6582, RFC 8985 with `rack`). `probe`: tail loss probes (RFC 8985).
//! * `recover`: entering and leaving recovery. `prr`: how the window comes down (RFC 6937). `undo`: taking back a
//!   reduction that was spurious (RFC 3522, RFC 3708, RFC 5682). `notice`: explicit loss notices. `write_off`: units given up
//!   through no fault of the path.
//!   `path`: starting over on another path.
//! * [`congestion`]: NewReno (RFC 5681), CUBIC (RFC 9438), HyStart++ (RFC 9406).
//! * `ns2`: the senders of ns-2, copied in behaviour.
//!
//! Driving it: after every [`Engine::on_ack`], [`Engine::on_timeout`] or change of the limits, call
//! [`Engine::poll_send`] until it answers `None`, transmit each answer and confirm it with [`Engine::on_sent`].
mod acking;
mod audit;
mod config;
pub mod congestion;
mod core;
mod delivery;
mod detect;
mod interface;
mod notice;
mod ns2;
mod path;
mod probe;
mod prr;
mod rack;
mod recover;
mod rtt;
mod scoreboard;
mod sending;
mod timeout;
mod undo;
mod write_off;

pub use self::core::Engine;
pub use config::{CongestionKind, EngineConfig, HyStartKind, RecoveryStyle, RtoStyle, WindowReduction};
pub use interface::{
    Ack, AckOutcome, EngineCounters, EngineMetrics, LossNotice, Phase, SackRanges, Send, SendKind, SendLimits,
};

pub use path::{PathChange, PathUpdate};

#[cfg(test)]
mod tests;
