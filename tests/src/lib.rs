//! Workspace-wide tests; see `tests/`. Here are the helpers they share: where the workspace lies, which files it has,
//! and a reader of Rust source exact enough to count lines.

pub mod fuzzing;
pub mod imports;
pub mod rust_source;
pub mod workspace;
