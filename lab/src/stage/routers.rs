//! The routing daemons of hosts on an air.
use super::Stage;
use crate::LabError;
use crate::air::DaemonEnd;
use crate::daemons::{Daemon, DaemonOrders, DaemonRole, STATUS_SOCKET};
use prismux_plan::{Routing, registry};

/// Leading bits that the own addresses of all nodes have in common.
const NETWORK_BITS: u8 = 16;

impl Stage<'_> {
    /// One daemon for each host that routes, with its end of the socket to the air.
    pub(super) fn make_routers(&mut self, ends: Vec<DaemonEnd>) -> Result<(), LabError> {
        for DaemonEnd { node, medium, socket } in ends {
            let ports = &self.topology.nodes[node].radio;
            let Some(port) = ports.iter().find(|port| port.medium == medium) else { continue };
            let name = port.protocol.unwrap_or_default();
            if registry::value_of(registry::ROUTING, name).is_none_or(|known| known == Routing::Direct) {
                return Err(LabError::Layout(format!(
                    "medium \"{}\": no daemon can be told parameters of a routing protocol that have no name",
                    self.orders.plan.media[medium].name
                )));
            }
            let address = format!("{}/{NETWORK_BITS}", self.topology.address(node));
            let arguments = [
                ["--protocol", name],
                ["--address", &address],
                ["--radio", "fd:0"],
                ["--device", &port.device],
                ["--status-socket", STATUS_SOCKET],
            ];
            let arguments = arguments.into_iter().flatten().map(str::to_owned).collect();
            let (orders, role) = (DaemonOrders::Route(arguments, socket), DaemonRole::Router);
            let (name, namespace) = (self.topology.name(node), &self.namespaces[node]);
            self.daemons.push(Daemon::new(node, name, role, namespace, orders));
        }
        Ok(())
    }
}
