//! How large a packet a tunnel's path takes, as far as the network can be believed; `search` finds it out without it.
//!
//! The kernel learns path MTUs from ICMP errors, which anybody can forge: it asks only that they quote a packet's
//! addresses. Tunnel sockets therefore send without regard to what the kernel has learned (`IP_PMTUDISC_PROBE`), and
//! what it has learned counts down to [`MIN_PATH_MTU_BYTES`] alone: a forger costs header bytes, not the link.
mod search;

pub(crate) use search::PathSearch;

use super::socket::SocketOptions;
use prismux_linux::socket_option;
use prismux_wire::gre::GRE_IN_UDP_PORT;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The least path MTU that is believed, in bytes: what IPv6 asks of every link (RFC 8200 section 5). Paths of IPv4 that
/// take less are rare enough that RFC 8899 section 5.1.2 does not look below 1200 by itself.
pub const MIN_PATH_MTU_BYTES: usize = 1280;

/// How old an answer of the kernel may be.
const REFRESH: Duration = Duration::from_secs(1);

/// More peers than any daemon serves; stale ones go when there are as many.
const MAX_PEERS: usize = 1024;

/// The path MTUs towards the peers of one socket.
pub(super) struct PathMtus {
    options: SocketOptions,
    known: Vec<(IpAddr, usize)>,
    asked: Instant,
}

impl PathMtus {
    /// For the paths of a socket with these options.
    pub fn new(options: SocketOptions) -> Self {
        Self { options, known: Vec::new(), asked: Instant::now() }
    }

    /// What the socket is bound to.
    pub const fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// Forgets what is older than a second, so that it is asked for again.
    pub fn refresh(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.asked) >= REFRESH || self.known.len() >= MAX_PEERS {
            self.known.clear();
            self.asked = now;
        }
    }

    /// The largest outer packet for `address`, in bytes.
    pub fn towards(&mut self, address: IpAddr) -> usize {
        if let Some((_, mtu_bytes)) = self.known.iter().find(|(known, _)| *known == address) {
            return *mtu_bytes;
        }
        // Where the kernel has no route it says so when the packet is sent.
        let learned = learned_bytes(address, &self.options).unwrap_or(usize::MAX);
        let mtu_bytes = learned.max(MIN_PATH_MTU_BYTES);
        self.known.push((address, mtu_bytes));
        mtu_bytes
    }
}

/// What the kernel holds for the path MTU towards `address`, in bytes: its device's, or less by an ICMP error.
fn learned_bytes(address: IpAddr, options: &SocketOptions) -> io::Result<usize> {
    let address = address.to_canonical();
    let local = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    let question = UdpSocket::bind(local)?;
    options.apply(&question)?;
    question.connect((address, GRE_IN_UDP_PORT))?;
    let (level, name) = match address {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    usize::try_from(socket_option::get(&question, level, name)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::{MIN_PATH_MTU_BYTES, PathMtus};
    use crate::tunnel::socket::SocketOptions;

    #[test]
    fn a_path_takes_what_its_device_takes_and_an_unknown_one_is_left_to_the_kernel() {
        let mut mtus = PathMtus::new(SocketOptions::default());
        let loopback = mtus.towards([127, 0, 0, 1].into());
        assert!((MIN_PATH_MTU_BYTES..=65_536).contains(&loopback), "{loopback}");
        // Documentation addresses (RFC 6666): no route, or the default one.
        let nowhere = mtus.towards("100::1".parse().unwrap());
        assert!(nowhere >= MIN_PATH_MTU_BYTES, "{nowhere}");
        assert_eq!(mtus.towards([127, 0, 0, 1].into()), loopback);
    }
}
