//! Kernel settings of one namespace.
use crate::LabError;
use crate::kernel_tcp::KernelTcp;
use std::fs;

/// What every node of a lab has: forwarding between its links, addresses that need not match the
/// interface a packet came in on, no IPv6 chatter, room for large windows, and no memory of earlier runs.
const COMMON: &[(&str, &str)] = &[
    ("ipv4/ip_forward", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    // Answers about the network must not be thinned out while a run lasts.
    ("ipv4/icmp_ratelimit", "0"),
    ("ipv4/tcp_no_metrics_save", "1"),
    ("ipv4/tcp_rmem", "4096 131072 67108864"),
    ("ipv4/tcp_wmem", "4096 131072 67108864"),
    ("ipv4/tcp_mtu_probing", "0"),
];

/// IPv6 may be compiled out or switched off; a node that does not use it should stay silent.
const WITHOUT_IPV6: &[(&str, &str)] =
    &[("ipv6/conf/all/disable_ipv6", "1"), ("ipv6/conf/default/disable_ipv6", "1")];

/// Sets up the namespace of the calling thread for a node at which flows with the settings `tcp` end.
pub(super) fn apply(tcp: &KernelTcp, node: &str) -> Result<(), LabError> {
    for (key, value) in WITHOUT_IPV6 {
        // Absent on a kernel without IPv6, where there is nothing to switch off.
        let _ = set(key, value);
    }
    let common = COMMON.iter().map(|&(key, value)| (key, value.to_owned()));
    for (key, value) in common.chain(tcp.sysctls()) {
        set(key, &value).map_err(LabError::setup(format!("set {key} of node \"{node}\"")))?;
    }
    Ok(())
}

/// Lets a node take back packets of its own that have left by a link which it has no longer, and send them by another.
pub(super) fn accept_own(node: &str) -> Result<(), LabError> {
    let key = "ipv4/conf/all/accept_local";
    set(key, "1").map_err(LabError::setup(format!("set {key} of node \"{node}\"")))
}

/// Writes one setting below `/proc/sys/net` of the calling thread's namespace.
pub(super) fn set(key: &str, value: &str) -> std::io::Result<()> {
    fs::write(format!("/proc/sys/net/{key}"), value)
}
