//! What many runs make together: tables, comparisons, sweeps.
//!
//! * [`table`]: results as Arrow tables, with units and birth in the metadata.
//! * [`run`]: one run of a scenario on a backend. [`claims`]: published results, repeated and judged.
//! * [`jobs`]: many runs on all processors.
//! * [`variant`], [`compare`]: several ways of using the same links, side by side.
//! * [`mixes`]: random mixes of links, simulated. [`rough`]: links as users have them.
//! * [`text_table`]: tables for people.
//! * [`measures`]: figures that are read off a result. [`statistics`]: means and intervals; [`repetition`]: runs that
//!   differ in nothing. [`number`]: numbers for people.
//! * [`policies`]: policies from outside the crates, and how results name them.
//! * [`sweep`]: a scenario at every point of some axes, into one Parquet file.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod agreement_mixes;
pub mod claims;
pub mod compare;
mod digest;
pub mod jobs;
pub mod measures;
pub mod mixes;
pub mod number;
pub mod policies;
mod record;
pub mod repetition;
pub mod rough;
pub mod run;
pub mod statistics;
pub mod sweep;
pub mod table;
pub mod text_table;
pub mod variant;

pub use agreement_mixes::{bbr_mixes, mptcp_mixes};

/// Rows of named columns, as all of these functions give and take them.
pub type Rows = arrow_array::RecordBatch;
