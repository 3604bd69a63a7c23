//! What a run tells the world: result columns, typed events, and their encoders.
//!
//! * [`results`]: one [`RunResult`](results::RunResult) per run, the same columns from simulator and lab.

pub mod results;
