//! What people run: the proxy and the member, the same protocol machines that the simulator drives behind TUN devices
//! and tunnels.
//!
//! * [`proxy`] and [`member`]; [`config`]: their files; [`status`]: their status page; [`doctor`]: what they need.
//! * [`tunnel`]: GRE, GRE in UDP, and the registration of members inside them. [`icmp`]: packets that do not fit.
//! * `accounts`: what links have carried, over restarts. [`commands`]: what they are asked to do while they run.
//!   `revoked`: whose rights have been taken away.
//! * `carrier`: what proxies and homes do alike. [`daemon`]: the loop that all run in. `events`: what they tell.
//!   [`counters`]: what was dropped, and why.
//! * [`logging`]: structured logs. [`metrics`]: a status page for Prometheus. [`figures`]: what its links carry now.
//!   [`explain`]: whether a link is used, and why not, in words. `web`: metrics and the web page over HTTP.
//!   `workers`: threads that seal, send and open.
//! * [`fleet`]: gateways that share a registry of homes.
//! * [`lending`]: offering an uplink to neighbours, and finding who offers one.
//! * [`sender`]: TCP-PRISM for the kernel's TCP, on the hosts that send.
//! * [`route`]: a host of an ad-hoc network.
//! * [`replay`]: a proxy's recording, decided once more.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod accounts;
mod battery;
mod carrier;
pub mod commands;
pub mod config;
pub mod counters;
pub mod daemon;
mod device;
pub mod doctor;
mod events;
pub mod explain;
pub mod figures;
pub mod fleet;
pub mod footprint;
pub mod gateway;
pub mod home;
pub mod icmp;
pub mod lending;
pub mod logging;
pub mod member;
pub mod metrics;
pub mod proxy;
mod receipts;
pub mod replay;
mod revoked;
pub mod route;
pub mod sender;
pub mod statements;
pub mod status;
pub mod tunnel;
#[cfg(test)]
mod unnamed;
mod web;
mod whole_file;
mod workers;
