//! How many threads seal, send and open.
use crate::workers::MAX_WORKERS;

/// How many workers a command line asks for.
///
/// # Errors
/// When it is no number, or they are more than anybody has processors for.
pub fn parse_workers(text: &str) -> Result<usize, String> {
    let workers = text.parse().map_err(|_| "it is no number".to_owned())?;
    check_workers(workers).map_err(|(_, message)| message)?;
    Ok(workers)
}

/// # Errors
/// When they are more than anybody has processors for.
pub(super) fn check_workers(workers: usize) -> Result<(), (&'static str, String)> {
    match workers <= MAX_WORKERS {
        true => Ok(()),
        false => Err(("workers", format!("{workers} are too many, expected {MAX_WORKERS} at most"))),
    }
}
