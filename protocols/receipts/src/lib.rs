//! A link measured at its own ends: the near end numbers the packets of a tunnel, the far end returns receipts.
//!
//! * [`Receipt`]: what came, when, and how it was marked; its form on the wire (`receipt`, `varint`).
//! * [`ReceiptWriter`]: the far end. It says when a receipt is due, and keeps receipts cheap.
//! * [`LinkMeter`]: the near end. From receipts it knows which packets came and which are lost (`records`,
//!   `reordering`), how fast they came (`rate`), and how long they took (`delay`).
//! * [`Liveness`]: whether a link still answers. [`WayBack`]: which way a member's packets take when its own does not.
//!
//! A packet's number is the sequence number of its GRE header (RFC 2890). Whether the two ends number and receipt
//! at all is agreed on elsewhere; an [epoch](Receipt::epoch) names the agreement.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod estimate;
mod liveness;
mod meter;
mod ranges;
mod receipt;
mod varint;
mod way_back;
mod windowed;
mod writer;

pub use estimate::{LinkEstimate, MeterCounters, UnderWay};
pub use liveness::{Liveness, MAX_RECEIPT_WAIT, STUCK, UNANSWERED};
pub use meter::{LinkMeter, MeterEvent, Passage, Refusal};
pub use receipt::{
    Arrival, EcnCounts, MAX_ARRIVALS, MAX_RANGES, MESSAGE_BYTES, NumberRange, Receipt, ReceiptError,
};
pub use way_back::{Question, WayBack, WayBackEvent};
pub use writer::{Arrived, ReceiptWriter, WriterConfig, WriterCounters};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
