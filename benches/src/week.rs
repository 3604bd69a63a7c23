//! A gateway's life for days, in virtual time: what it takes must not grow, and nothing may stay stuck.
//!
//! A community's gateway in the simulator: a PRISM proxy in today's default configuration with members whose uplinks
//! are slow, of all kinds and now and then silent, away or slower; senders of today behind it, whose downloads come
//! and go as those of people do, more in the evening than at night. Everything follows from one seed.
//! * [`network`]: the nodes and links;
//! * [`life`]: downloads and faults, by the second;
//! * [`hour`]: what is recorded each hour;
//! * [`trend`]: growth, told apart from the times of day; [`verdict`]: what must hold;
//! * [`picture`]: the recorded days as SVG.
mod connections;
mod faults;
pub mod hour;
pub mod life;
mod lines;
pub mod network;
pub mod picture;
pub mod trend;
pub mod verdict;
