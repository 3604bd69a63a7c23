//! Cells in slots: hosts and a base station that share one channel, slot by slot.
use crate::NodeId;
use alloc::vec::Vec;
use prismux_cellular::slots::{Access, CellConfig};
use prismux_wireless::Mobility;

/// A cell whose channel is divided into slots of one packet. The nodes on it are, in this order: hosts, the base
/// station, hybrid stations, access points.
#[derive(Debug, Clone, PartialEq)]
pub struct SlottedCell {
    /// Who sends in a slot.
    pub access: Access,
    /// What the cell is made of.
    pub config: CellConfig,
    /// How each node moves, in the order in which they are attached.
    pub mobility: Vec<Mobility>,
    /// Packets that wait at a source for one destination.
    pub queue_packets: u32,
    /// Whether results tell what hosts draw.
    pub counts_energy: bool,
}

impl SlottedCell {
    /// The base station, of these nodes on the cell; `None` where there are too few.
    pub fn base_station(&self, attached: &[NodeId]) -> Option<NodeId> {
        attached.get(self.config.hosts).copied()
    }

    /// The nodes that hosts reach the world by, of these on the cell: base station, hybrid stations, access points.
    pub fn gates<'a>(&self, attached: &'a [NodeId]) -> &'a [NodeId] {
        attached.get(self.config.hosts..).unwrap_or(&[])
    }

    /// The others.
    pub fn hosts<'a>(&self, attached: &'a [NodeId]) -> &'a [NodeId] {
        attached.get(..self.config.hosts).unwrap_or(attached)
    }

    /// Whether peers relay, so that hybrid stations have a part in it.
    pub fn has_relaying_peers(&self) -> bool {
        !matches!(self.access, Access::Polled { .. } | Access::Interworking)
    }

    /// Whether access points have a part in it.
    pub fn uses_access_points(&self) -> bool {
        matches!(self.access, Access::DualMode { .. } | Access::Interworking)
    }
}
