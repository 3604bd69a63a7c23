//! What many runs make together: tables, comparisons, sweeps.
//!
//! * [`table`]: results as Arrow tables, with units and birth in the metadata.
//! * [`jobs`]: many runs on all processors.
//! * [`compare`]: several ways of using the same links, side by side.

pub mod compare;
pub mod jobs;
pub mod table;
