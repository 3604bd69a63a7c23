//! What makes policies that come from outside the crate for parts that have names.
use std::fmt;
use std::sync::Arc;

type Make<T> = dyn Fn(&str) -> Box<T> + Send + Sync;

/// Makes what a part of a run has of its own, when that part is made.
pub struct NamedFactory<T: ?Sized>(Arc<Make<T>>);

impl<T: ?Sized> NamedFactory<T> {
    /// From a function of the part's name: a flow's, or a proxy's.
    pub fn new(make: impl Fn(&str) -> Box<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self, part: &str) -> Box<T> {
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
