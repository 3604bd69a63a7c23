//! Policies from outside the protocol crates.
use prismux_prism::scheduler::Scheduler;
use std::fmt;
use std::sync::Arc;

/// Makes the scheduler of the proxy that is named.
type Make = dyn Fn(&str) -> Box<dyn Scheduler> + Send + Sync;

/// Makes the scheduler of a proxy when its network is built.
#[derive(Clone)]
pub struct SchedulerFactory(Arc<Make>);

impl SchedulerFactory {
    /// From a function of the proxy's name.
    pub fn new(make: impl Fn(&str) -> Box<dyn Scheduler> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self, proxy: &str) -> Box<dyn Scheduler> {
        (self.0)(proxy)
    }
}

impl fmt::Debug for SchedulerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SchedulerFactory")
    }
}
