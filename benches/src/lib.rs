//! Benchmarks and evaluations.
//!
//! The measurements are programs in `src/bin`, each with `--help` and `--json`; here is what they share:
//! * [`mixes`]: random mixes of links, and what PRISM makes of them;
//! * [`table`]: plain tables.
pub mod mixes;
pub mod table;
