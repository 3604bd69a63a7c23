//! Anonymous network namespaces, alive as long as something holds them.
use crate::SetupError;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// A network namespace without a name: it goes when the last descriptor, socket and process in it goes,
/// whichever way this process ends.
#[derive(Debug, Clone)]
pub struct Namespace {
    file: Arc<File>,
}

impl Namespace {
    /// Makes an empty namespace (its loopback device is down).
    ///
    /// # Errors
    /// [`SetupError::NotPermitted`] without the privileges, [`SetupError::Refused`] with the kernel's answer.
    pub fn create() -> Result<Self, SetupError> {
        let file = on_own_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        })
        .map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => SetupError::NotPermitted {
                what: "make network namespaces",
                source,
                remedy: "Call privileges::ensure_privileges first thing in main, or run as root".to_owned(),
            },
            _ => SetupError::Refused { doing: "make a network namespace".to_owned(), source },
        })?;
        Ok(Self { file: Arc::new(file) })
    }

    /// Runs `work` on a thread of its own inside the namespace. Sockets and TUN devices made there stay in the
    /// namespace wherever they are used later.
    ///
    /// # Errors
    /// When the thread cannot be made, or may not enter the namespace.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_own_thread(|| {
            setns(&*self.file, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        })
    }

    /// Lets `command` start inside the namespace, and end by SIGKILL when the thread that spawns it ends.
    pub fn host(&self, command: &mut Command) {
        let file = Arc::clone(&self.file);
        let parent = nix::unistd::getpid().as_raw();
        // SAFETY: between fork and exec only async-signal-safe calls are made: prctl, getppid and setns,
        // on a descriptor that the closure keeps open.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // The parent may have died before the request above took effect.
                if libc::getppid() != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                if libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) != 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Runs `work` on a fresh thread, because a thread's namespace is a property that would stick to it.
fn on_own_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
