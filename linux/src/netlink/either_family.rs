//! Requests for IPv4 and IPv6 alike: addresses, routes out of a device, and rules that lead into a table.
use super::Message;
use std::net::IpAddr;

/// `FRA_IIFNAME` and `FRA_SUPPRESS_PREFIXLEN` of linux/fib_rules.h.
const FRA_IIFNAME: u16 = 3;
const FRA_SUPPRESS_PREFIXLEN: u16 = 14;
/// `FIB_RULE_INVERT` of the same.
const INVERTED: u32 = 2;
/// `RTNH_F_ONLINK` of linux/rtnetlink.h.
const ON_LINK: u32 = 4;

/// The kernel's number of an address family.
fn family(is_ipv6: bool) -> u8 {
    (if is_ipv6 { libc::AF_INET6 } else { libc::AF_INET }) as u8
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// Sets a device's MTU and brings it up.
pub fn link_up_with_mtu(device: u32, mtu_bytes: u32) -> Message {
    let header = super::link_header(device, libc::IFF_UP as u32);
    let request = format!("bring device {device} up with an MTU of {mtu_bytes}");
    Message::new(libc::RTM_NEWLINK, 0, &header, request).with(libc::IFLA_MTU, &mtu_bytes.to_ne_bytes())
}

/// Gives a device an address, in use at once.
pub fn add_address(device: u32, address: IpAddr, length: u8) -> Message {
    let no_detection = if address.is_ipv6() { libc::IFA_F_NODAD as u8 } else { 0 };
    let mut header = [family(address.is_ipv6()), length, no_detection, 0, 0, 0, 0, 0];
    header[4..8].copy_from_slice(&device.to_ne_bytes());
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    let request = format!("give device {device} the address {address}/{length}");
    let octets = octets(address);
    Message::new(libc::RTM_NEWADDR, flags, &header, request)
        .with(libc::IFA_LOCAL, &octets)
        .with(libc::IFA_ADDRESS, &octets)
}

/// A route out of a device.
#[derive(Debug, Clone, Copy)]
pub struct DeviceRoute {
    /// Where to.
    pub destination: IpAddr,
    /// Bits of the destination that count; 0 for the default route.
    pub length: u8,
    /// Out of which device.
    pub device: u32,
    /// By which router, which need not be a neighbour by any address.
    pub router: Option<IpAddr>,
    /// The address that local senders use.
    pub source: Option<IpAddr>,
    /// Routing table.
    pub table: u32,
}

impl DeviceRoute {
    /// Sets it, where there is none yet.
    pub fn add(&self) -> Message {
        self.message(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
    }

    /// Sets it, in the place of another one.
    pub fn replace(&self) -> Message {
        self.message(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_REPLACE)
    }

    fn message(&self, kind: u16, flags: i32) -> Message {
        let scope = if self.router.is_some() { libc::RT_SCOPE_UNIVERSE } else { libc::RT_SCOPE_LINK };
        let mut header = route_header(self.destination.is_ipv6(), self.length);
        (header[5], header[6], header[7]) = (libc::RTPROT_BOOT, scope, libc::RTN_UNICAST);
        if self.router.is_some() {
            header[8..12].copy_from_slice(&ON_LINK.to_ne_bytes());
        }
        let request = format!("route {}/{} into table {}", self.destination, self.length, self.table);
        let mut message = Message::new(kind, flags, &header, request)
            .with(libc::RTA_TABLE, &self.table.to_ne_bytes())
            .with(libc::RTA_OIF, &self.device.to_ne_bytes());
        if self.length > 0 {
            message = message.with(libc::RTA_DST, &octets(self.destination));
        }
        if let Some(router) = self.router {
            message = message.with(libc::RTA_GATEWAY, &octets(router));
        }
        match self.source {
            Some(source) => message.with(libc::RTA_PREFSRC, &octets(source)),
            None => message,
        }
    }
}

/// Removes a default route of a table.
pub fn remove_default_route(is_ipv6: bool, table: u32) -> Message {
    let request = format!("remove the default route of table {table}");
    let mut header = route_header(is_ipv6, 0);
    header[6] = libc::RT_SCOPE_NOWHERE;
    Message::new(libc::RTM_DELROUTE, 0, &header, request).with(libc::RTA_TABLE, &table.to_ne_bytes())
}

/// struct rtmsg: family, lengths, `ToS`, table, protocol, scope, type, flags.
fn route_header(is_ipv6: bool, length: u8) -> [u8; 12] {
    [family(is_ipv6), length, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// What is looked up in a table, and when: a packet that a rule names goes by that table's routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Of IPv6 packets.
    pub is_ipv6: bool,
    /// Rules with smaller ones are asked first.
    pub priority: u32,
    /// The table.
    pub table: u32,
    /// Packets from these addresses.
    pub from: Option<(IpAddr, u8)>,
    /// Packets that came in by this device; "lo" for those of the host's own.
    pub came_by: Option<&'a str>,
    /// Packets that are bound to leave by this device.
    pub leave_by: Option<&'a str>,
    /// Packets of which that is not true.
    pub is_inverted: bool,
    /// Routes of at most so many bits do not count.
    pub least_bits: Option<u32>,
}

impl Rule<'_> {
    /// All packets of a family.
    pub const fn all(is_ipv6: bool, priority: u32, table: u32) -> Self {
        let (from, came_by, leave_by, least_bits) = (None, None, None, None);
        Self { is_ipv6, priority, table, from, came_by, leave_by, is_inverted: false, least_bits }
    }

    /// Adds it, if there is none like it.
    pub fn add(&self) -> Message {
        let length = self.from.map_or(0, |(_, length)| length);
        let mut header = [family(self.is_ipv6), 0, length, 0, 0, 0, 0, super::FR_ACT_TO_TBL, 0, 0, 0, 0];
        if self.is_inverted {
            header[8..12].copy_from_slice(&INVERTED.to_ne_bytes());
        }
        let request = format!("add a rule of priority {} for table {}", self.priority, self.table);
        let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWRULE, flags, &header, request)
            .with(super::FRA_PRIORITY, &self.priority.to_ne_bytes())
            .with(super::FRA_TABLE, &self.table.to_ne_bytes());
        if let Some((address, _)) = self.from {
            message = message.with(super::FRA_SRC, &octets(address));
        }
        for (kind, device) in [(FRA_IIFNAME, self.came_by), (super::FRA_OIFNAME, self.leave_by)] {
            if let Some(device) = device {
                message = message.with(kind, &device.bytes().chain([0]).collect::<Vec<u8>>());
            }
        }
        match self.least_bits {
            Some(bits) => message.with(FRA_SUPPRESS_PREFIXLEN, &bits.to_ne_bytes()),
            None => message,
        }
    }
}

/// Removes the first rule of a priority.
pub fn remove_rule(is_ipv6: bool, priority: u32) -> Message {
    let header = [family(is_ipv6), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let request = format!("remove a rule of priority {priority}");
    Message::new(libc::RTM_DELRULE, 0, &header, request).with(super::FRA_PRIORITY, &priority.to_ne_bytes())
}
