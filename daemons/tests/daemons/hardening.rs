//! What is left to whoever takes a daemon over, and what others on its host can see of it.
use crate::network::Network;
use crate::process::{Daemon, wait_for};
use std::os::unix::fs::PermissionsExt;

/// `CAP_NET_ADMIN` and `CAP_NET_RAW`.
const NETWORK: u64 = 1 << 12 | 1 << 13;

/// Once started, a daemon has the capabilities of the network left, and no way to gain others; it still works.
pub fn privileges_are_dropped() {
    let network = Network::new("privileges");
    let proxy = network.start_proxy_with_workers(2);
    let member = network.start_member(1, "udp");
    let field_of = |status: &str, name: &str| {
        let status = std::fs::read_to_string(status).unwrap();
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).expect("a field").trim().to_owned();
        u64::from_str_radix(&line, 16).unwrap()
    };
    let field = |daemon: &Daemon, name: &str| field_of(&format!("/proc/{}/status", daemon.id()), name);
    for daemon in [&proxy, &member] {
        for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
            assert_eq!(field(daemon, set) & !NETWORK, 0, "{set}");
        }
        assert_eq!(field(daemon, "NoNewPrivs:"), 1);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(field(daemon, "Seccomp:"), 2, "system calls are filtered");
    }
    let threads = std::fs::read_dir(format!("/proc/{}/task", proxy.id())).unwrap();
    let mut workers = 0;
    for thread in threads.map(|thread| thread.unwrap().path()) {
        if !std::fs::read_to_string(thread.join("comm")).unwrap().starts_with("prismux-") {
            continue;
        }
        workers += 1;
        let status = thread.join("status").display().to_string();
        wait_for("a worker has no rights at all", || field_of(&status, "CapPrm:") == 0);
        #[cfg(target_arch = "x86_64")]
        wait_for("its system calls are filtered", || field_of(&status, "Seccomp:") == 2);
        assert_eq!(field_of(&status, "NoNewPrivs:"), 1);
    }
    assert_eq!(workers, 2);
    wait_for("the member joins", || proxy.links_up() == ["m1"] && member.is_registered());
    member.stop();
    wait_for("it leaves", || proxy.links_up().is_empty());
    proxy.stop();
}

/// A recording holds what passes: it is its owner's alone.
pub fn recordings_are_private() {
    let network = Network::new("private");
    let file = network.directory.join("proxy.pcapng");
    let _proxy = network.start_proxy_recording(&file);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}
