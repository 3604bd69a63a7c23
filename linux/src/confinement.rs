//! What a daemon may still do once it runs: no system calls that take a host over, and few files.
//!
//! Programs that it starts (`ip`, `nft`) are confined with it. The system calls are refused by name, not allowed by
//! name: those programs are others', and change.
use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// System calls and the conditions under which they are answered with an error; none for always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What the kernel has agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confined {
    /// Files outside the lists cannot be reached (Landlock).
    pub files: bool,
    /// The listed system calls fail (seccomp).
    pub system_calls: bool,
}

/// Read and run: programs, their libraries and tables, the kernel's own files.
const READABLE: [&str; 17] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/sys",
    "/dev",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/iproute2",
    "/etc/protocols",
    "/etc/services",
];

/// Written to beside what the caller names: settings of the network, and the null device.
const WRITABLE: [&str; 2] = ["/proc/sys/net", "/dev/null"];

/// Calls that reach into other processes, the kernel, or other namespaces. No daemon of ours, nor `ip` or `nft` as it
/// calls them, has a use for them.
const REFUSED: [libc::c_long; 38] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_personality,
];

/// Confines this thread, those that it starts later, and their programs, for good. `writable` are the folders that it
/// goes on writing to. What the kernel does not know stays as it was: the answer says so.
///
/// # Errors
/// When the kernel refuses what it knows.
pub fn confine(writable: &[&Path]) -> io::Result<Confined> {
    let files = confine_files(writable).map_err(io::Error::other)?;
    Ok(Confined { files, system_calls: confine_system_calls()? })
}

fn confine_files(writable: &[&Path]) -> Result<bool, RulesetError> {
    let abi = ABI::V3;
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(abi))?.create()?;
    let readable = READABLE.iter().map(|path| (Path::new(path), AccessFs::from_read(abi)));
    let written = WRITABLE.iter().map(Path::new).chain(writable.iter().copied());
    // What is a file takes fewer rights than what is a folder; the crate leaves out the others.
    for (path, rights) in readable.chain(written.map(|path| (path, AccessFs::from_all(abi)))) {
        // A path that this system does not have.
        let Ok(handle) = PathFd::new(path) else { continue };
        let rights = if path.is_dir() { rights } else { rights & AccessFs::from_file(abi) };
        ruleset = ruleset.add_rule(PathBeneath::new(handle, rights))?;
    }
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

fn confine_system_calls() -> io::Result<bool> {
    // A processor for which nobody has written the filter's head.
    let Ok(processor) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    let mut refused: Rules = REFUSED.iter().map(|&number| (number, Vec::new())).collect();
    refused.insert(libc::SYS_clone, vec![with_user_namespace().map_err(io::Error::other)?]);
    // Its flags cannot be looked at; without it libraries use the older call.
    let unknown = Rules::from([(libc::SYS_clone3, Vec::new())]);
    for (rules, error) in [(unknown, libc::ENOSYS), (refused, libc::EPERM)] {
        let answer = SeccompAction::Errno(error as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, processor);
        let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
        apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(true)
}

/// A process in a user namespace of its own, in which it would have every capability.
fn with_user_namespace() -> Result<SeccompRule, BackendError> {
    let flag = libc::CLONE_NEWUSER as u64;
    SeccompRule::new(vec![SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(flag),
        flag,
    )?])
}

#[cfg(test)]
mod tests {
    use super::confine;
    use nix::sched::{CloneFlags, unshare};
    use std::fs;
    use std::process::Command;

    /// On a thread of its own, which alone is confined.
    #[test]
    fn whoever_takes_a_daemon_over_gets_few_files_and_no_namespaces() {
        let folder = std::env::temp_dir().join(format!("prismux-confined-{}", std::process::id()));
        fs::create_dir_all(folder.join("own")).unwrap();
        fs::write(folder.join("secret"), "secret").unwrap();
        let (own, secret) = (folder.join("own"), folder.join("secret"));
        let confined = std::thread::spawn(move || {
            let confined = confine(&[&own]).unwrap();
            if confined.files {
                assert!(fs::read(&secret).is_err() && fs::write(&secret, "other").is_err());
                assert!(fs::read("/etc/shadow").is_err());
            }
            fs::write(own.join("file"), "text").unwrap();
            fs::rename(own.join("file"), own.join("other")).unwrap();
            fs::remove_file(own.join("other")).unwrap();
            assert!(fs::read("/proc/sys/net/ipv4/ip_forward").is_ok());
            if confined.system_calls {
                assert_eq!(unshare(CloneFlags::CLONE_NEWUTS), Err(nix::errno::Errno::EPERM));
                assert_eq!(unshare(CloneFlags::CLONE_NEWUSER), Err(nix::errno::Errno::EPERM));
                let flags = libc::c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
                // SAFETY: without a stack of its own a child goes on as after fork, and ends at once.
                let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
                if child == 0 {
                    // SAFETY: ends the child and nothing else.
                    unsafe { libc::_exit(0) };
                }
                assert_eq!((child, nix::errno::Errno::last()), (-1, nix::errno::Errno::EPERM));
            }
            let ran = Command::new("ip").arg("link").output().expect("programs still run");
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            confined
        });
        let confined = confined.join().unwrap();
        assert!(confined.system_calls || !cfg!(target_arch = "x86_64"), "this kernel has seccomp");
        fs::remove_dir_all(&folder).unwrap();
    }
}
