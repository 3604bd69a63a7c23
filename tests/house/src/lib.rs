//! What the rules of the tree share: where the workspace lies, which files it has, and a reader of Rust source exact
//! enough to count lines. No crate of the product is compiled for them, so that the rules answer within seconds.

pub mod imports;
pub mod rust_source;
pub mod workspace;
