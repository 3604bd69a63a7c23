//! The ways of the pipes of `prismux fetch`: out of one of the client's links, back to that link's address.
use super::{MAIN_TABLE, NodeIndex, Topology};
use crate::LabError;
use crate::orders::FetchOrders;
use prismux_plan::{Flow, Pipe, Plan};
use std::net::Ipv4Addr;

/// Number of the first routing table made for a device; one more for each further link.
const FIRST_DEVICE_TABLE: u32 = 20_000;

/// Where a pipe begins and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PipeEnds {
    /// The client's interface.
    pub device: String,
    /// The server's node.
    pub server: NodeIndex,
    /// The address it listens at.
    pub server_address: Ipv4Addr,
}

impl Topology {
    /// Lays the ways of all pipes of a flow.
    pub(super) fn lay_pipes(
        &mut self,
        plan: &Plan,
        flow: &Flow,
        fetch: &FetchOrders,
    ) -> Result<(), LabError> {
        let client = flow.to.index();
        for pipe in &fetch.pipes {
            let (server, port) = self.pipe_port(plan, flow, pipe)?;
            let table = FIRST_DEVICE_TABLE + self.nodes[client].ports[port].link as u32;
            let own = self.nodes[client].ports[port].local;
            if !self.nodes[client].port_rules.contains(&(port, table)) {
                self.nodes[client].port_rules.push((port, table));
            }
            self.add_route(client, table, None, port, Some(own));
            // The way there, read backwards, is the way back.
            let neighbour = self.nodes[client].ports[port].neighbour;
            let (mut towards, mut link) = (neighbour, self.nodes[client].ports[port].link);
            let mut back = vec![(towards, link)];
            for (_, step) in self.walk(neighbour, server)? {
                let step = &self.nodes[towards].ports[step];
                (towards, link) = (step.neighbour, step.link);
                back.push((towards, link));
            }
            if back[..back.len() - 1].iter().any(|&(node, _)| node == client) {
                return Err(LabError::flow(
                    &flow.name,
                    format!("the pipe \"{}\" cannot reach its server over its link", pipe.name),
                ));
            }
            // The client's neighbour has the link itself.
            for (node, link) in back.into_iter().skip(1) {
                let port = self.nodes[node].ports.iter().position(|port| port.link == link);
                if let Some(port) = port {
                    self.add_route(node, MAIN_TABLE, Some(own), port, None);
                }
            }
        }
        Ok(())
    }

    /// The ends of a pipe.
    pub(crate) fn pipe_ends(&self, plan: &Plan, flow: &Flow, pipe: &Pipe) -> Result<PipeEnds, LabError> {
        let (server, port) = self.pipe_port(plan, flow, pipe)?;
        let device = self.nodes[flow.to.index()].ports[port].device.clone();
        Ok(PipeEnds { device, server, server_address: self.address(server) })
    }

    /// A pipe's server and the client's port that it leaves by: its link's, or the first on the shortest way.
    fn pipe_port(&self, plan: &Plan, flow: &Flow, pipe: &Pipe) -> Result<(NodeIndex, usize), LabError> {
        let (client, server) = (flow.to.index(), pipe.server.index());
        let ports = &self.nodes[client].ports;
        let port = match pipe.link {
            Some(link) => ports.iter().position(|port| port.link == link.index()),
            None => self.walk(client, server)?.first().map(|&(_, port)| port),
        };
        let unreachable =
            || LabError::flow(&flow.name, format!("no links lead to \"{}\"", plan[pipe.server].name));
        Ok((server, port.ok_or_else(unreachable)?))
    }
}
