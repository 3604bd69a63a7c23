//! PRISM: a proxy stripes one TCP flow over the links of a community of hosts and repairs the ACK stream.
//!
//! The machine, in the order a packet meets it:
//! * [`Proxy`] keeps flows and links and hands out [`Verdict`]s. `P` is whatever the host calls a packet, so the
//!   simulator and Linux run the same code.
//! * [`scheduler`]: ADAS and its rivals choose a link for each data packet.
//! * [`link_table`]: weight, packets in flight, NIP and hRTT of each link.
//! * `reverse_path`: the paper's RPC: identification, loss detection per link, states, re-sequencing, rewriting.
//! * [`link_model`]: beyond the paper, what each link can carry.
//! * [`TcpPrism`]: the sender's part.
//! * [`ProxyConfig`]: every choice as a named setting; `paper()` is the published system.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod backlog;
pub mod config;
mod events;
mod flow;
mod flow_table;
mod forward;
pub mod link_model;
pub mod link_table;
mod local_repair;
mod micros;
mod needless;
mod parking;
mod probe;
mod proxy;
mod reverse_path;
pub mod scheduler;
pub mod status;
mod tcp_prism;
pub mod verdict;
mod window_control;

pub use config::{LinkConfig, ProxyConfig, RpcMode, WeightUnit};
pub use events::ProxyEvent;
pub use flow::ReverseState;
pub use link_table::LinkId;
pub use proxy::{Proxy, ProxyInput};
pub use scheduler::SchedulerKind;
pub use status::{FlowStatus, LinkState, LinkStatus, ProxyCounters};
pub use tcp_prism::TcpPrism;
pub use verdict::{AckRewrite, DataRewrite, DropReason, SackRewrite, Verdict};
