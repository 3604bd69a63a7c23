//! One direction of a link: a drop-tail queue, a serialiser and a channel.
//!
//! ```text
//!  enqueue ──> [queue] ──> serialiser (rate or delivery trace) ──> channel (delay, jitter, loss) ──> poll_delivery
//! ```
//!
//! Pure: time and packets are arguments, randomness comes from named streams. The simulator runs it under
//! virtual time, the lab under the wall clock.
//!
//! * [`LinkConfig`]: what a link is; [`LinkChange`] and [`ScheduledChange`]: how it changes.
//! * [`Link`]: the machine. Departure times are fixed when a packet is accepted, so a packet costs one
//!   delivery and nothing else; a rate change recomputes whatever still waits.
//! * [`Management`]: queues that drop or mark before they are full: RED, CoDel, FQ-CoDel, PIE.
//! * [`DeliveryTrace`]: Mahimahi packet-delivery traces; [`lte`] makes some like those of a phone in motion.
//! * [`Offer`]: what a link could have carried, its rate summed over time.
//! * [`LinkStats`]: counters that always balance (`offered + duplicated = delivered + dropped + inside`).
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod channel;
mod config;
mod link;
pub mod lte;
mod managed;
mod offer;
mod serialiser;
mod stats;
mod trace;

pub use config::{
    BDP_FLOOR_BYTES, GilbertElliott, Jitter, LinkChange, LinkConfig, LossModel, OutagePolicy, QueueLimit,
    ScheduledChange,
};
pub use link::{Delivery, DropReason, Dropped, Link};
pub use managed::{CoDel, FqCoDel, Management, PacketKind, Pie, Red};
pub use offer::Offer;
pub use stats::LinkStats;
pub use trace::{DeliveryTrace, OPPORTUNITY_BYTES, TraceError};
