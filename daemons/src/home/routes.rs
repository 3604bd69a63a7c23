//! The way of a home's packets: into the tunnels while the gateway answers, and out of the right uplink.
//!
//! No route of others is touched. Two routing tables of the home's own and these rules, in this order, lead there:
//!
//! | rule | leads |
//! |---|---|
//! | out of the uplink's device (sockets bound to it) | to the uplink's router, where the file names one |
//! | all, but default routes do not count | main: neighbours, other tunnels, whatever has a route of its own |
//! | from the home's addresses, or from none yet | into the tunnels |
//! | forwarded | into the tunnels, where the home shares its uplinks |
//!
//! The last two stand while the gateway answers. What this host sends from an uplink's address stays on that uplink, so
//! that connections from outside to that address go on.
use crate::config::{HomeConfig, MAX_UPLINKS, Uplink, single};
use crate::daemon::DaemonError;
use prismux_linux::netconf::{self, NetconfError, Prefix};
use prismux_linux::netlink::either_family::{self, DeviceRoute, Rule};
use prismux_linux::offload::OffloadTun;
use std::net::{IpAddr, Ipv4Addr};

/// The main routing table's number.
const MAIN_TABLE: u32 = 254;

/// Rules in order of their priority; each home adds its table's number, by which they are found again.
const UPLINK_PRIORITY: u32 = 27_000;
const MAIN_PRIORITY: u32 = 28_000;
const TUNNEL_PRIORITY: u32 = 29_000;
/// Of its own: the kernel takes rules of one priority for the same that differ by what one of them leaves open.
const FORWARDED_PRIORITY: u32 = 30_000;
const PRIORITIES: u32 = 1000;

/// Most rules of one priority; a bound for the clearing loop.
const MAX_RULES: usize = 64;

/// The routes and rules of a home. They are removed with its footprint.
#[derive(Debug)]
pub(super) struct HomeRoutes {
    table: u32,
    share: bool,
    addresses: Vec<IpAddr>,
    are_set: bool,
}

impl HomeRoutes {
    /// Makes the tables, and the rules by which uplinks find their routers.
    ///
    /// # Errors
    /// [`DaemonError::Netconf`] when the kernel refuses.
    pub fn prepare(tun: &OffloadTun, config: &HomeConfig) -> Result<Self, DaemonError> {
        let table = config.routing_table;
        let (share, addresses) = (config.share, config.addresses.clone());
        let routes = Self { table, share, addresses, are_set: false };
        let device = netconf::device(tun.name())?;
        let mut requests = Vec::new();
        for &address in &routes.addresses {
            let Prefix { length, .. } = single(address);
            requests.push(either_family::add_address(device, address, length));
            requests.push(
                DeviceRoute { source: Some(address), ..default_route(address, device, table) }.replace(),
            );
        }
        for (index, uplink) in config.uplinks.iter().enumerate() {
            if let Some(router) = uplink.router {
                let (priority, table) = (routes.priority(UPLINK_PRIORITY), config.uplink_table(index));
                let rule = Rule::all(router.is_ipv6(), priority, table);
                requests.push(Rule { leave_by: Some(&uplink.device), ..rule }.add());
            }
        }
        for is_ipv6 in routes.families() {
            let rule = Rule::all(is_ipv6, routes.priority(MAIN_PRIORITY), MAIN_TABLE);
            requests.push(Rule { least_bits: Some(0), ..rule }.add());
        }
        netconf::request(requests)?;
        Ok(routes)
    }

    /// Has an uplink use the router that the file names: again and again, since the route goes when the device does.
    ///
    /// # Errors
    /// [`NetconfError`]: what the kernel said.
    pub fn refresh(config: &HomeConfig, index: usize, uplink: &Uplink) -> Result<(), NetconfError> {
        let Some(router) = uplink.router else { return Ok(()) };
        let device = netconf::device(&uplink.device)?;
        let route = default_route(router, device, config.uplink_table(index));
        netconf::request(vec![DeviceRoute { router: Some(router), ..route }.replace()])
    }

    /// Leads traffic into the tunnels, or no more. A rule that cannot be set is told in the log, and tried again at
    /// the next registration.
    pub fn set(&mut self, wanted: bool) {
        if wanted == self.are_set {
            return;
        }
        if !wanted {
            self.withdraw();
        }
        self.are_set = wanted;
        if wanted && let Err(error) = self.add() {
            tracing::warn!(%error, "traffic could not be led into the tunnels");
            self.withdraw();
            self.are_set = false;
        }
    }

    fn add(&self) -> Result<(), NetconfError> {
        const HOST_ITSELF: Option<&str> = Some("lo");
        const NO_ADDRESS: Option<(IpAddr, u8)> = Some((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 32));
        let rule = |is_ipv6, first| Rule::all(is_ipv6, self.priority(first), self.table);
        let mut requests = Vec::new();
        for &address in &self.addresses {
            let tunnel = rule(address.is_ipv6(), TUNNEL_PRIORITY);
            // Without an address yet; IPv6 has no such rule, and its packets get the home's address by hand.
            if !address.is_ipv6() {
                requests.push(Rule { came_by: HOST_ITSELF, from: NO_ADDRESS, ..tunnel }.add());
            }
            requests.push(Rule { from: Some((address, single(address).length)), ..tunnel }.add());
        }
        for is_ipv6 in self.families().into_iter().filter(|_| self.share) {
            let forwarded = rule(is_ipv6, FORWARDED_PRIORITY);
            requests.push(Rule { came_by: HOST_ITSELF, is_inverted: true, ..forwarded }.add());
        }
        netconf::request(requests)
    }

    fn withdraw(&self) {
        remove(self.table, &[TUNNEL_PRIORITY, FORWARDED_PRIORITY]);
    }

    fn priority(&self, first: u32) -> u32 {
        first + self.table % PRIORITIES
    }

    /// Whether each of them is IPv6.
    fn families(&self) -> Vec<bool> {
        let of = |is_ipv6: &bool| self.addresses.iter().any(|address| address.is_ipv6() == *is_ipv6);
        [false, true].into_iter().filter(of).collect()
    }
}

/// Removes every rule of the home with this table, and its routes, also when it was killed.
pub(crate) fn clear(table: u32) {
    remove(table, &[TUNNEL_PRIORITY, FORWARDED_PRIORITY, MAIN_PRIORITY, UPLINK_PRIORITY]);
    let tables = table..=table + MAX_UPLINKS as u32;
    let of = |table| [false, true].map(|is_ipv6| either_family::remove_default_route(is_ipv6, table));
    // Routes of its device have gone with it; what is not there is refused.
    let _ = netconf::request(tables.flat_map(of).collect());
}

fn remove(table: u32, priorities: &[u32]) {
    for first in priorities {
        let priority = first + table % PRIORITIES;
        for is_ipv6 in [false, true] {
            let rule = || netconf::request(vec![either_family::remove_rule(is_ipv6, priority)]);
            // Ends with the first that is not there.
            let _ = (0..MAX_RULES).take_while(|_| rule().is_ok()).count();
        }
    }
}

/// A default route out of a device, of an address's family.
fn default_route(address: IpAddr, device: u32, table: u32) -> DeviceRoute {
    let all = if address.is_ipv6() { Prefix::ALL_V6 } else { Prefix::ALL_V4 };
    let (destination, length) = (all.address, all.length);
    DeviceRoute { destination, length, device, router: None, source: None, table }
}
