//! What senders get from outside the protocol crates.
use crate::core::factory::NamedFactory;
use prismux_mptcp::scheduler::CustomScheduler;
use prismux_ptcp::scheduler::Scheduler as PipeScheduler;
use prismux_r2cp::scheduler::Scheduler as RequestScheduler;
use prismux_tcp::engine::congestion::CustomControl;
use prismux_tcp::extension::SenderExtension;
use std::fmt;
use std::sync::Arc;

/// Makes what one sender has of its own, when its connection opens.
pub struct Factory<T: ?Sized>(Arc<dyn Fn() -> Box<T> + Send + Sync>);

/// Makes the extension of a sender.
pub type ExtensionFactory = Factory<dyn SenderExtension>;

/// Makes the congestion control of a sender, in place of the one that its configuration names.
pub type CongestionFactory = Factory<dyn CustomControl>;

/// Makes the scheduler of an MPTCP sender, in place of the one that its configuration names.
pub type SubflowSchedulerFactory = NamedFactory<dyn CustomScheduler>;

/// Makes the scheduler of a pTCP sender, which has none of its own.
pub type PipeSchedulerFactory = NamedFactory<dyn PipeScheduler>;

/// Makes the scheduler of an R²CP receiver, in place of the one that its configuration names.
pub type RequestSchedulerFactory = NamedFactory<dyn RequestScheduler>;

impl<T: ?Sized> Factory<T> {
    /// From a function.
    pub fn new(make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self) -> Box<T> {
        (self.0)()
    }
}

// Derived, it would ask for `T: Clone`.
impl<T: ?Sized> Clone for Factory<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Factory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}
