//! Policies from outside the protocol crates.
use crate::core::factory::NamedFactory;
use prismux_prism::scheduler::Scheduler;

/// Makes the scheduler of a proxy when its network is built.
pub type SchedulerFactory = NamedFactory<dyn Scheduler>;
