//! Addresses, routes and rules, set with the `ip` command of iproute2.
//!
//! `ip` is present wherever somebody configures a network by hand, its errors are known to the reader, and
//! it is only used at start and stop. All functions act on the network namespace of the calling thread.
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
/// [`NetconfError`]: what `ip` said.
pub fn set_up(device: &str, mtu_bytes: usize) -> Result<(), NetconfError> {
    // Fails on kernels without IPv6, where there is nothing to switch off.
    let _ = ip(&format!("link set dev {device} addrgenmode none"));
    ip(&format!("link set dev {device} mtu {mtu_bytes} up")).map(drop)
}

/// Gives a device an address.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn add_address(device: &str, prefix: Prefix) -> Result<(), NetconfError> {
    let nodad = if prefix.address.is_ipv6() { " nodad" } else { "" };
    ip(&format!("{} address replace {prefix} dev {device}{nodad}", family(prefix.address))).map(drop)
}

/// Sends a range into a device, in the main routing table, unless that has a route for the range already. The route
/// goes with the device.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn add_route(device: &str, prefix: Prefix) -> Result<(), NetconfError> {
    ip(&format!("{} route add {prefix} dev {device}", family(prefix.address))).map(drop)
}

/// Sends a range into a device, in a routing table of the caller's own. The route goes with the device.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn replace_route(device: &str, prefix: Prefix, table: u32) -> Result<(), NetconfError> {
    ip(&format!("{} route replace {prefix} dev {device} table {table}", family(prefix.address))).map(drop)
}

/// The routes for exactly this range in the main routing table, as `ip` prints them; `None` without any.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn route_of(prefix: Prefix) -> Result<Option<String>, NetconfError> {
    let shown = ip(&format!("{} route show exact {prefix}", family(prefix.address)))?;
    Ok(joined(shown.lines()))
}

/// The addresses of this host that lie in a range, with their devices; `None` without any.
///
/// # Errors
/// [`NetconfError`]: what `ip` said.
pub fn own_addresses_in(prefix: Prefix) -> Result<Option<String>, NetconfError> {
    let shown = ip(&format!("{} -oneline address show to {prefix}", family(prefix.address)))?;
    // "2: eth0    inet 192.0.2.1/24 brd ..."
    let own = shown.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (device, address) = (words.next()?, words.nth(1)?);
        Some(format!("{address} of {device}"))
    });
    Ok(joined(own.collect::<Vec<_>>().iter().map(String::as_str)))
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
