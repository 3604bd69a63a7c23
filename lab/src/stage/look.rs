//! Asking a network that stands: status pages of daemons, counters of devices.
use super::Stage;
use crate::LabError;
use crate::daemons::{Daemon, DaemonRole};
use crate::measure;
use crate::orders::Carrier;
use crate::servers::Server;
use prismux_trace::results::Named;
use serde_json::Value;

impl Stage<'_> {
    /// Fails if a process of the stage has ended by itself.
    pub(super) fn check(&mut self) -> Result<(), LabError> {
        self.daemons.iter_mut().try_for_each(Daemon::check)?;
        self.servers.iter_mut().try_for_each(Server::check)
    }

    /// Ends the servers of files and answers what each node's have counted.
    pub fn end_servers(&mut self) -> Named<Named<u64>> {
        let mut nodes: Named<Named<u64>> = Named::default();
        for server in std::mem::take(&mut self.servers) {
            let counters = nodes.entry(server.node.clone()).or_default();
            for (name, count) in server.finish() {
                *counters.entry(name).or_default() += count;
            }
        }
        nodes
    }

    /// The status pages of all daemons that answer, by node.
    pub fn status(&self) -> Named<Value> {
        let page = |daemon: &Daemon| {
            let several = self.daemons.iter().filter(|other| other.node == daemon.node).count() > 1;
            let name = match daemon.role {
                DaemonRole::Member { proxy } if several => {
                    format!("{}/{}", daemon.name, self.topology.name(proxy))
                }
                _ => daemon.name.clone(),
            };
            Some((name, daemon.status()?))
        };
        self.daemons.iter().filter_map(page).collect()
    }

    /// Packets that found a device's queue full because the emulator had not emptied it, by node and device ("h1
    /// radio0"); devices without any are left out. An interface that the plan takes down loses what is in its queue,
    /// and does not count.
    ///
    /// # Errors
    /// When the counters of a node cannot be read.
    pub fn device_drops(&self) -> Result<Named<u64>, LabError> {
        let mut taken_down: Vec<(usize, String)> = Vec::new();
        for flow in &self.orders.flows {
            let Carrier::Fetch(fetch) = &flow.carrier else { continue };
            for pipe in fetch.pipes.iter().filter(|pipe| pipe.drops.is_some()) {
                let ends = self.topology.pipe_ends(self.orders.plan, flow.flow, pipe)?;
                taken_down.push((flow.flow.to.index(), ends.device));
            }
        }
        let mut drops = Named::default();
        for (node, net) in self.topology.nodes.iter().enumerate() {
            let read = || std::fs::read_to_string("/proc/thread-self/net/dev");
            let table = self.inside(node, read)?.map_err(LabError::setup("read the devices' counters"))?;
            let stays = |name: &str| !taken_down.iter().any(|(of, device)| *of == node && device == name);
            let ours = |name: &str| {
                let devices = net.ports.iter().map(|port| &port.device);
                let mut devices = devices.chain(net.radio.iter().map(|port| &port.device));
                devices.any(|device| device == name) && stays(name)
            };
            let dropped = table.lines().filter_map(measure::transmit_drops);
            let dropped = dropped.filter(|(name, packets)| *packets > 0 && ours(name));
            let of_node = self.topology.name(node);
            drops.extend(dropped.map(|(device, packets)| (format!("{of_node} {device}"), packets)));
        }
        Ok(drops)
    }
}
