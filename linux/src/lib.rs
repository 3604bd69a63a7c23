//! What the Linux hosts of prismux stand on: devices, sockets in batches, an event loop, the kernel's tables,
//! namespaces.
//!
//! * [`tun`]: TUN devices. [`offload`]: many segments per system call. [`batch`]: many datagrams. [`socket_option`]:
//!   options that the libraries lack.
//! * [`frame_socket`]: frames of an interface. [`packet`]: buffers from a pool. [`clock`],
//!   [`event_loop`]: time, waiting, stopping. [`local_time`]: the calendar.
//! * [`netconf`]: addresses, routes, rules by `ip`. [`netlink`]: the same by rtnetlink, many at a time.
//! * [`namespace`], [`privileges`], [`process`]: network namespaces, being allowed to make them, how processes begin
//!   in them.
//! * [`capabilities`], [`confinement`]: giving up what is needed no more: privileges, system calls, files.
//! * [`bpf`]: programs that run in the kernel.
//! * [`terminal`]: keys as they are typed. [`random`]: numbers that nobody can guess.
//! * [`handoff`]: links and addresses that come and go, and what TCP-HO's peers are told.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

pub mod batch;
pub mod bpf;
pub mod capabilities;
pub mod clock;
pub mod confinement;
mod error;
pub mod event_loop;
pub mod frame_socket;
pub mod handoff;
pub mod interrupted;
pub mod local_time;
pub mod namespace;
pub mod netconf;
pub mod netlink;
pub mod offload;
pub mod packet;
pub mod privileges;
pub mod process;
pub mod random;
pub mod socket_option;
pub mod terminal;
pub mod tun;

pub use error::SetupError;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
