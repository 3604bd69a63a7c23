//! Calls that the kernel interrupts.
use std::io::{ErrorKind, Result};

/// Calls again as long as the kernel says EINTR.
///
/// A call with a time limit, such as receiving from a socket that has one, is never begun anew by the kernel
/// (signal(7)). No handler is needed for it to be interrupted: the process was stopped and goes on, or a child of
/// another thread has ended while that thread had signals blocked, which it has until its next child runs (on a busy
/// machine, one child in twelve).
///
/// # Errors
/// Those of the call, but for EINTR.
pub fn uninterrupted<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::uninterrupted;
    use std::io::{Error, ErrorKind};

    #[test]
    fn an_interrupted_call_is_made_again_and_every_other_error_returned() {
        let mut answers = [Err(ErrorKind::Interrupted), Err(ErrorKind::Interrupted), Ok(3)].into_iter();
        assert_eq!(uninterrupted(|| answers.next().unwrap().map_err(Error::from)).unwrap(), 3);
        let mut answers = [Err(ErrorKind::Interrupted), Err(ErrorKind::WouldBlock), Ok(3)].into_iter();
        let error = uninterrupted(|| answers.next().unwrap().map_err(Error::from)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}
