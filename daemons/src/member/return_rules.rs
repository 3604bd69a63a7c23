//! The way back of a member: what receivers send goes into the tunnel.
//!
//! It needs a routing rule, "from the receiver: into the TUN device", in a table of its own, which also satisfies the
//! reverse path filter, since the way to the sender is then the way its packets come from. The rule stands while the
//! member is registered: without a proxy that listens the receivers' packets go where this host would send them
//! without the member, such as through another member on the same host. Rules are removed at the end; the rule of a
//! member that was killed leads to an empty table, does no harm and is replaced at the next start.
//!
//! Where receivers are a range, what this host itself sends from an address in it stays outside the tunnel: the
//! member can be reached from its own LAN. A single address is that of a receiver, be it this host's.
use crate::config::MemberConfig;
use crate::daemon::DaemonError;
use prismux_linux::netconf::{self, NetconfError, Prefix, RulePlace};
use prismux_linux::offload::OffloadTun;

/// The rules and routes of the way back, removed when dropped.
#[derive(Debug)]
pub(super) struct ReturnRules {
    table: u32,
    are_set: bool,
}

impl ReturnRules {
    /// Makes the table, to which no rule leads yet.
    ///
    /// # Errors
    /// [`DaemonError::Netconf`] when the table cannot be made.
    pub fn prepare(tun: &OffloadTun, config: &MemberConfig) -> Result<Self, DaemonError> {
        let table = config.routing_table;
        let left_behind = netconf::remove_rules(table);
        if left_behind > 0 {
            tracing::info!(rules = left_behind, table, "removed the rules of a member that was killed");
        }
        let rules = Self { table, are_set: false };
        for default in [Prefix::ALL_V4, Prefix::ALL_V6] {
            if config.receivers.iter().any(|r| r.address.is_ipv6() == default.address.is_ipv6()) {
                netconf::replace_route(tun.name(), default, table)?;
            }
        }
        Ok(rules)
    }

    /// Sets the rules, or withdraws them. A rule that cannot be set is told in the log; the next registration tries
    /// again.
    pub fn set(&mut self, config: &MemberConfig, wanted: bool) {
        if wanted == self.are_set {
            return;
        }
        netconf::remove_rules(self.table);
        self.are_set = wanted;
        if wanted && let Err(error) = self.add(config) {
            tracing::warn!(%error, "the way back could not be set");
            netconf::remove_rules(self.table);
            self.are_set = false;
        }
    }

    fn add(&self, config: &MemberConfig) -> Result<(), NetconfError> {
        for receiver in &config.receivers {
            let selector = format!("from {receiver}");
            netconf::add_rule(receiver.address, &selector, RulePlace::Into(self.table))?;
            if !receiver.is_single() {
                netconf::add_rule(receiver.address, &selector, RulePlace::OwnPacketsPast(self.table))?;
            }
        }
        Ok(())
    }
}

impl Drop for ReturnRules {
    fn drop(&mut self) {
        netconf::remove_rules(self.table);
    }
}
