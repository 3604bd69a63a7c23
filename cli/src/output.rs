//! Standard output: text, tables and numbers for people.

pub(crate) mod distributions;
pub(crate) mod measures;
pub(crate) mod over_time;
pub(crate) mod picture;
pub(crate) mod programs;
pub(crate) mod rough;

use std::io::{self, Write};

/// Writes `text` and a line end to standard output.
pub(crate) fn print(text: impl std::fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
