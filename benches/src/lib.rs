//! Benchmarks and evaluations.
//!
//! The measurements are programs in `src/bin`, each with `--help` and `--json`; here is what they share:
//! * [`dumbbell`]: the network on which this simulator and ns-2 are compared;
//! * [`traffic`]: flows through the core of the proxy, without any network;
//! * [`gateway`]: downloads through it over links of finite rate;
//! * [`week`]: a gateway's life for days, in virtual time;
//! * [`throughput`]: the daemons against a bare [`forwarder`] between two TUN devices;
//! * [`cpu`]: CPU time. [`heap`]: memory.
pub mod cpu;
pub mod dumbbell;
pub mod forwarder;
pub mod gateway;
pub mod heap;
pub mod throughput;
pub mod traffic;
pub mod week;
