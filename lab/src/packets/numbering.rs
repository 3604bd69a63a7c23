//! Numbers of packets. One that leaves the kernel of a node for the first time gets the next number, and carries it
//! through links and airs as they work in this process. Inside of a node, where it belongs to kernel and daemons, it is
//! known by what it has in it: the IP packet, without a tunnel around it, as far as routers do not change it.
//!
//! A packet that a daemon has written anew is a new one, as in the simulator.
use super::{FlowNames, Label, inner};
use crate::topology::Topology;
use prismux_units::{Duration, Instant};
use prismux_wire::IpPacket;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// What a node has not passed on after this time, it will not: its kernel has dropped it.
const PATIENCE: Duration = Duration::from_secs(10);

/// So much of a packet tells it from others: its headers, and the beginning of what it carries.
const KNOWN_BYTES: usize = 128;

/// The numbers of a run, shared by all that carry packets between nodes.
#[derive(Debug, Clone)]
pub(crate) struct Numbering {
    flows: FlowNames,
    /// By address: the node that takes what is for it.
    owners: Arc<HashMap<IpAddr, usize>>,
    inside: Arc<Mutex<Inside>>,
}

/// By node, a packet in it.
type Key = (usize, u64);

/// Packets that are in nodes for the time being.
#[derive(Debug, Default)]
struct Inside {
    /// Numbers given so far.
    given: u64,
    /// What was handed to a node that is to pass it on; of equal packets the first comes out first.
    packets: HashMap<Key, VecDeque<Label>>,
    /// All of them, in the order in which they came.
    came: VecDeque<(Instant, Key, u64)>,
}

impl Numbering {
    /// For the flows of a run on these nodes.
    pub fn new(flows: FlowNames, topology: &Topology) -> Self {
        let owners = topology.nodes.iter().enumerate().flat_map(|(index, node)| {
            let own = node.own_senders.iter().map(|(_, address)| *address);
            let ports = node.ports.iter().map(|port| port.local);
            let all = node.addresses.iter().copied().chain(own).chain(ports);
            all.map(move |address| (IpAddr::V4(address), index))
        });
        Self { flows, owners: Arc::new(owners.collect()), inside: Arc::default() }
    }

    /// The flows of the run.
    pub const fn flows(&self) -> &FlowNames {
        &self.flows
    }

    /// A packet leaves a node: what it is, and whether it sets out there. Packets of no flow have no number.
    pub fn leaves(&self, now: Instant, node: usize, packet: &[u8]) -> (Label, bool) {
        let Some(flow) = self.flows.flow_of(packet) else { return (Label::default(), false) };
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.forget(now);
        if let Some(label) = inside.take((node, content(packet))) {
            return (label, false);
        }
        inside.given += 1;
        (Label { flow: Some(flow), number: Some(inside.given - 1), damaged: false }, true)
    }

    /// A packet is about to be handed to a node. True when it is for that node, which is not to pass it on.
    pub fn enters(&self, now: Instant, node: usize, label: Label, packet: &[u8]) -> bool {
        let Some(number) = label.number else { return false };
        let inner = inner(packet).unwrap_or(Cow::Borrowed(packet));
        let destination = IpPacket::parse(&inner).map(|ip| ip.header.destination);
        if destination.is_ok_and(|destination| self.owners.get(&destination) == Some(&node)) {
            return true;
        }
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.put(now, (node, content(packet)), (label, number));
        false
    }
}

impl Inside {
    fn put(&mut self, now: Instant, key: Key, (label, number): (Label, u64)) {
        self.packets.entry(key).or_default().push_back(label);
        self.came.push_back((now, key, number));
    }

    fn take(&mut self, key: Key) -> Option<Label> {
        let equal = self.packets.get_mut(&key)?;
        let first = equal.pop_front();
        if equal.is_empty() {
            self.packets.remove(&key);
        }
        first
    }

    /// Forgets what came long ago and has not left.
    fn forget(&mut self, now: Instant) {
        while let Some(&(at, key, number)) = self.came.front()
            && now.saturating_since(at) > PATIENCE
        {
            self.came.pop_front();
            let first = self.packets.get(&key).and_then(VecDeque::front);
            if first.is_some_and(|label| label.number == Some(number)) {
                self.take(key);
            }
        }
    }
}

/// What a packet keeps on its way: all that no router and no tunnel changes.
fn content(packet: &[u8]) -> u64 {
    let packet = inner(packet).unwrap_or(Cow::Borrowed(packet));
    let mut known = [0; KNOWN_BYTES];
    let length = packet.len().min(KNOWN_BYTES);
    known[..length].copy_from_slice(&packet[..length]);
    // Class of service and congestion, time to live, header checksum (RFC 791).
    for at in [1, 8, 10, 11] {
        known[at] = 0;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&known[..length]);
    hasher.write_usize(packet.len());
    hasher.finish()
}

#[cfg(test)]
mod tests;
