//! A host moves from one link to another.
use super::Simulation;
use crate::core::ids::{FlowId, LinkIndex, NodeId};
use prismux_trace::event::Event;
use prismux_units::Rate;

/// A handoff at the instant of its completion: the host has a link, an address and a route, and knows it.
///
/// How long there was no link before is for the links' own changes to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handoff {
    /// Who moves.
    pub host: NodeId,
    /// The link of the host that carries its packets from now on, in both directions (the host keeps its address, as
    /// with Mobile IP); `None` stays with the present one.
    pub link: Option<LinkIndex>,
    /// The host's estimate of the link's bandwidth.
    pub bandwidth: Option<Rate>,
}

impl Simulation {
    pub(super) fn hand_over(&mut self, handoff: &Handoff) {
        if let Some(link) = handoff.link {
            self.attach(handoff.host, link);
        }
        self.network.observe(|names| Event::HandoffComplete {
            node: names.node(handoff.host),
            link: handoff.link.map(|link| names.link(link.forward())),
            bandwidth_bps: handoff.bandwidth.map(Rate::as_bps),
        });
        for flow in (0..self.flows.len() as u32).map(FlowId) {
            self.with_flow(flow, |flow, context| flow.hand_over(context, handoff.host, handoff.bandwidth));
        }
    }

    /// All that `host` sends leaves by `link`, and all that is for it goes to the link's other end first.
    fn attach(&mut self, host: NodeId, link: LinkIndex) {
        let network = &mut self.network;
        let (mut inwards, mut outwards) = (link.forward(), link.reverse());
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
