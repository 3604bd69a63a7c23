//! How child processes begin, and how soon this thread is woken.
//!
//! What is asked of a [`Command`] here happens between fork and exec, where only async-signal-safe calls are allowed.
use nix::sched::{CloneFlags, unshare};
use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr;

/// Lets the program begin in a mount namespace with an empty `/run`, or with the folder `folder` below it: neither
/// file nor socket that it makes there is seen by another process.
pub fn give_private_run_directory(command: &mut Command, folder: Option<&'static CStr>) {
    // SAFETY: between fork and exec only system calls are made, on strings that live for ever.
    unsafe {
        command.pre_exec(move || private_run_directory(folder));
    }
}

fn private_run_directory(folder: Option<&CStr>) -> io::Result<()> {
    // SAFETY: plain system calls; every pointer is null or of a terminated string.
    unsafe {
        private_mounts()?;
        mount_empty(c"/run")?;
        folder.map_or(Ok(()), |folder| check(libc::mkdir(folder.as_ptr(), 0o755)))
    }
}

/// Lets the program begin as the user "nobody", without any privilege, on a system where `/dev/net/tun` is open to
/// everybody, as most distributions have it. For tests that run as root.
pub fn begin_unprivileged(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made, on strings that live for ever.
    unsafe {
        command.pre_exec(become_nobody);
    }
}

fn become_nobody() -> io::Result<()> {
    const NOBODY: u32 = 65_534;
    // SAFETY: plain system calls; every pointer is null or of a terminated string.
    unsafe {
        private_mounts()?;
        mount_empty(c"/dev/net")?;
        libc::umask(0);
        check(libc::mknod(c"/dev/net/tun".as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(10, 200)))?;
        check(libc::setgroups(0, ptr::null()))?;
        check(libc::setgid(NOBODY))?;
        check(libc::setuid(NOBODY))
    }
}

/// True when this user may make a user namespace with a network namespace in it. A child process tries, as a process
/// with several threads may not.
pub fn may_make_user_namespaces() -> bool {
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: unshare(2) is a plain system call and safe between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?));
    }
    command.status().is_ok_and(|status| status.success())
}

/// The real-time priority of what emulates links: before those who use them.
pub const LINK_PRIORITY: i32 = 2;
/// The real-time priority of what carries packets over links.
pub const CARRIER_PRIORITY: i32 = 1;

/// Asks the scheduler to wake this thread before ordinary ones, and before those with less real-time `priority` (1 to
/// 99), and says what it got. On a host with one processor it does not ask for real time, since a thread that never
/// waits would keep everybody else from it.
pub fn prefer_this_thread(priority: i32) -> Scheduling {
    // The kernel's `struct sched_param`. Musl's has more, and its function for it always fails.
    let parameter: [libc::c_int; 1] = [priority];
    let is_alone = std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1);
    // SAFETY: plain system calls on the calling thread; `parameter` lives through the call.
    unsafe {
        let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        if !is_alone && libc::syscall(libc::SYS_sched_setscheduler, 0, policy, parameter.as_ptr()) == 0 {
            Scheduling::RealTime
        } else if libc::setpriority(libc::PRIO_PROCESS, 0, -10) == 0 {
            Scheduling::Preferred
        } else {
            Scheduling::Ordinary
        }
    }
}

/// How a thread competes for the processors with those of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// In real-time priority: before all ordinary threads (`SCHED_RR` of sched(7)).
    RealTime,
    /// With a larger share than ordinary ones (a nice value of -10).
    Preferred,
    /// As one among many: more was not permitted.
    Ordinary,
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RealTime => "real time",
            Self::Preferred => "preferred",
            Self::Ordinary => "ordinary",
        })
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A mount namespace for this process, whose mounts nobody else sees.
fn private_mounts() -> io::Result<()> {
    let propagation = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: plain system calls; every pointer is null or of a terminated string.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWNS))?;
        check(libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), propagation, ptr::null()))
    }
}

/// Hides a folder behind an empty one.
fn mount_empty(folder: &CStr) -> io::Result<()> {
    let kind = c"tmpfs".as_ptr();
    // SAFETY: a plain system call; every pointer is null or of a terminated string.
    check(unsafe { libc::mount(kind, folder.as_ptr(), kind, 0, ptr::null()) })
}

#[cfg(test)]
mod tests;
