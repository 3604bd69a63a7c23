//! Whether this machine can do what the daemons and the lab need, and what to do where it cannot.
use crate::tunnel::Transport;
use crate::tunnel::socket::{self, SocketOptions};
use crate::workers::Workers;
use prismux_linux::capabilities::REMEDY;
use prismux_linux::netconf::ip;
use prismux_linux::privileges;
use prismux_linux::process::may_make_user_namespaces;
use prismux_linux::tun::Tun;
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Works, but something will be slower, missing, or depends on the configuration.
    Warning,
    /// Something will not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is about.
    pub name: &'static str,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Good, found: found.into(), remedy: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warning, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Bad, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// Looks at everything. Changes nothing that lasts.
pub fn check() -> Vec<Check> {
    let mut checks = vec![ip_command(), tun(), raw_socket(), namespaces(), user_namespaces()];
    checks.extend(forwarding());
    checks.push(rp_filter());
    checks.push(mptcp());
    checks.push(congestion_controls());
    checks.push(socket_buffers());
    checks
}

/// True when nothing is [`Verdict::Bad`].
pub fn is_healthy(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.verdict != Verdict::Bad)
}

fn ip_command() -> Check {
    match ip("-Version") {
        Ok(version) => Check::good("ip command", version.trim()),
        Err(error) => Check::bad("ip command", error.to_string(), "install iproute2"),
    }
}

fn tun() -> Check {
    const NAME: &str = "TUN device";
    match Tun::create("prism-doctor%d") {
        Ok(_) => Check::good(NAME, "can be made"),
        // The error says what to do.
        Err(error) => Check::bad(NAME, error.to_string(), "see above; needed by proxy and member"),
    }
}

fn raw_socket() -> Check {
    const NAME: &str = "raw socket for GRE";
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = SocketOptions { local: Some(loopback), ..SocketOptions::default() };
    match socket::open(Transport::Gre, &options, 1500, None, &Workers::none()) {
        Ok(_) => Check::good(NAME, "can be opened"),
        Err(error) => {
            Check::warning(NAME, error.to_string(), format!("{REMEDY}; or use GRE in UDP (udp:ADDRESS)"))
        }
    }
}

fn namespaces() -> Check {
    const NAME: &str = "network namespaces";
    if privileges::capable() {
        return Check::good(NAME, "allowed");
    }
    Check::warning(
        NAME,
        "not allowed to this user directly",
        "the lab makes a user namespace first: see the next line",
    )
}

fn user_namespaces() -> Check {
    const NAME: &str = "user namespaces";
    match may_make_user_namespaces() {
        true => Check::good(NAME, "allowed: the lab runs without root"),
        _ if privileges::capable() => Check::good(NAME, "not allowed, and not needed by this user"),
        _ => Check::bad(
            NAME,
            "not allowed",
            "run as root, or: sysctl -w kernel.unprivileged_userns_clone=1 (Debian), \
             kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), user.max_user_namespaces=10000",
        ),
    }
}

fn forwarding() -> Vec<Check> {
    let families = [
        ("IPv4 forwarding", "net/ipv4/ip_forward", "net.ipv4.ip_forward"),
        ("IPv6 forwarding", "net/ipv6/conf/all/forwarding", "net.ipv6.conf.all.forwarding"),
    ];
    let check = |(name, file, key): (&'static str, &str, &str)| match setting(file).as_deref() {
        Some("0") => Check::warning(name, "off", format!("needed on proxies and members: sysctl -w {key}=1")),
        Some(_) => Check::good(name, "on"),
        None => Check::warning(name, "this kernel has none", "nothing, unless you need it"),
    };
    families.map(check).to_vec()
}

fn rp_filter() -> Check {
    const NAME: &str = "reverse path filter";
    let strict = |device: &str| setting(&format!("net/ipv4/conf/{device}/rp_filter")).as_deref() == Some("1");
    if strict("all") {
        return Check::warning(
            NAME,
            "strict on all devices",
            "receivers with several members drop what comes over the others: sysctl -w \
             net.ipv4.conf.all.rp_filter=2 there",
        );
    }
    let devices = std::fs::read_dir("/proc/sys/net/ipv4/conf").into_iter().flatten().flatten();
    let names = devices.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let filtered: Vec<String> = names.filter(|name| name != "default" && strict(name)).collect();
    if filtered.is_empty() {
        return Check::good(NAME, "off or loose");
    }
    Check::warning(
        NAME,
        format!("strict on {}", filtered.join(", ")),
        "where several members forward to this host, set it to loose: sysctl -w net.ipv4.conf.DEVICE.rp_filter=2",
    )
}

fn mptcp() -> Check {
    const NAME: &str = "kernel MPTCP";
    match setting("net/mptcp/enabled").as_deref() {
        Some("0") => {
            Check::warning(NAME, "switched off", "as a contender in the lab: sysctl -w net.mptcp.enabled=1")
        }
        Some(_) => Check::good(NAME, "enabled"),
        None => Check::warning(NAME, "this kernel has none", "the lab leaves this contender out"),
    }
}

fn congestion_controls() -> Check {
    const NAME: &str = "congestion controls";
    let available = setting("net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let missing: Vec<&str> = ["cubic", "reno", "bbr"]
        .into_iter()
        .filter(|name| !available.split(' ').any(|a| a == *name))
        .collect();
    let Some(first) = missing.first() else { return Check::good(NAME, available) };
    let remedy = format!("the lab's flows cannot use them; try: modprobe tcp_{first}");
    Check::warning(NAME, format!("{available}; without {}", missing.join(", ")), remedy)
}

fn socket_buffers() -> Check {
    const NAME: &str = "socket buffers";
    const WANTED_BYTES: u64 = 4 << 20;
    let limit = |file| setting(file).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let smallest = limit("net/core/rmem_max").min(limit("net/core/wmem_max"));
    if smallest >= WANTED_BYTES || privileges::capable() {
        return Check::good(NAME, "large enough, or raised by the daemons themselves");
    }
    Check::warning(
        NAME,
        format!("limited to {smallest} bytes"),
        format!(
            "fast links may lose packets: sysctl -w net.core.rmem_max={WANTED_BYTES} net.core.wmem_max={WANTED_BYTES}"
        ),
    )
}

/// A setting below `/proc/sys`; `None` when the kernel does not have it.
fn setting(file: &str) -> Option<String> {
    std::fs::read_to_string(Path::new("/proc/sys").join(file)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Verdict, check, is_healthy};

    #[test]
    fn everything_wrong_comes_with_a_remedy() {
        let checks = check();
        assert!(checks.len() >= 10);
        for check in &checks {
            assert_eq!(check.remedy.is_none(), check.verdict == Verdict::Good, "{check:?}");
            assert!(!check.found.is_empty(), "{check:?}");
        }
        assert_eq!(is_healthy(&checks), checks.iter().all(|check| check.verdict != Verdict::Bad));
    }
}
