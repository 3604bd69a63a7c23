//! The Linux life of prismux: the same protocol machines that the simulator drives, behind TUN devices and tunnels.
//!
//! The daemons:
//! * [`proxy`] and [`member`]; [`config`]: their files; [`status`]: their status page; [`doctor`]: what they need.
//!
//! What they stand on, from the kernel up:
//! * [`tun`]: TUN devices. [`netconf`]: addresses, routes, rules. [`batch`]: many datagrams per system call.
//! * [`packet`]: buffers from a pool. [`clock`], [`event_loop`]: time, waiting, stopping.
//! * [`tunnel`]: GRE, GRE in UDP, and the registration of members inside them. [`icmp`]: packets that do not fit.
//! * [`counters`]: what was dropped, and why. [`logging`]: structured logs.
//!
//! For hosts that move:
//! * [`handoff`]: links and addresses that come and go, and what TCP-HO's peers are told.
//!
//! And to see how good it is:
//! * [`replay`]: a proxy's recording, decided once more.
//! * [`lab`]: a planned network of namespaces, run and measured.
//! * [`throughput`]: the datapath against a bare [`forwarder`].

pub mod batch;
pub mod clock;
pub mod config;
pub mod counters;
pub mod daemon;
mod device;
pub mod doctor;
pub mod event_loop;
pub mod forwarder;
pub mod handoff;
pub mod icmp;
pub mod lab;
pub mod logging;
pub mod member;
pub mod netconf;
pub mod packet;
pub mod proxy;
pub mod replay;
mod socket_option;
pub mod status;
pub mod throughput;
pub mod tun;
pub mod tunnel;
