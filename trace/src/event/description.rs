//! What a run is made of: the first event of a record, so that the record can be read without the scenario file.
use super::text::Name;
use crate::results::Backend;
use serde::{Deserialize, Serialize};

/// A run: where it came from, and the network and flows that its events name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDescription<'a> {
    /// The scenario's name.
    pub scenario: Name<'a>,
    /// SHA-256 (hex) of the scenario after overrides.
    pub scenario_hash: Name<'a>,
    /// Who carries the packets.
    pub backend: Backend,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of prismux.
    pub version: Name<'a>,
    /// The longest that the run takes, in nanoseconds.
    pub duration_ns: u64,
    /// Nodes, in the order of the scenario file.
    pub nodes: Vec<NodeDescription<'a>>,
    /// Links, in the order of the scenario file.
    pub links: Vec<LinkDescription<'a>>,
    /// Flows, in the order of the scenario file.
    pub flows: Vec<FlowDescription<'a>>,
    /// Radio media, in the order of the scenario file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<RadioDescription<'a>>,
}

/// A radio medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RadioDescription<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// The hosts on it.
    pub hosts: Vec<Name<'a>>,
    /// The channel of each, of its first radio where it has several; all are on one where this is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<u8>,
    /// Further radios: a host, by its place among those above, and a channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<(usize, u8)>,
    /// How far hosts reach in the mean, in metres.
    pub range_m: f64,
    /// Channels on which they reach as far as this instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges_m: Vec<(u8, f64)>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDescription<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// What it is, as scenario files say it ("host", "prism-proxy", ...).
    pub kind: Name<'a>,
}

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkDescription<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// The nodes at its ends; the first one's packets travel forward.
    pub ends: [Name<'a>; 2],
    /// Rate from the first end to the second at the start; `None` without a limit.
    pub rate_bps: Option<u64>,
    /// Rate from the second end to the first at the start; `None` without a limit.
    pub reverse_rate_bps: Option<u64>,
    /// One-way delay from the first end to the second at the start.
    pub delay_ns: u64,
    /// True for a link whose rate counts as capacity.
    pub shared: bool,
}

/// A flow between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowDescription<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// The node that sends the data.
    pub from: Name<'a>,
    /// The node that receives it.
    pub to: Name<'a>,
    /// Name of the transport.
    pub transport: Name<'a>,
}
