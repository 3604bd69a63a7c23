//! Handoffs as a Linux host sees them: the host's half of TCP-HO.
//!
//! The kernel tells by rtnetlink of every link and address that comes or goes. An interface that works and has an
//! address, and did not before, or has another one now, means that a handoff is complete: the time for
//! [`HandoffHost`](prismux_tcp_ho::HandoffHost) to tell the peers.
//!
//! * [`LinkWatch`]: the socket, what it reads, and what that means.
//! * [`InterfaceTable`]: the interfaces as far as known, and which news make a handoff. Pure.
//! * [`LinkNews`]: one message of the kernel. Parsing it never panics.
//! * [`Estimates`]: how fast an interface is, as configured or as its driver says.
mod estimates;
mod news;
mod table;
mod watch;

pub use estimates::Estimates;
pub use news::LinkNews;
pub use table::{InterfaceTable, Move};
pub use watch::{Handoff, LinkWatch, WatchCounters};

#[cfg(test)]
mod tests;
