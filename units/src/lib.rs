//! Quantities of prismux: every time, rate, size and probability is a type with integer (or checked)
//! arithmetic and one text form, so that no bare number crosses a module boundary.
//!
//! * [`Instant`], [`Duration`]: nanoseconds since the start of the run.
//! * [`Rate`]: bits per second. [`ByteCount`]: bytes. Prefixes are SI only (`k` = 1000).
//! * [`Probability`]: a float in `[0, 1]`.
//!
//! Text forms: `"500 ms"`, `"1800 kbit/s"`, `"14 MB"`, `"0.6 %"` or `0.006`.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod bytes;
mod number;
mod probability;
mod rate;
mod time;

pub use bytes::ByteCount;
pub use number::ParseQuantityError;
pub use probability::Probability;
pub use rate::Rate;
pub use time::{Duration, Instant};

#[cfg(test)]
mod tests;
