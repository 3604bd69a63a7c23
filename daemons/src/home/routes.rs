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
use prismux_linux::netconf::{self, NetconfError};
use prismux_linux::offload::OffloadTun;
use std::net::IpAddr;

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
    /// [`DaemonError::Netconf`] when `ip` refuses.
    pub fn prepare(tun: &OffloadTun, config: &HomeConfig) -> Result<Self, DaemonError> {
        let table = config.routing_table;
        let (share, addresses) = (config.share, config.addresses.clone());
        let routes = Self { table, share, addresses, are_set: false };
        for &address in &routes.addresses {
            netconf::add_address(tun.name(), single(address))?;
            let (family, device) = (family(address), tun.name());
            netconf::ip(&format!("{family} route replace default dev {device} src {address} table {table}"))?;
        }
        for (index, uplink) in config.uplinks.iter().enumerate() {
            if let Some(router) = uplink.router {
                let (family, priority) = (family(router), routes.priority(UPLINK_PRIORITY));
                let (device, table) = (&uplink.device, config.uplink_table(index));
                netconf::ip(&format!("{family} rule add oif {device} priority {priority} table {table}"))?;
            }
        }
        for family in routes.families() {
            let priority = routes.priority(MAIN_PRIORITY);
            netconf::ip(&format!(
                "{family} rule add priority {priority} table main suppress_prefixlength 0"
            ))?;
        }
        Ok(routes)
    }

    /// Has an uplink use the router that the file names: again and again, since the route goes when the device does.
    ///
    /// # Errors
    /// [`NetconfError`]: what `ip` said.
    pub fn refresh(config: &HomeConfig, index: usize, uplink: &Uplink) -> Result<(), NetconfError> {
        let Some(router) = uplink.router else { return Ok(()) };
        let (family, device, table) = (family(router), &uplink.device, config.uplink_table(index));
        netconf::ip(&format!("{family} route replace default via {router} dev {device} onlink table {table}"))
            .map(drop)
    }

    /// Leads traffic into the tunnels, or no more. A rule that cannot be set is told in the log, and tried again at
    /// the next registration.
    pub fn set(&mut self, wanted: bool) {
        if wanted == self.are_set {
            return;
        }
        self.withdraw();
        self.are_set = wanted;
        if wanted && let Err(error) = self.add() {
            tracing::warn!(%error, "traffic could not be led into the tunnels");
            self.withdraw();
            self.are_set = false;
        }
    }

    fn add(&self) -> Result<(), NetconfError> {
        let table = self.table;
        let tunnel = self.priority(TUNNEL_PRIORITY);
        let forwarded = self.priority(FORWARDED_PRIORITY);
        for &address in &self.addresses {
            let family = family(address);
            // Without an address yet; IPv6 has no such rule, and its packets get the home's address by hand.
            if !address.is_ipv6() {
                netconf::ip(&format!("rule add iif lo from 0.0.0.0/32 priority {tunnel} table {table}"))?;
            }
            netconf::ip(&format!("{family} rule add from {address} priority {tunnel} table {table}"))?;
        }
        for family in self.families().into_iter().filter(|_| self.share) {
            netconf::ip(&format!("{family} rule add not iif lo priority {forwarded} table {table}"))?;
        }
        Ok(())
    }

    fn withdraw(&self) {
        remove(self.table, &[TUNNEL_PRIORITY, FORWARDED_PRIORITY]);
    }

    fn priority(&self, first: u32) -> u32 {
        first + self.table % PRIORITIES
    }

    fn families(&self) -> Vec<&'static str> {
        let mut families: Vec<_> = self.addresses.iter().map(|&address| family(address)).collect();
        families.sort_unstable();
        families.dedup();
        families
    }
}

/// Removes every rule of the home with this table, and its routes, also when it was killed.
pub(crate) fn clear(table: u32) {
    remove(table, &[TUNNEL_PRIORITY, FORWARDED_PRIORITY, MAIN_PRIORITY, UPLINK_PRIORITY]);
    for table in table..=table + MAX_UPLINKS as u32 {
        // Routes of its device have gone with it; a table that is empty is none.
        let _ = netconf::ip(&format!("-4 route flush table {table}"));
        let _ = netconf::ip(&format!("-6 route flush table {table}"));
    }
}

fn remove(table: u32, priorities: &[u32]) {
    for first in priorities {
        let priority = first + table % PRIORITIES;
        for family in ["-4", "-6"] {
            let rule = format!("{family} rule del priority {priority}");
            // Ends with the first that is not there.
            let _ = (0..MAX_RULES).take_while(|_| netconf::ip(&rule).is_ok()).count();
        }
    }
}

fn family(address: IpAddr) -> &'static str {
    if address.is_ipv6() { "-6" } else { "-4" }
}
