//! Benchmarks and evaluations.
//!
//! The measurements are programs in `src/bin`, each with `--help` and `--json`; here is what they share:
//! * [`mixes`]: random mixes of links, and what PRISM makes of them;
//! * [`dumbbell`]: the network on which this simulator and ns-2 are compared;
//! * [`traffic`]: flows through the core of the proxy, without any network;
//! * [`cpu`]: CPU time; [`table`]: plain tables.
pub mod cpu;
pub mod dumbbell;
pub mod mixes;
pub mod table;
pub mod traffic;
