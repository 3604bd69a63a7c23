//! What joining and leaving changes.
use super::community::Community;
use super::proxy::ProxyNode;
use crate::core::ids::{LinkId, NodeId};
use crate::simulation::Simulation;
use prismux_prism::LinkConfig;
use prismux_trace::event::Event;

impl Simulation {
    /// A member joins, if it has a proxy and is not there.
    pub(crate) fn join(&mut self, node: NodeId) {
        let found = self.community.members.iter_mut().find(|member| member.node == node && !member.joined);
        let Some(member) = found else { return };
        let Some((proxy, link)) = member.proxy else { return };
        member.joined = true;
        let config = LinkConfig {
            name: member.link_name.clone(),
            advertised_rate: member.advertised_rate,
            round_trip: Some(member.round_trip),
        };
        self.network.with_node_as(proxy, |proxy: &mut ProxyNode, context| proxy.join(context, link, config));
        self.membership_changed(node, true);
        self.network.observe(|names| Event::MemberJoined { member: names.node(node), peer: None });
    }

    /// A member leaves, if it is there.
    pub(crate) fn leave(&mut self, node: NodeId) {
        let found = self.community.members.iter_mut().find(|member| member.node == node && member.joined);
        let Some(member) = found else { return };
        let Some((proxy, link)) = member.proxy else { return };
        member.joined = false;
        self.network.with_node_as(proxy, |proxy: &mut ProxyNode, context| proxy.leave(context, link));
        self.membership_changed(node, false);
        self.network.observe(|names| Event::MemberLeft { member: names.node(node), cause: None });
    }

    /// A member has joined or left: ACKs choose their member, its links count as capacity, or no longer.
    fn membership_changed(&mut self, node: NodeId, joined: bool) {
        self.choose_return_members();
        let members = self.community.members.iter();
        let links: Vec<LinkId> =
            members.filter(|member| member.node == node).flat_map(|member| member.links.clone()).collect();
        for link in links {
            self.account_link(link);
            self.report.links[link.index()].in_use = joined;
        }
    }

    /// Points every receiver's exit at the first member of its list that has joined (or stays, when none has).
    pub(crate) fn choose_return_members(&mut self) {
        let Community { members, receivers, .. } = &self.community;
        for receiver in receivers {
            let joined = |node: NodeId| members.iter().any(|member| member.node == node && member.joined);
            let Some(&(_, port)) = receiver.exits.iter().find(|(member, _)| joined(*member)) else {
                continue;
            };
            for &destination in &receiver.beyond {
                self.network.routes.set(receiver.node, destination, port);
            }
        }
        self.refresh_exits();
    }
}
