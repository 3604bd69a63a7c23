//! The device of a routing daemon, and what keeps the kernel out of the mesh's packets.
use super::config::{RadioName, RouteConfig};
use crate::daemon::DaemonError;
use crate::footprint::Footprint;
use prismux_linux::frame_socket::Interface;
use prismux_linux::netconf::{self, Present};
use prismux_linux::netlink;
use prismux_linux::tun::Tun;
use std::time::Duration;

/// How long a device that was there already may take to begin; it takes a millisecond where processors are busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes the device, with the host's address and the network's route. One of its name that is there already, and
/// nobody's at present, is taken as it is.
pub(super) fn open(config: &RouteConfig, mtu_bytes: usize) -> Result<Tun, DaemonError> {
    if netlink::device_index(&config.device).is_ok() {
        let tun = Tun::create(&config.device)?;
        netlink::wait_until_it_sends(tun.name(), PATIENCE)?;
        return Ok(tun);
    }
    let network = config.address.prefix();
    if let Some(taken) = Present::read()?.own_addresses_in(network) {
        return Err(DaemonError::Config(format!(
            "the network of {network} is taken on this host: {taken}. Remedy: another --address, or take that address \
             away (ip address del); the interface of the radio needs none"
        )));
    }
    let tun = Tun::create(&config.device)?;
    netconf::set_up(tun.name(), mtu_bytes)?;
    netconf::add_address(tun.name(), network)?;
    Ok(tun)
}

/// Has the kernel refuse what comes over the radio's interface from hosts of the mesh, to whom the route leads over the
/// device: it would take their packets a second time, or answer that nobody wants them.
pub(super) fn keep_kernel_out(config: &RouteConfig) -> Result<Option<Footprint>, DaemonError> {
    let RadioName::Interface(interface) = &config.radio else { return Ok(None) };
    // It is there, and of the right kind.
    Interface::find(interface)?;
    let mut footprint = Footprint::begin(config.status_socket.with_extension("undo"));
    footprint.set(&format!("ipv4/conf/{interface}/rp_filter"), "1")?;
    // The larger one of the two counts, and 2 asks for any route.
    let all = std::fs::read_to_string("/proc/sys/net/ipv4/conf/all/rp_filter");
    if all.is_ok_and(|value| value.trim() == "2") {
        tracing::warn!(
            "net.ipv4.conf.all.rp_filter is 2: the kernel may take packets of the mesh a second time. Remedy: sysctl \
             -w net.ipv4.conf.all.rp_filter=0"
        );
    }
    Ok(Some(footprint))
}
