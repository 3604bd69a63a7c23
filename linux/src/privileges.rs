//! Becoming able to make network namespaces: as root, or in a user namespace of our own.
use crate::SetupError;
use nix::sched::{CloneFlags, unshare};
use std::{fs, io};

/// How this process came to be allowed to make network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privileges {
    /// It holds `CAP_SYS_ADMIN` and `CAP_NET_ADMIN` where it runs.
    Capable,
    /// It moved into a user namespace in which the caller's user is root.
    UserNamespace,
}

const CAP_NET_ADMIN: u64 = 12;
const CAP_SYS_ADMIN: u64 = 21;

/// Makes sure that network namespaces can be made by this process.
///
/// With the capabilities at hand this does nothing. Otherwise the process moves into a new user namespace in
/// which the caller is root; **that only works while it has a single thread**, so call this first
/// thing in `main`. Files written afterwards still belong to the caller.
///
/// # Errors
/// [`SetupError::NotPermitted`], with what to do, when the system allows neither.
pub fn ensure_privileges() -> Result<Privileges, SetupError> {
    if capable() {
        return Ok(Privileges::Capable);
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(|error| refused(error.into()))?;
    let map = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(SetupError::setup(format!("write /proc/self/{file}")))
    };
    map("setgroups", "deny".to_owned())?;
    map("uid_map", format!("0 {user} 1"))?;
    map("gid_map", format!("0 {group} 1"))?;
    if !capable() {
        // AppArmor lets the call through and takes the capabilities away afterwards.
        return Err(refused(io::Error::from_raw_os_error(libc::EPERM)));
    }
    Ok(Privileges::UserNamespace)
}

/// True when this process may make network namespaces now.
pub fn capable() -> bool {
    holds(CAP_NET_ADMIN) && holds(CAP_SYS_ADMIN)
}

/// True when the calling thread holds the capability of this number.
pub(crate) fn holds(capability: u64) -> bool {
    effective_capabilities().is_some_and(|held| held & 1 << capability != 0)
}

/// The effective capability set of the calling thread, one bit each.
fn effective_capabilities() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

fn refused(source: io::Error) -> SetupError {
    SetupError::NotPermitted { what: "make network namespaces", source, remedy: remedy() }
}

/// Names the setting that stands in the way, as far as the system tells.
fn remedy() -> String {
    let setting = |path: &str| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let blocked = [
        ("/proc/sys/kernel/unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            1,
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("/proc/sys/user/max_user_namespaces", 0, "user.max_user_namespaces=10000"),
    ];
    for (path, blocking, setting_to) in blocked {
        if setting(path) == Some(blocking) {
            return format!("Run as root (sudo), or allow user namespaces with: sudo sysctl -w {setting_to}");
        }
    }
    "Run as root (sudo); in a container, start it with --cap-add NET_ADMIN --cap-add SYS_ADMIN --device \
     /dev/net/tun, or with a profile that allows unshare(2)"
        .to_owned()
}
