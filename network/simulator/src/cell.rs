//! A cell in slots: a cell of `prismux_cellular` as a shared medium, and the nodes on it.
//!
//! * `medium`: the cell as a [`Medium`](crate::Medium).
//! * `nodes`: hosts that reach the world by it, and the gates to that world: base station, hybrid stations, access
//!   points.
//!
//! Over which gate a host is reached, all gates and what is behind them know at once, and the host keeps its address.
pub(crate) mod medium;
mod nodes;

use crate::core::ids::NodeId;
use crate::nodes::node::Node;
use nodes::{CellHost, Gate};
use prismux_plan::{MediumModel, Plan};

/// The nodes of all cells of a plan.
pub(crate) fn nodes(plan: &Plan) -> Vec<(NodeId, Box<dyn Node>)> {
    let mut nodes: Vec<(NodeId, Box<dyn Node>)> = Vec::new();
    for medium in plan.medium_ids() {
        let MediumModel::Cell(cell) = &plan[medium].model else { continue };
        let attached = &plan[medium].attached;
        let Some(base) = cell.base_station(attached) else { continue };
        let slot_bytes = cell.config.packet.as_u64() as u32;
        for &host in cell.hosts(attached) {
            nodes.push((host, Box::new(CellHost::new(medium, base, slot_bytes))));
        }
        for &gate in cell.gates(attached) {
            let hosts = cell.hosts(attached).to_vec();
            nodes.push((gate, Box::new(Gate::new(medium, hosts, gate == base, slot_bytes))));
        }
    }
    nodes
}
