//! The air that hosts share: radio propagation, reception, 802.11 medium access, mobility.
//!
//! ```text
//!  send ──> [interface queue] ──> back-off, RTS, CTS, data, ACK ──> frames ──> who hears, how loud ──> events
//! ```
//!
//! Pure: time and packets are arguments, randomness comes from named streams. The simulator runs it under virtual time.
//!
//! The map, from below:
//! * [`RadioConfig`], [`Propagation`], [`Fading`], [`Reception`], [`Modulation`]: how far a frame is heard, how loud,
//!   how long, and what becomes of frames that overlap.
//! * [`Mobility`] and its models and files: where hosts are.
//! * `field`: who is near enough to hear a frame, so that it costs nothing for the others.
//! * [`MacConfig`] and `mac`: one machine for each host.
//! * [`AddressResolution`]: how hosts learn which radio has the address of a neighbour.
//! * [`EnergyConfig`], [`DutyCycle`]: what radios draw, when they sleep, how long batteries last.
//! * [`Association`]: which base station a host belongs to. [`cells`]: what becomes of its packets meanwhile.
//!   [`Rings`]: who is how many hops away.
//! * [`Air`]: all of them together. [`AirEvent`]: what it tells. [`HostStats`]: what it has counted.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod air;
mod association;
pub mod cells;
mod energy;
mod error_rate;
mod event;
mod field;
mod hops;
mod ht;
mod mac;
mod mobility;
mod propagation;
mod radio;
mod rates;
mod reorder;
mod resolution;
mod schedule;
mod stats;
mod wire;

pub use air::setup::{AirConfig, AirError, ChannelConfig, HostConfig, Role};
pub use air::{Air, HostId};
pub use association::{Association, AssociationConfig};
pub use energy::{DutyCycle, EnergyConfig};
pub use event::{AirEvent, Hearing, Miss};
pub use hops::Rings;
pub use ht::HtFormat;
pub use mac::config::{AccessRules, Aggregation, ArfConfig, Coordination, MacConfig, QueueRule, RateControl};
pub use mac::point::PollingConfig;
pub use mac::slots::SlotConfig;
pub use mac::{Frame, FrameKind, Outgoing, Priority};
pub use mobility::{
    Area, GaussMarkov, Leg, Manhattan, Mobility, Movement, MovementError, Position, RandomWaypoint,
    WaypointStart, parse_csv, parse_ns2,
};
pub use propagation::{Antenna, Fading, Propagation};
pub use radio::{Modulation, Preamble, RadioConfig, Reception};
pub use resolution::{AddressResolution, ArpMessage, ArpOperation};
pub use stats::HostStats;
