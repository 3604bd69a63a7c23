//! What makes policies that come from outside the crate for parts that have names.
use prismux_units::Instant;
use std::fmt;
use std::sync::Arc;

/// For what a policy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Name of the flow, or of the proxy.
    pub name: &'a str,
    /// When the flow's application wants its data to have arrived; `None` where it does not say, and at a proxy, which
    /// no application tells.
    pub deadline: Option<Instant>,
}

type Make<T> = dyn Fn(Part<'_>) -> Box<T> + Send + Sync;

/// Makes what a part of a run has of its own, when that part is made.
pub struct NamedFactory<T: ?Sized>(Arc<Make<T>>);

impl<T: ?Sized> NamedFactory<T> {
    /// From a function of the part: a flow, or a proxy.
    pub fn new(make: impl Fn(Part<'_>) -> Box<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self, part: Part<'_>) -> Box<T> {
        (self.0)(part)
    }
}

// Derived, it would ask for `T: Clone`.
impl<T: ?Sized> Clone for NamedFactory<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for NamedFactory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedFactory")
    }
}
