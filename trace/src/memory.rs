//! What a log or a capture has written, kept in memory.
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A writer that keeps its bytes: clones are handles of the same ones, so that whoever has given one away can take what
/// was written.
///
/// ```
/// use prismux_trace::SharedBytes;
/// use std::io::Write;
///
/// let kept = SharedBytes::default();
/// kept.clone().write_all(b"a capture")?;
/// assert_eq!(kept.take(), b"a capture");
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    /// All bytes written since the last time.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
