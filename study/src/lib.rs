//! What many runs make together: tables, comparisons, sweeps.
//!
//! * [`table`]: results as Arrow tables, with units and birth in the metadata.
//! * [`jobs`]: many runs on all processors.
//! * [`compare`]: several ways of using the same links, side by side.
//! * [`measures`]: figures that are read off a result.
//! * [`sweep`]: a scenario at every point of some axes, into one Parquet file.

pub mod compare;
pub mod jobs;
pub mod measures;
pub mod sweep;
pub mod table;

/// Rows of named columns, as all of these functions give and take them.
pub type Rows = arrow_array::RecordBatch;
