//! One cell with a base station, and two ways to use its only channel.
//!
//! In the *cellular model* every host talks to the base station; in the *peer-to-peer model* hosts relay for one
//! another over short distances (Hsieh, PhD thesis, 2004, chapters 6 to 9). Time goes in slots of one packet.
//!
//! Pure: places, backlogs and random streams are arguments.
//!
//! The map, from below:
//! * [`Cell`]: where the hosts are, and the least range that connects them. [`Reach`]: who hears whom.
//! * [`Routes`]: shortest ways over peers to another host or to the nearest sink.
//! * [`Timeline`] and [`ConflictRule`]: which hops may share a slot.
//! * [`AssistedScheduler`], [`DualModeHost`], [`DualModeBase`]: what the base station does for peers.
//! * [`PowerModel`]: what a transmission costs.
//! * [`slots`]: all of them in virtual time, for packets that carry something.
//! * [`simulation`]: the same with datagrams of its own.
//! * [`reuse`]: how many transmissions fit into a slot when only whole journeys count.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod assisted;
mod cell;
mod dual_mode;
mod energy;
mod reach;
pub mod reuse;
mod routes;
pub mod simulation;
pub mod slots;
mod timeline;

pub use assisted::{AssistedScheduler, Period, Transmission};
pub use cell::{Cell, CellError, Placement};
pub use dual_mode::{DualModeBase, DualModeHost, DualModeSettings, Mode, Request};
pub use energy::PowerModel;
pub use reach::Reach;
pub use routes::{Hop, Route, Routes};
pub use timeline::{ConflictRule, Timeline};
