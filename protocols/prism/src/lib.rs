//! PRISM: a proxy stripes one TCP flow over the links of a community of hosts and repairs the ACK stream.
//!
//! The machine, in the order a packet meets it:
//! * [`Proxy`] keeps flows and links and hands out [`Verdict`]s. `P` is whatever the host calls a packet, so the
//!   simulator and Linux run the same code.
//! * [`scheduler`]: ADAS and its rivals choose a link for each data packet.
//! * [`link_table`]: weight, packets in flight, NIP and hRTT of each link.
//! * [`ProxyConfig`]: every choice as a named setting; `paper()` is the published system.
#![no_std]

extern crate alloc;

pub mod config;
pub mod link_table;
mod proxy;
pub mod scheduler;
pub mod status;
pub mod verdict;

pub use config::{LinkConfig, ProxyConfig, RpcMode, WeightUnit};
pub use link_table::LinkId;
pub use proxy::{Proxy, ProxyEvent, ProxyInput};
pub use scheduler::SchedulerKind;
pub use status::{LinkState, LinkStatus, ProxyCounters};
pub use verdict::{AckRewrite, DataRewrite, DropReason, SackRewrite, Verdict};
