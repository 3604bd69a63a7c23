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
    if config.homes.is_empty() {
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
    let addresses = || config.homes.iter().flat_map(|home| &home.addresses);
    for (is_ipv6, setting) in [(false, "ipv4/ip_forward"), (true, "ipv6/conf/all/forwarding")] {
        if addresses().any(|address| address.is_ipv6() == is_ipv6) {
            footprint.set(setting, "1")?;
        }
    }
    if config.nat {
        let device = &config.tun.name;
        let mut rules = String::from("chain postrouting {\ntype nat hook postrouting priority srcnat;\n");
        for address in addresses() {
            let family = if address.is_ipv6() { "ip6" } else { "ip" };
            // Writing to a string cannot fail.
            let _ = writeln!(rules, "oifname != \"{device}\" {family} saddr {address} masquerade");
        }
        rules.push('}');
        footprint.table(&format!("prismux_{device}"), &rules)?;
    }
    Ok(footprint)
}
