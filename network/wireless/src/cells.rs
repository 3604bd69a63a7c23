//! Handoff between base stations: what stations and base stations do with packets while hosts move among them.
//!
//! * [`Station`]: a host that belongs to one base station at a time, measures all of them, and keeps its packets while
//!   it changes.
//! * [`BaseStation`]: what forwards for the stations that belong to it, and for those behind them.
//! * [`Relaying`]: whom a station goes over that hears no base station, and what it sends on for others.
//!
//! They say what becomes of each packet; whoever drives them, simulator or lab, carries it out.
mod base_station;
mod relaying;
mod station;

pub use base_station::{BaseStation, Inwards};
pub use relaying::{Gateway, Relaying};
pub use station::{Attachment, Outwards, Settled, Station};
