//! PRISM: a proxy stripes one TCP flow over the links of a community of hosts and repairs the ACK stream.
//!
//! The machine, in the order a packet meets it:
//! * [`Proxy`] keeps flows and links and hands out [`Verdict`]s. `P` is whatever the host calls a packet, so the
//!   simulator and Linux run the same code.
//! * [`scheduler`]: ADAS (the paper's adaptive scheduler) and its rivals choose a link for each data packet.
//! * [`link_table`]: for each link its weight W, the number N of packets in flight, NIP (the normalised number of
//!   packets in flight, N / W rounded down) and hRTT (half the round-trip time, the expected arrival time).
//! * `reverse_path`: the paper's RPC (reverse path controller): identification, loss detection per link, states,
//!   re-sequencing, rewriting.
//! * [`link_model`]: beyond the paper, what each link can carry.
//! * [`TcpPrism`]: the sender's part, AIPD (additive increase and proportional decrease).
//! * [`ProxyConfig`]: every choice as a named setting; `paper()` is the published system.
//!
//! Plain data (`flow`, `shared`, [`link_table`]) lies below what is done with it (`data_path`, `reverse_path`,
//! `pacing`, ...): an act is a function of one flow, of what all flows share, and of the time.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod blame;
pub mod config;
mod data_path;
mod dispatch;
mod ending;
mod events;
mod flight;
mod flow;
mod flow_table;
mod hystart;
mod ids;
pub mod link_model;
mod link_selection;
pub mod link_table;
mod local_repair;
mod micros;
mod overdue;
mod pacing;
mod probe;
mod proxy;
mod reinjection;
mod reverse_path;
pub mod scheduler;
mod shared;
mod spurious;
pub mod status;
mod tcp_prism;
mod transmit;
pub mod verdict;
mod window_limit;

pub use config::{LinkConfig, LinkStateKept, ProxyConfig, RpcMode, SchedulerKind, WeightUnit};
pub use events::ProxyEvent;
pub use ids::LinkId;
pub use proxy::{Proxy, ProxyInput};
pub use status::{FlowStatus, LinkState, LinkStatus, ProxyCounters, ReverseState};
pub use tcp_prism::TcpPrism;
pub use verdict::{AckRewrite, DataRewrite, DropReason, SackRewrite, Verdict};
