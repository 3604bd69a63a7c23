//! Addresses, routes and rules of daemons.
//!
//! What is there is read with the `ip` command of iproute2, which is present wherever somebody configures a network by
//! hand. What a daemon sets itself goes by rtnetlink: one that was killed begins again while connections wait, and on a
//! busy machine a process for each setting costs tens of milliseconds. All functions act on the network namespace of
//! the calling thread.
use crate::netlink::either_family::{DeviceRoute, add_address as address_message, link_up_with_mtu};
use crate::netlink::{Message, Netlink, NetlinkError, device_index};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

/// A failed `ip` command: what was run and what it said.
#[derive(Debug)]
pub struct NetconfError {
    command: String,
    answer: String,
}

impl fmt::Display for NetconfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" failed: {}", self.command, self.answer)?;
        if self.answer.contains("not permitted") {
            write!(
                f,
                ". Run as root, with CAP_NET_ADMIN, or in a user namespace (unshare --user --map-root-user \
                 --net)"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for NetconfError {}

impl From<NetlinkError> for NetconfError {
    fn from(error: NetlinkError) -> Self {
        Self { command: error.request, answer: error.source.to_string() }
    }
}

/// Has the kernel do all of it.
///
/// # Errors
/// [`NetconfError`]: the first request that it refused. The others have been tried as well.
pub fn request(messages: Vec<Message>) -> Result<(), NetconfError> {
    let no_socket = |error: std::io::Error| NetconfError {
        command: "opening a netlink socket".to_owned(),
        answer: error.to_string(),
    };
    Ok(Netlink::route().map_err(no_socket)?.send(messages)?)
}

/// The number of a device.
///
/// # Errors
/// [`NetconfError`]: there is none of this name.
pub fn device(name: &str) -> Result<u32, NetconfError> {
    device_index(name).map_err(|error| NetconfError {
        command: format!("looking for the device {name}"),
        answer: error.to_string(),
    })
}

/// Runs `ip` with the given arguments, separated by spaces, and returns what it printed.
///
/// # Errors
/// [`NetconfError`] with what `ip` said, or that there is none.
pub fn ip(arguments: &str) -> Result<String, NetconfError> {
    let fail = |answer: String| NetconfError { command: format!("ip {arguments}"), answer };
    let output = Command::new("ip")
        .args(arguments.split_ascii_whitespace())
        .stdin(Stdio::null())
        .output()
        .map_err(|e| fail(format!("{e} (install iproute2, or put `ip` on the PATH)")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(fail(said.trim().to_owned()))
}

/// `-6` for an IPv6 address, `-4` for an IPv4 one.
fn family(address: IpAddr) -> &'static str {
    if address.is_ipv6() { "-6" } else { "-4" }
}

/// A range of addresses, `10.0.0.0/8` or `fd00::/64`; a bare address is a range of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// First address, host bits included as given.
    pub address: IpAddr,
    /// Leading bits that count.
    pub length: u8,
}

impl Prefix {
    /// Every IPv4 address.
    pub const ALL_V4: Self = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), length: 0 };
    /// Every IPv6 address.
    pub const ALL_V6: Self = Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), length: 0 };

    /// Its route out of a device.
    fn into_device(self, device: u32, table: u32) -> DeviceRoute {
        let (router, source) = (None, None);
        DeviceRoute { destination: self.address, length: self.length, device, router, source, table }
    }

    /// True for a range of one address.
    pub const fn is_single(&self) -> bool {
        self.length == if self.address.is_ipv6() { 128 } else { 32 }
    }

    /// True when `address` lies in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, 4),
            IpAddr::V6(v6) => (v6.to_bits(), 6),
        };
        let ((own, own_family), (other, other_family)) = (bits(self.address), bits(address));
        let differing_bits = (own ^ other).leading_zeros();
        own_family == other_family && (own == other || differing_bits >= u32::from(self.length))
    }
}

impl std::str::FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || format!("\"{text}\" is not an address range such as \"10.0.0.0/8\" or \"fd00::/64\"");
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| error())?;
        let most = if address.is_ipv6() { 128 } else { 32 };
        let length = match length {
            Some(length) => length.parse::<u8>().ok().filter(|&n| n <= most).ok_or_else(error)?,
            None => most,
        };
        Ok(Self { address, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Sets a device's MTU and brings it up, without the link-local address and the router solicitations that
/// IPv6 would otherwise send into it.
///
/// # Errors
/// [`NetconfError`]: what the kernel said.
pub fn set_up(name: &str, mtu_bytes: usize) -> Result<(), NetconfError> {
    const NO_ADDRESSES: &str = "1";
    // Fails on kernels without IPv6, where there is nothing to switch off.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/addr_gen_mode"), NO_ADDRESSES);
    request(vec![link_up_with_mtu(device(name)?, u32::try_from(mtu_bytes).unwrap_or(u32::MAX))])
}

/// Gives a device an address.
///
/// # Errors
/// [`NetconfError`]: what the kernel said.
pub fn add_address(name: &str, prefix: Prefix) -> Result<(), NetconfError> {
    request(vec![address_message(device(name)?, prefix.address, prefix.length)])
}

/// Sends ranges into a device, in the main routing table, unless that has a route for one already. The routes go with
/// the device.
///
/// # Errors
/// [`NetconfError`]: what the kernel said.
pub fn add_routes(name: &str, prefixes: &[Prefix]) -> Result<(), NetconfError> {
    let (device, table) = (device(name)?, u32::from(libc::RT_TABLE_MAIN));
    request(prefixes.iter().map(|prefix| prefix.into_device(device, table).add()).collect())
}

/// Sends a range into a device, in a routing table of the caller's own. The route goes with the device.
///
/// # Errors
/// [`NetconfError`]: what the kernel said.
pub fn replace_route(name: &str, prefix: Prefix, table: u32) -> Result<(), NetconfError> {
    request(vec![prefix.into_device(device(name)?, table).replace()])
}

/// Addresses and routes that this host has.
#[derive(Debug, Default)]
pub struct Present {
    /// Each address, and as `ip` prints it with the length of its network, of its device.
    addresses: Vec<(IpAddr, String)>,
    /// Each range of the main routing table, and its route as `ip` prints it.
    routes: Vec<(Prefix, String)>,
}

impl Present {
    /// What is there now.
    ///
    /// # Errors
    /// [`NetconfError`]: what `ip` said.
    pub fn read() -> Result<Self, NetconfError> {
        let addresses = ip("-oneline address show")?.lines().filter_map(address_and_device).collect();
        let mut routes = Vec::new();
        for (family, default) in [("-4", Prefix::ALL_V4), ("-6", Prefix::ALL_V6)] {
            // A kernel without IPv6 has no routes of it.
            let shown = ip(&format!("{family} route show")).or_else(|error| match family {
                "-6" => Ok(String::new()),
                _ => Err(error),
            })?;
            routes.extend(shown.lines().filter_map(|line| {
                // "10.0.0.0/8 via ...", "default via ...", "unreachable 10.0.0.0/8 ..."
                let mut words = line.split_whitespace().take(2);
                let range =
                    words.find_map(|word| if word == "default" { Some(default) } else { word.parse().ok() });
                Some((range?, line.trim().to_owned()))
            }));
        }
        Ok(Self { addresses, routes })
    }

    /// The routes for exactly this range; `None` without any.
    pub fn route_of(&self, prefix: Prefix) -> Option<String> {
        let routes = self.routes.iter().filter(|(range, _)| *range == prefix);
        joined(routes.map(|(_, route)| route.as_str()))
    }

    /// The addresses of this host that lie in a range, with their devices; `None` without any.
    pub fn own_addresses_in(&self, prefix: Prefix) -> Option<String> {
        let own = self.addresses.iter().filter(|(address, _)| prefix.contains(*address));
        joined(own.map(|(_, shown)| shown.as_str()))
    }
}

/// "2: eth0    inet 192.0.2.1/24 brd ..."
fn address_and_device(line: &str) -> Option<(IpAddr, String)> {
    let mut words = line.split_whitespace().skip(1);
    let (device, address) = (words.next()?, words.nth(1)?);
    Some((address.split('/').next()?.parse().ok()?, format!("{address} of {device}")))
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Where a rule leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulePlace {
    /// Into this routing table, before the main one.
    Into(u32),
    /// Past the rules into this table: what this host itself sends goes by the main one.
    OwnPacketsPast(u32),
}

impl RulePlace {
    /// The rule as arguments of `ip rule`.
    fn arguments(self) -> String {
        match self {
            Self::Into(table) => format!("priority {RULE_PRIORITY} table {table}"),
            Self::OwnPacketsPast(table) => {
                let priority = OWN_PACKETS_PRIORITY + table % OWN_PACKETS_PRIORITIES;
                format!("iif lo priority {priority} table main")
            }
        }
    }
}

/// Looks up `selector` ("from 10.77.0.2/32", "not fwmark 0x1292") at a place of its own.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn add_rule(family_of: IpAddr, selector: &str, place: RulePlace) -> Result<(), NetconfError> {
    ip(&format!("{} rule add {selector} {}", family(family_of), place.arguments())).map(drop)
}

/// Before the main table (32766), behind what an administrator would put first.
const RULE_PRIORITY: u32 = 30_000;

/// Rules for a host's own packets come before the others, each table's at a priority of its own, by which they are
/// found again.
const OWN_PACKETS_PRIORITY: u32 = 29_000;
const OWN_PACKETS_PRIORITIES: u32 = 1000;

/// Most rules that one daemon makes; a bound for the clearing loop.
const MAX_RULES: usize = 1000;

/// Removes every rule of ours that leads to `table` or past it, also those of a daemon that was killed. Says how many
/// there were.
pub fn remove_rules(table: u32) -> usize {
    let remove = |family: &str, place: RulePlace| {
        let rule = format!("{family} rule del {}", place.arguments());
        (0..MAX_RULES).take_while(|_| ip(&rule).is_ok()).count()
    };
    let places = [RulePlace::Into(table), RulePlace::OwnPacketsPast(table)];
    places.iter().map(|&place| remove("-4", place) + remove("-6", place)).sum()
}

/// Writes `value` to a device's setting under `/proc/sys/net/ipv4/conf`, and to the IPv6 one if there is any.
///
/// # Errors
/// When the kernel has no such device or option, or the caller may not set it.
pub fn set_device_option(device: &str, option: &str, value: &str) -> std::io::Result<()> {
    // Absent where the kernel has no IPv6 or no such option for it.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{device}/{option}"), value);
    std::fs::write(format!("/proc/sys/net/ipv4/conf/{device}/{option}"), value)
}

#[cfg(test)]
mod tests;
