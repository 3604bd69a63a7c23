//! How many threads seal, send and open.
use crate::workers::MAX_WORKERS;

/// # Errors
/// When they are more than anybody has processors for.
pub(super) fn check_workers(workers: usize) -> Result<(), (&'static str, String)> {
    match workers <= MAX_WORKERS {
        true => Ok(()),
        false => Err(("workers", format!("{workers} are too many, expected {MAX_WORKERS} at most"))),
    }
}
