//! Tests that need several crates of the workspace at once; see `tests/`. The fuzz targets they share with `fuzz/` are
//! here.

pub mod fuzzing;
