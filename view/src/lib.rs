//! The run viewer: what happened inside a recorded run, as a page in the browser.
//!
//! * [`read`]: a record (an event log) becomes a [`Run`]: series by path and flow, and what they are of.
//! * [`AirRecord`]: where the hosts of a radio network were, and who sent to whom.
//! * [`sample`]: series of any length, answered at the width of a screen. No extreme is lost and counts are kept.
//! * [`Answer`]: everything the page draws for one stretch of time of one run.
//! * [`server`]: the page and its answers over HTTP, to this machine alone. [`export`]: the same in one file that needs
//!   no server.
//!
//! The page itself (`page/`) is plain JavaScript on a canvas. It never sees single events unless it has zoomed in so
//! far that they fit on the screen.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod air;
mod answer;
mod backlog;
mod build;
mod decisions;
mod description;
mod export;
mod flow;
mod packets;
mod page;
mod paths;
mod rates;
mod read;
mod run;
pub mod sample;
mod server;

pub use air::{AirRecord, Hops, Track};
pub use answer::{Answer, Question};
pub use decisions::Decisions;
pub use export::export;
pub use packets::PacketRecord;
pub use rates::Rates;
pub use read::{RecordError, read};
pub use run::Run;
pub use server::{Server, Viewed};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
