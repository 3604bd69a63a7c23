//! What the caller of a machine tells it of interfaces.
use prismux_units::Instant;

/// What uses interfaces and hears when they come and go.
pub trait LinkUser {
    /// Whether anything over this interface is alive, or nothing wants to be. A socket there that is not may be
    /// replaced by one on the same interface.
    fn link_is_alive(&self, link: usize) -> bool;
    /// An interface is gone: what goes over it waits until it is back.
    fn link_down(&mut self, now: Instant, link: usize);
    /// An interface is (back) here.
    fn link_up(&mut self, now: Instant, link: usize);
}
