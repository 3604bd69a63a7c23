//! The gateway daemon: a proxy on a server with a public address, for homes, with NAT.
use crate::config::GatewayConfig;
use crate::daemon::DaemonError;
use crate::footprint::Footprint;
use crate::proxy;
use std::fmt::Write;

/// Runs a gateway until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what the kernel took away while it ran.
pub fn run(config: &GatewayConfig) -> Result<(), DaemonError> {
    if config.homes.is_empty() && config.registry.is_none() {
        let remedy = "nobody is listed in [[homes]]. Remedy: prismux invite NAME";
        return Err(DaemonError::Config(remedy.to_owned()));
    }
    // The status socket shows whether another one is running, whose changes must not be undone.
    if crate::status::query(&config.status_socket).is_ok() {
        return proxy::run(config.proxy());
    }
    let _footprint = prepare_host(config)?;
    proxy::run(config.proxy())
}

/// Forwarding, and homes under this host's addresses.
fn prepare_host(config: &GatewayConfig) -> Result<Footprint, DaemonError> {
    let mut footprint = Footprint::begin(config.status_socket.with_extension("undo"));
    let receivers = config.receivers();
    let has = |is_ipv6| receivers.iter().any(|receiver| receiver.address.is_ipv6() == is_ipv6);
    for (is_ipv6, setting) in [(false, "ipv4/ip_forward"), (true, "ipv6/conf/all/forwarding")] {
        if has(is_ipv6) {
            footprint.set(setting, "1")?;
        }
    }
    let rules = rules(config);
    if !rules.is_empty() {
        footprint.table(&format!("prismux_{}", config.tun.name), &rules)?;
    }
    Ok(footprint)
}

/// Homes go out under this host's addresses; what comes to any of a fleet's ports goes to the one that is listened at.
fn rules(config: &GatewayConfig) -> String {
    let (device, mut rules) = (&config.tun.name, String::new());
    // Writing to a string cannot fail.
    if config.nat {
        rules.push_str("chain postrouting {\ntype nat hook postrouting priority srcnat;\n");
        for receiver in config.receivers() {
            let family = if receiver.address.is_ipv6() { "ip6" } else { "ip" };
            let _ = writeln!(rules, "oifname != \"{device}\" {family} saddr {receiver} masquerade");
        }
        rules.push_str("}\n");
    }
    if let (Some(registry), listen) = (&config.registry, config.listen.port()) {
        let first = config.endpoint.map_or(listen, |endpoint| endpoint.port());
        let last = first.saturating_add(registry.ports - 1);
        if (first, last) != (listen, listen) {
            rules.push_str("chain prerouting {\ntype nat hook prerouting priority dstnat;\n");
            let _ = writeln!(rules, "fib daddr type local udp dport {first}-{last} redirect to :{listen}");
            rules.push_str("}\n");
        }
    }
    rules
}
