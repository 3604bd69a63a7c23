//! The lab: a planned network made of Linux network namespaces on this machine, run in real time and measured into
//! the same columns as the simulator's.
//!
//! ```text
//!   namespace "server"                                   namespace "m1"
//!   kernel TCP ── TUN "wan" ┐                            ┌ TUN "wan" ── kernel forwarding
//!                           └─> prismux_link::Link ──────┘
//!                               one thread for all links
//! ```
//!
//! * [`orders`]: how a plan is carried out here. [`topology`]: addresses and routes, on paper. [`fabric`]: the same
//!   in the kernel.
//! * [`kernel_tcp`], [`sysctl`], [`mptcp`]: the kernel's settings.
//! * [`emulator`]: carries packets through the link model that the simulator uses too. [`timing`]: how precisely;
//!   [`wakeups`]: how promptly this machine serves everybody else.
//! * [`packets`]: what both know of packets, for the log of a run.
//! * [`air`]: a radio medium with medium access and routing between the devices of its hosts.
//! * [`traffic`]: kernel TCP and MPTCP bulk flows, UDP background load.
//! * [`daemons`]: proxies and members as processes of the real program; [`servers`]: of files;
//!   [`programs`]: the user's own.
//! * [`LabNetwork`]: a network for other programs. [`run`]: one run; [`prepare`]: its sockets; [`stage`]: its events;
//!   [`measure`]: from counters to columns.
//!
//! Everything is held by descriptors of this process, so that nothing outlives it, however it ends.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod air;
mod daemon_events;
mod daemons;
mod emulator;
mod error;
mod fabric;
mod kernel_tcp;
mod measure;
mod mptcp;
mod network;
mod orders;
mod packets;
mod prepare;
mod programs;
mod run;
mod servers;
mod stage;
mod status_pages;
mod sysctl;
mod timing;
mod topology;
mod traffic;
mod wakeups;

pub use daemons::DaemonCommand;
pub use emulator::{DirectionReport, EmulatorReport};
pub use error::LabError;
pub use network::LabNetwork;
pub use prismux_linux::namespace::Namespace;
pub use prismux_linux::privileges::{Privileges, capable, ensure_privileges};
pub use run::{LabOptions, LabOutcome, run};
pub use timing::{DelaySummary, Lateness};
pub use traffic::tcp_info::TcpInfo;
pub use traffic::{ARRIVAL_CELL, Arrivals, FlowOutcome};
