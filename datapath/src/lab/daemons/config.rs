//! Configuration files for the daemons of a lab.
use super::STATUS_SOCKET;
use crate::config;
use crate::lab::LabError;
use crate::lab::plan::{LabPlan, MemberPlan, ProxyPlan, Role, Tunnel};
use crate::lab::topology::{NodeIndex, Topology};
use prismux_prism::{ProxyConfig, WeightUnit};
use std::net::Ipv4Addr;
use std::path::Path;
use toml::{Table, Value};

/// Port of GRE in UDP (RFC 8086).
const GRE_IN_UDP_PORT: u16 = 4754;

/// First routing table of a member's return rules; one more for each further proxy.
const FIRST_RETURN_TABLE: u32 = 4754;

/// What the members of one lab share with their proxies.
#[derive(Debug)]
pub(in crate::lab) struct Community<'a> {
    pub plan: &'a LabPlan,
    pub topology: &'a Topology,
    pub token: String,
}

impl Community<'_> {
    /// The proxy's configuration file.
    pub fn proxy(&self, node: NodeIndex) -> Result<String, LabError> {
        let Role::Proxy(proxy) = &self.plan.nodes[node].role else {
            return Err(LabError::Plan(format!("\"{}\" is not a proxy", self.topology.name(node))));
        };
        let address = self.topology.address(node);
        let mut tunnel = Table::new();
        match proxy.tunnel {
            Tunnel::Gre => tunnel.insert("gre".to_owned(), address.to_string().into()),
            Tunnel::GreInUdp => {
                tunnel.insert("udp".to_owned(), format!("{address}:{GRE_IN_UDP_PORT}").into())
            }
        };
        let mut file = self.common(self.receivers(node));
        file.insert("tunnel".to_owned(), tunnel.into());
        let mut given = None;
        for profile in ["modern", "paper"] {
            file.insert("prism".to_owned(), prism_table(profile, &proxy.config).into());
            let text = file.to_string();
            let read = config::ProxyConfig::from_text(Path::new("proxy.toml"), &text).map_err(|error| {
                LabError::Plan(format!("proxy \"{}\": {error}", self.topology.name(node)))
            })?;
            // The daemon clamps the MSS to its tunnel's MTU instead.
            let read = ProxyConfig { mss_clamp: proxy.config.mss_clamp, ..read.prism };
            if read == proxy.config {
                return Ok(text);
            }
            given = Some(read);
        }
        Err(LabError::Plan(format!(
            "proxy \"{}\" has a setting that its configuration file cannot express: wanted {:?}, the file gives {given:?}",
            self.topology.name(node),
            proxy.config,
        )))
    }

    /// The configuration file of the member `node` for one of its proxies.
    pub fn member(&self, node: NodeIndex, member: &MemberPlan, proxy: NodeIndex, number: u32) -> String {
        let tunnel_kind = match &self.plan.nodes[proxy].role {
            Role::Proxy(proxy) => proxy.tunnel,
            _ => ProxyPlan::default().tunnel,
        };
        let remote = self.topology.address(proxy);
        let mut tunnel = Table::new();
        let peer = match tunnel_kind {
            Tunnel::Gre => format!("gre:{remote}"),
            Tunnel::GreInUdp => format!("udp:{remote}:{GRE_IN_UDP_PORT}"),
        };
        tunnel.insert("proxy".to_owned(), peer.into());
        tunnel.insert("local".to_owned(), format!("{}:0", self.tunnel_end(node, proxy)).into());
        let mut file = self.common(self.receivers(proxy));
        file.insert("name".to_owned(), self.topology.name(node).into());
        if let Some(rate) = member.advertised_rate {
            file.insert("rate".to_owned(), rate.to_string().into());
        }
        file.insert("routing_table".to_owned(), i64::from(FIRST_RETURN_TABLE + number).into());
        file.insert("tunnel".to_owned(), tunnel.into());
        let device = Table::from_iter([("name".to_owned(), Value::from(format!("prism{number}")))]);
        file.insert("tun".to_owned(), device.into());
        file.to_string()
    }

    fn common(&self, receivers: Vec<Value>) -> Table {
        Table::from_iter([
            ("receivers".to_owned(), receivers.into()),
            ("token".to_owned(), self.token.clone().into()),
            ("status_socket".to_owned(), STATUS_SOCKET.into()),
        ])
    }

    /// Addresses of the receivers behind a proxy.
    fn receivers(&self, proxy: NodeIndex) -> Vec<Value> {
        let paths = self.topology.proxied_paths().filter(|path| path.proxy == Some(proxy));
        paths.map(|path| path.address.to_string().into()).collect()
    }

    /// The member's end of the tunnel: of the link to the proxy where there is one, so that its packets take that link;
    /// else its own address.
    fn tunnel_end(&self, node: NodeIndex, proxy: NodeIndex) -> Ipv4Addr {
        let ports = &self.topology.nodes[node].ports;
        let port = ports.iter().find(|port| port.neighbour == proxy);
        port.map_or_else(|| self.topology.address(node), |port| port.local)
    }
}

/// The protocol's settings as the `[prism]` table: a profile and every setting that has a key of its own.
fn prism_table(profile: &str, config: &ProxyConfig) -> Table {
    let weight_unit = match config.weight_unit {
        WeightUnit::SlowestLink => "slowest-link",
        WeightUnit::Gcd => "gcd",
    };
    // TOML has no unsigned numbers of 64 bits; a larger seed is told by the comparison that follows.
    let number = |value: u64| Value::from(i64::try_from(value).unwrap_or(i64::MAX));
    Table::from_iter(
        [
            ("profile", Value::from(profile)),
            ("scheduler", config.scheduler.name().into()),
            ("rpc", config.rpc.name().into()),
            ("weight_unit", weight_unit.into()),
            ("weight_floor", config.weight_floor.into()),
            ("rtt_gain", config.rtt_gain.into()),
            ("link_dupthresh", number(config.link_dupthresh.into())),
            ("tail_factor", config.tail_factor.into()),
            ("ack_delay_allowance", config.ack_delay_allowance.to_string().into()),
            ("hold_max_rtts", config.hold_max_rtts.into()),
            ("hold_max_rto_share", config.hold_max_rto_share.into()),
            ("loss_reports", config.loss_reports.into()),
            ("report_repeat", number(config.report_repeat.into())),
            ("flow_idle", config.flow_idle.to_string().into()),
            ("max_flows", number(config.max_flows.into())),
            ("max_packets_per_flow", number(config.max_packets_per_flow.into())),
            ("learn_rates", config.learn_rates.into()),
            ("window_control", config.window_control.into()),
            ("repair_budget_packets", number(config.repair_budget_packets.into())),
            ("parking", config.parking.into()),
            ("seed", number(config.seed.0)),
        ]
        .map(|(key, value)| (key.to_owned(), value)),
    )
}
