//! The Linux life of prismux: the same protocol machines that the simulator drives, behind TUN devices and
//! tunnels.
//!
//! * [`tun`]: TUN devices. [`netconf`]: addresses, routes, rules.
//! * [`clock`]: the monotonic clock as [`prismux_units::Instant`].

pub mod batch;
pub mod clock;
pub mod config;
pub mod counters;
pub mod daemon;
mod device;
pub mod event_loop;
pub mod forwarder;
pub mod icmp;
pub mod lab;
pub mod logging;
pub mod member;
pub mod netconf;
pub mod packet;
pub mod proxy;
mod socket_option;
pub mod status;
pub mod throughput;
pub mod tun;
pub mod tunnel;
