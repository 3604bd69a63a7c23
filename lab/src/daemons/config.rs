//! Configuration files for the daemons of a lab.
use super::keys::Keys;
use super::{ACCOUNTS_FILE, STATUS_SOCKET};
use crate::LabError;
use crate::topology::{NodeIndex, Topology};
use prismux_daemons::config;
use prismux_daemons::tunnel::SEALED_PORT;
use prismux_plan::{NodeId, Plan, ProxySettings, Role, Tunnel};
use prismux_wire::gre::GRE_IN_UDP_PORT;
use std::net::Ipv4Addr;
use std::path::Path;
use toml::{Table, Value};

/// First routing table of a member's return rules; one more for each further proxy.
const FIRST_RETURN_TABLE: u32 = 4754;

/// Where a member's daemon for the first node as its proxy asks its neighbours; one more for each further node.
const FIRST_NEIGHBOURS_PORT: u16 = 4755;

/// What the members of one lab share with their proxies.
#[derive(Debug)]
pub(crate) struct Community<'a> {
    pub plan: &'a Plan,
    pub topology: &'a Topology,
    pub token: String,
    /// Whose keys are known, where tunnels are sealed.
    pub keys: &'a Keys,
}

impl Community<'_> {
    /// The proxy's configuration file; `record` is where it keeps a recording.
    ///
    /// # Errors
    /// When the plan has no proxy there.
    pub fn proxy(&self, node: NodeIndex, record: Option<&Path>) -> Result<String, LabError> {
        let proxy = self.settings_of(node)?;
        let address = self.topology.address(node);
        let mut tunnel = Table::from_iter([("receipts".to_owned(), proxy.receipts.into())]);
        if proxy.fec {
            tunnel.insert("fec".to_owned(), true.into());
        }
        match proxy.tunnel {
            // A tunnel without headers is refused before.
            Tunnel::Gre | Tunnel::Free => tunnel.insert("gre".to_owned(), address.to_string().into()),
            Tunnel::GreInUdp => {
                tunnel.insert("udp".to_owned(), format!("{address}:{GRE_IN_UDP_PORT}").into())
            }
            Tunnel::Sealed => tunnel.insert("sealed".to_owned(), format!("{address}:{SEALED_PORT}").into()),
        };
        let mut file = self.common(self.receivers(node));
        if proxy.tunnel == Tunnel::Sealed {
            file.insert("private_key_file".to_owned(), self.keys.file(node, node).into());
            file.insert("peers".to_owned(), self.peers(node).into());
        }
        file.insert("name".to_owned(), self.topology.name(node).into());
        file.insert("tunnel".to_owned(), tunnel.into());
        let prism = config::prism_settings_to_toml(&proxy.config).ok_or_else(|| {
            LabError::Layout(format!(
                "proxy \"{}\" has a setting that its configuration file cannot express: {:?}",
                self.topology.name(node),
                proxy.config,
            ))
        })?;
        file.insert("prism".to_owned(), prism.into());
        if let Some(record) = record {
            file.insert("record".to_owned(), record.to_string_lossy().into_owned().into());
        }
        Ok(file.to_string())
    }

    /// The configuration file of the member `node` for one of its proxies.
    ///
    /// # Errors
    /// When the plan has no member there.
    pub fn member(&self, node: NodeIndex, proxy: NodeIndex, number: u32) -> Result<String, LabError> {
        let remote = self.topology.address(proxy);
        let mut tunnel = Table::new();
        let peer = match self.settings_of(proxy)?.tunnel {
            Tunnel::Gre | Tunnel::Free => format!("gre:{remote}"),
            Tunnel::GreInUdp => format!("udp:{remote}:{GRE_IN_UDP_PORT}"),
            Tunnel::Sealed => {
                tunnel.insert("proxy_public_key".to_owned(), self.keys.public(proxy, proxy).into());
                format!("sealed:{remote}:{SEALED_PORT}")
            }
        };
        tunnel.insert("proxy".to_owned(), peer.into());
        tunnel.insert("local".to_owned(), format!("{}:0", self.tunnel_end(node, proxy)).into());
        let mut file = self.common(self.receivers(proxy));
        if self.settings_of(proxy)?.tunnel == Tunnel::Sealed {
            file.insert("private_key_file".to_owned(), self.keys.file(node, proxy).into());
        }
        file.insert("name".to_owned(), self.topology.name(node).into());
        if let Some(rate) = self.plan.advertised_rate(NodeId::new(node)) {
            file.insert("rate".to_owned(), rate.to_string().into());
        }
        file.insert("routing_table".to_owned(), i64::from(FIRST_RETURN_TABLE + number).into());
        file.insert("tunnel".to_owned(), tunnel.into());
        if let Some(neighbours) = self.neighbours(node, proxy) {
            file.insert("neighbours".to_owned(), neighbours.into());
        }
        let device = Table::from_iter([("name".to_owned(), Value::from(format!("prism{number}")))]);
        file.insert("tun".to_owned(), device.into());
        Ok(file.to_string())
    }

    /// Members of the same proxy to which a link leads, and the member's own end: its daemon for each proxy has its
    /// port.
    fn neighbours(&self, node: NodeIndex, proxy: NodeIndex) -> Option<Table> {
        let plan = self.plan;
        let is_near = |other: &&NodeIndex| {
            **other != node && plan.link_between(NodeId::new(node), NodeId::new(**other)).is_some()
        };
        let end = |node: NodeIndex| {
            format!("{}:{}", self.topology.address(node), usize::from(FIRST_NEIGHBOURS_PORT) + proxy)
        };
        let near = self.topology.members_of(proxy).iter().filter(is_near);
        let members: Vec<Value> = near.map(|&other| end(other).into()).collect();
        (!members.is_empty()).then(|| {
            Table::from_iter([
                ("local".to_owned(), end(node).into()),
                ("members".to_owned(), members.into()),
                ("token".to_owned(), self.token.clone().into()),
            ])
        })
    }

    fn settings_of(&self, proxy: NodeIndex) -> Result<&ProxySettings, LabError> {
        match &self.plan.nodes[proxy].role {
            Role::PrismProxy(settings) => Ok(settings),
            _ => Err(LabError::Layout(format!("\"{}\" is not a proxy", self.topology.name(proxy)))),
        }
    }

    /// The members of a proxy, with their keys.
    fn peers(&self, proxy: NodeIndex) -> Vec<Value> {
        let peer = |&member: &NodeIndex| {
            let (name, key) = (self.topology.name(member), self.keys.public(member, proxy));
            let entries = [("name".to_owned(), Value::from(name)), ("public_key".to_owned(), key.into())];
            Table::from_iter(entries).into()
        };
        self.topology.members_of(proxy).iter().map(peer).collect()
    }

    fn common(&self, receivers: Vec<Value>) -> Table {
        Table::from_iter([
            ("receivers".to_owned(), receivers.into()),
            ("token".to_owned(), self.token.clone().into()),
            ("status_socket".to_owned(), STATUS_SOCKET.into()),
            ("accounts_file".to_owned(), ACCOUNTS_FILE.into()),
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
