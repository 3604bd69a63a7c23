//! TCP-DOOR: detection of out-of-order delivery, and response.
//!
//! In a mobile ad-hoc network routes break and change often. What was lost or late for that reason looks like
//! congestion to TCP. A packet that left earlier and arrives later tells of a new route, without any help of the
//! network: congestion responses of a moment ago were probably wrong, and new ones should wait.
//!
//! * [`Door`]: one end of a connection, as a watch of [`Connection`](prismux_tcp::Connection). The same machine serves
//!   both ends: `mark` numbers what leaves, `detect` compares what arrives (D1 for acknowledgements, D2 for data),
//!   `respond` freezes congestion control (R1) and takes back reductions (R2).
//! * [`DoorConfig`]: every choice as a named setting. [`Setting`]: the 56 of the published study.
//! * What freezing and taking back do to window and timer is TCP's own:
//!   [`Engine::freeze`](prismux_tcp::engine::Engine::freeze),
//!   [`Engine::restore`](prismux_tcp::engine::Engine::restore).
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod config;
mod detect;
mod door;
mod mark;
mod respond;
mod setting;

pub use config::{DoorConfig, MAX_TIMER_UNITS};
pub use door::{Door, DoorCounters};
pub use setting::{Configuration, SPANS, Setting};
