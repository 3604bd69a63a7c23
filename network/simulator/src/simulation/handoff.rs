//! A host moves from one link to another.
use super::Simulation;
use crate::core::ids::{FlowId, LinkId, NodeId, PortId};
use prismux_trace::event::Event;
use prismux_units::Rate;

impl Simulation {
    /// A host has completed a handoff: it has a link, an address and a route, and knows it. It keeps its address, as
    /// with Mobile IP.
    pub(super) fn hand_over(&mut self, host: NodeId, link: Option<LinkId>, bandwidth: Option<Rate>) {
        if let Some(link) = link {
            self.attach(host, link);
        }
        self.network.observe(|names| Event::HandoffComplete {
            node: names.node(host),
            link: link.map(|link| names.link(PortId::forward(link))),
            bandwidth_bps: bandwidth.map(Rate::as_bps),
        });
        for flow in (0..self.flows.len() as u32).map(FlowId) {
            self.with_flow(flow, |flow, context| flow.hand_over(context, host, bandwidth));
        }
    }

    /// All that `host` sends leaves by `link`, and all that is for it goes to the link's other end first.
    fn attach(&mut self, host: NodeId, link: LinkId) {
        let network = &mut self.network;
        let (mut inwards, mut outwards) = (PortId::forward(link), PortId::reverse(link));
        if network.ends[inwards.index()].node != host {
            (inwards, outwards) = (outwards, inwards);
        }
        let access = network.ends[outwards.index()].node;
        for node in (0..network.forwarding.len() as u32).map(NodeId) {
            if node == host {
                continue;
            }
            network.routes.set(host, node, outwards);
            let towards = if node == access { Some(inwards) } else { network.routes.next(node, access) };
            if let Some(port) = towards {
                network.routes.set(node, host, port);
            }
        }
        self.refresh_exits();
    }
}
