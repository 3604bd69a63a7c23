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
//! * [`reuse`]: how many transmissions fit into a slot when only whole journeys count.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod cell;
mod reach;
pub mod reuse;
mod routes;
mod timeline;

pub use cell::{Cell, CellError, Placement};
pub use reach::Reach;
pub use routes::{Hop, Route, Routes};
pub use timeline::{ConflictRule, Timeline};
