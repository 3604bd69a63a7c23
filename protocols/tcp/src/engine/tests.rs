//! Unit tests of the engine's leaves; whole behaviours are in the crate's `tests/engine_*`.
mod congestion;
mod rtt;
mod scoreboard;
