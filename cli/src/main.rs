//! The `prismux` command.
fn main() {}
