//! Routes that change while the network stands: a host's handoff, the way of ACKs.
use super::Stage;
use crate::LabError;
use crate::topology::{NodeIndex, RouteEntry};
use prismux_linux::netlink::{self, Netlink, NetlinkError};
use prismux_plan::{LinkId, NodeId};
use prismux_trace::event::{Event, EventSink};
use prismux_units::Rate;
use std::collections::BTreeMap;

impl Stage<'_> {
    /// A host's packets, and those for it, take the way of `link` from now on.
    pub(super) fn hand_over(
        &mut self,
        host: NodeId,
        link: Option<LinkId>,
        bandwidth: Option<Rate>,
    ) -> Result<(), LabError> {
        let mut by_node: BTreeMap<NodeIndex, Vec<RouteEntry>> = BTreeMap::new();
        for (node, route) in
            link.map_or_else(Vec::new, |link| self.topology.hand_over(host.index(), link.index()))
        {
            by_node.entry(node).or_default().push(route);
        }
        for (node, routes) in by_node {
            self.set_routes(node, &routes)?;
        }
        let link = link.map(|link| self.orders.plan[link].name.as_str().into());
        let event = Event::HandoffComplete {
            node: self.name(host),
            link,
            bandwidth_bps: bandwidth.map(Rate::as_bps),
        };
        if let (Some(log), Some(clock)) = (&mut self.events, self.clock) {
            log.event(clock.now(), &event);
        }
        Ok(())
    }

    /// Sets these routes of a node, in place of those to the same destinations.
    pub(super) fn set_routes(&self, node: NodeIndex, routes: &[RouteEntry]) -> Result<(), LabError> {
        let net = &self.topology.nodes[node];
        self.configure(node, || {
            let failed = |source| NetlinkError { request: "turn a route".to_owned(), source };
            let mut requests = Vec::with_capacity(routes.len());
            for route in routes {
                let route = netlink::Route {
                    table: route.table,
                    destination: route.destination,
                    device: netlink::device_index(&net.ports[route.port].device).map_err(failed)?,
                    source: route.source,
                    metrics: net.tcp.route_metrics(),
                };
                requests.push(route.message());
            }
            Netlink::route().map_err(failed)?.send(requests)
        })
    }
}
