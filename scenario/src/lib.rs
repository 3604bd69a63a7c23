//! A scenario file becomes a plan: the one description of an experiment that every host builds from. Knows no host.
//!
//! * [`ScenarioFile`]: the text of a file, its variants and overrides; [`ScenarioFile::scenario`] reads it into
//!   a [`Scenario`] or says everything that is wrong with it, by line.
//! * [`registry`]: every name a file may use. [`keys`]: every key, with its default and meaning.
//! * [`canonical`] and [`hash`]: what makes two plans the same.
//! * [`shipped`]: the scenarios that come with prismux.
//!
//! ```
//! use prismux_scenario::ScenarioFile;
//! let text = r#"
//!     duration = "10 s"
//!     [nodes]
//!     a = { kind = "host" }
//!     b = { kind = "host" }
//!     [links]
//!     wire = { between = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms" }
//!     [flows]
//!     file = { from = "a", to = "b", bytes = "1 MB" }
//! "#;
//! let file = ScenarioFile::from_text("example.toml", text);
//! let scenario = file.scenario(None, &["links.wire.delay=300ms"]).unwrap();
//! assert_eq!(scenario.plan.links[0].forward.link.delay.to_string(), "300 ms");
//! ```
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod canonical;
mod check;
pub mod diagnostic;
mod document;
mod file;
pub mod keys;
pub mod model;
mod read;
pub mod registry;
pub mod shipped;

pub use canonical::{canonical, hash};
pub use diagnostic::{Diagnostic, ScenarioError};
pub use file::ScenarioFile;
pub use model::Scenario;
