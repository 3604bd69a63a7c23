//! Ad-hoc networks for the tests of routing protocols.
//!
//! * [`host`], [`letter`], [`read_hosts`], [`write_hosts`]: hosts by letter, for packet scripts.
//! * [`told`]: events in words. [`on_grid`]: a clock that goes in steps, so that scripts need not know of jitters.
//! * [`Graph`]: hosts that move, and links that lose, delay and reorder.
mod graph;
mod words;

pub use graph::{Account, Graph, Settings};
pub use words::{host, letter, on_grid, read_hosts, told, write_hosts};
