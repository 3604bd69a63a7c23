//! Sweeps: a scenario at every point of some axes, with several seeds, into one Parquet file.
//!
//! * [`axis`]: what varies. [`plan`]: the tasks, each with an id that says all that decides its result.
//! * [`rows`]: results as rows. [`parquet`]: these in files. [`merge`]: several files as one.
//! * [`store`]: where results go as they finish, and what is there already. [`local`]: the threads of this machine.
//! * [`effect`]: whether seeds and axes changed anything.
//!
//! A task's row is the same wherever it ran, so results from several machines merge, and a task that ran twice counts
//! once.

pub mod axis;
pub mod effect;
pub mod local;
pub mod merge;
pub mod parquet;
pub mod plan;
pub mod rows;
pub mod store;

#[cfg(test)]
mod tests;

pub use axis::{Axis, AxisError};
pub use effect::Effects;
pub use plan::{PlanError, SweepRequest, Task, TaskMessage, plan};
pub use rows::Row;
pub use store::{Others, Store, StoreError};
