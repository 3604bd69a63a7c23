//! Taking over the traffic to receivers, and no other: routes that are somebody else's stay as they are.
use crate::daemon::DaemonError;
use prismux_linux::netconf::{self, Prefix, Present};
use prismux_linux::offload::OffloadTun;

/// Refuses receivers whose addresses this host has itself, or has a route for: such a route would be lost.
///
/// # Errors
/// [`DaemonError::ReceiverTaken`], with the remedy.
pub(super) fn check(receivers: &[Prefix]) -> Result<(), DaemonError> {
    let present = Present::read()?;
    for &receiver in receivers {
        let taken = |by, remedy| Err(DaemonError::ReceiverTaken { receiver, by, remedy });
        if let Some(addresses) = present.own_addresses_in(receiver) {
            return taken(
                format!("it has the address {addresses} itself"),
                "name the receivers' addresses alone, without the proxy's own",
            );
        }
        if let Some(route) = present.route_of(receiver) {
            return taken(
                format!("there is a route: {route}"),
                "name the receivers' addresses alone, or remove that route first (ip route del)",
            );
        }
    }
    Ok(())
}

/// Routes the receivers' addresses into the device. The routes go with the device.
///
/// # Errors
/// When the kernel refuses: a route that came in the meantime is not replaced either.
pub(super) fn take_over(tun: &OffloadTun, receivers: &[Prefix]) -> Result<(), DaemonError> {
    Ok(netconf::add_routes(tun.name(), receivers)?)
}
