//! Small services of the system that both daemons need.
use crate::counters::DropCounters;
use crate::device;
use crate::icmp;
use crate::tunnel::socket::SendError;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::PacketPool;
use prismux_trace::event::DropReason;
use std::net::SocketAddr;
use std::time::SystemTime;

/// Microseconds since 1970: rises from run to run as long as nobody turns the clock back.
pub(crate) fn time_of_day_micros() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A packet could not be sent into the tunnel: count it, and tell its sender if it was too large.
pub(crate) fn send_failed(
    error: &SendError,
    to: SocketAddr,
    packet: &[u8],
    overhead_bytes: usize,
    (tun, pool): (&OffloadTun, &PacketPool),
    drops: &mut DropCounters,
) {
    match error {
        SendError::PathTooNarrow(path_mtu_bytes) => {
            drops.count(DropReason::PathTooNarrow);
            let inner_mtu_bytes = path_mtu_bytes.saturating_sub(overhead_bytes);
            if let Some(answer) = icmp::too_big(pool, packet, inner_mtu_bytes) {
                device::write(tun, &answer, drops);
            }
        }
        SendError::NoSession(_) => drops.count(DropReason::NoKeys),
        SendError::Kernel(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS) => drops.count(DropReason::SendBufferFull),
            _ => {
                tracing::debug!(%error, %to, "a packet could not be sent");
                drops.count(DropReason::SendFailed);
            }
        },
    }
}

/// Packets pass through the kernel on their way to and from the TUN device, which it must be willing to do.
pub(crate) fn warn_unless_forwarding() {
    for (family, file, key) in [
        ("IPv4", "/proc/sys/net/ipv4/ip_forward", "net.ipv4.ip_forward"),
        ("IPv6", "/proc/sys/net/ipv6/conf/all/forwarding", "net.ipv6.conf.all.forwarding"),
    ] {
        if std::fs::read_to_string(file).is_ok_and(|value| value.trim() == "0") {
            tracing::warn!(
                "{family} forwarding is off: packets of other hosts will not get through. Remedy: sysctl -w {key}=1"
            );
        }
    }
}
