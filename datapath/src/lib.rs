//! The Linux life of prismux: the same protocol machines that the simulator drives, behind TUN devices and
//! tunnels.
//!
//! * [`tun`]: TUN devices. [`netconf`]: addresses, routes, rules.
//! * [`lab`]: a planned network of namespaces, run and measured.
//! * [`clock`]: the monotonic clock as [`prismux_units::Instant`].

pub mod batch;
pub mod clock;
pub mod config;
pub mod event_loop;
pub mod lab;
pub mod netconf;
pub mod packet;
mod socket_option;
pub mod tun;
pub mod tunnel;
