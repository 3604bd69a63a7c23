//! Asking a network that stands: status pages of daemons, counters of devices.
use super::Stage;
use crate::lab::LabError;
use crate::lab::daemons::{Daemon, DaemonRole};
use crate::lab::measure;
use prismux_trace::results::Named;
use serde_json::Value;

impl Stage<'_> {
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

    /// Packets that found a device's queue full because the emulator had not emptied it.
    pub fn device_drops(&self) -> Result<u64, LabError> {
        let mut sum = 0;
        for node in 0..self.topology.nodes.len() {
            let read = || std::fs::read_to_string("/proc/thread-self/net/dev");
            let table = self.inside_of(node, read)?.map_err(LabError::setup("read the devices' counters"))?;
            let ours = |name: &str| self.topology.nodes[node].ports.iter().any(|port| port.device == name);
            sum += table
                .lines()
                .filter_map(measure::transmit_drops)
                .filter(|(name, _)| ours(name))
                .map(|(_, n)| n)
                .sum::<u64>();
        }
        Ok(sum)
    }
}
