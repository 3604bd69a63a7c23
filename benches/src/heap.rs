//! Memory that a program takes.
use stats_alloc::Region;
use std::alloc::System;

/// Bytes taken since `region` began, what was given back left out; 0 where more was given back.
pub fn taken_bytes(region: &Region<'_, System>) -> u64 {
    let change = region.change();
    (change.bytes_allocated as i64 - change.bytes_deallocated as i64).max(0) as u64
}
