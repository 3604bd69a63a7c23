//! Giving up what a daemon needs no more once its device, routes and sockets are there.
use std::io;

/// What a user who is not root may do to start a daemon. File capabilities (setcap) do not reach `ip`, which the
/// daemons start; ambient ones do.
pub const REMEDY: &str = "run as root, or with ambient capabilities: setpriv --inh-caps +net_admin,+net_raw \
                          --ambient-caps +net_admin,+net_raw prismux ... (a systemd unit: AmbientCapabilities=)";

/// Devices and routes.
const NET_ADMIN: u32 = 12;
/// Raw sockets.
const NET_RAW: u32 = 13;
const KEPT: u32 = 1 << NET_ADMIN | 1 << NET_RAW;
/// `_LINUX_CAPABILITY_VERSION_3`: two words of 32 capabilities each.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    thread: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Word {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up, for good, all capabilities of this thread but `CAP_NET_ADMIN` and `CAP_NET_RAW`, for the programs that it
/// starts too, and every way to gain others (`no_new_privs`). Capabilities that it does not have are not added.
///
/// # Errors
/// The kernel's, see capset(2).
pub fn keep_network_only() -> io::Result<()> {
    keep(KEPT)
}

/// Gives up, for good, all capabilities of this thread, and every way to gain others.
///
/// # Errors
/// The kernel's, see capset(2).
pub fn keep_none() -> io::Result<()> {
    keep(0)
}

fn keep(kept: u32) -> io::Result<()> {
    // SAFETY: a plain system call with numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    for capability in (0..64).filter(|capability| kept & 1u32.checked_shl(*capability).unwrap_or(0) == 0) {
        // SAFETY: plain system calls with numbers. The kernel refuses those that it does not know, and the first one to
        // whoever may not: then the bounding set stays, and the sets below are what counts.
        unsafe {
            libc::prctl(libc::PR_CAPBSET_DROP, capability as libc::c_ulong, 0, 0, 0);
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_LOWER, capability as libc::c_ulong, 0, 0);
        }
    }
    let (mut header, mut words) = (Header { version: VERSION, thread: 0 }, [Word::default(); 2]);
    // SAFETY: the header and the two words that this version has, alive during the call.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, words.as_mut_ptr()) as libc::c_int })?;
    let words = [
        Word {
            effective: words[0].effective & kept,
            permitted: words[0].permitted & kept,
            inheritable: words[0].inheritable & kept,
        },
        Word::default(),
    ];
    // SAFETY: as above; the kernel reads only.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, words.as_ptr()) as libc::c_int })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
