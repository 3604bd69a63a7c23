//! Files of tests that nobody has to remove.
use std::fs::{self, File};
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};

/// Another path of the file that `make` makes at the one it is given: it lasts as long as this process, and leaves
/// nothing behind.
pub(crate) fn unnamed(make: impl FnOnce(&Path)) -> PathBuf {
    let thread = std::thread::current().id();
    let named = std::env::temp_dir().join(format!("prismux-unnamed-{}-{thread:?}", std::process::id()));
    make(&named);
    let open = File::open(&named).unwrap();
    fs::remove_file(&named).unwrap();
    // Never closed.
    PathBuf::from(format!("/proc/self/fd/{}", open.into_raw_fd()))
}
