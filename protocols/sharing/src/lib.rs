//! How much of a link its owner shares, and when: pure, with calendar and counters as arguments.
//!
//! * [`Day`], [`LocalTime`]: the calendar. [`ResetDay`]: billing months that begin on any day.
//! * [`Ledger`]: accounts of bytes, by day, link and peer. [`journal`]: the lines that keep them over restarts.
//! * [`Statement`]: what was carried on a day, signed by both. [`settlement`]: how both come to it. [`records`]: the
//!   lines that keep it.
//! * [`Battery`]: one that is not emptied for others.
//! * [`Credit`]: what a borrower may owe.
//! * [`Terms`]: caps and hours. [`Share`]: a link under its terms, packet by packet. [`Rest`]: why it may not be used.
//! * [`Shaper`]: a rate that is not exceeded.
//! * [`Tier`]: which links stand by while others live.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod battery;
mod calendar;
mod credit;
mod hours;
pub mod journal;
mod ledger;
pub mod records;
pub mod settlement;
mod shaper;
mod share;
mod statement;
mod terms;
mod tier;

pub use battery::{Battery, BatteryFloor, Power, UnknownFloor};
pub use calendar::{BillingMonth, Day, LocalTime, ResetDay, UnknownDay};
pub use credit::{Balance, Credit, CreditLeft};
pub use hours::{Hours, UnknownHours};
pub use ledger::{Account, Carried, Entry, Ledger};
pub use shaper::Shaper;
pub use share::Share;
pub use statement::{Forged, KEY_BYTES, Party, SIGNATURE_BYTES, STATEMENT_BYTES, Signed, Signer, Statement};
pub use terms::{Allowance, Rest, Terms};
pub use tier::{Tier, UnknownTier};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
