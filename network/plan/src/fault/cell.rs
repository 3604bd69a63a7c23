//! What can be wrong with a cell in slots.
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use prismux_units::ByteCount;

/// What is wrong with a cell in slots. Names are those of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum CellProblem {
    /// Numbers of which no cell can be made: why.
    Slots(&'static str),
    /// Hybrid stations or access points that the access has no use for, or lacks: why.
    Gates(&'static str),
    /// This host has a link too, which nothing would use.
    WiredHost(String),
    /// This hybrid station or access point is no router with a link.
    UnwiredGate(String),
    /// This base station, hybrid station or access point moves, or has no place of its own.
    MovingGate(String),
    /// Peers do not connect a host to the base station.
    Partitioned {
        /// The host.
        host: String,
        /// The least range that connects everybody, in metres.
        least_m: f64,
    },
    /// Packets of a flow are longer than the slots.
    LongPackets {
        /// A packet.
        packet: ByteCount,
        /// A slot.
        slot: ByteCount,
    },
}

impl CellProblem {
    /// What was found.
    pub(crate) fn found(&self) -> String {
        match self {
            Self::Slots(why) | Self::Gates(why) => format!("found {why}"),
            Self::WiredHost(node) => format!("host \"{node}\" of the cell has a link too"),
            Self::UnwiredGate(node) => format!("\"{node}\" is no router with a link"),
            Self::MovingGate(node) => format!("\"{node}\" has no place of its own"),
            Self::Partitioned { host, .. } => {
                format!("no way over peers leads from \"{host}\" to the base station")
            }
            Self::LongPackets { packet, slot } => {
                format!("packets of {packet} do not fit into slots of {slot}")
            }
        }
    }

    /// What was expected in its place.
    pub(crate) fn expected(&self) -> &'static str {
        match self {
            Self::Slots(_) => "slots, shares and intervals of which a cell can be made",
            Self::Gates(_) => {
                "stations with assisted, contention or dual-mode; access points with dual-mode or interworking"
            }
            Self::WiredHost(_) => "hosts that reach the world by the cell alone",
            Self::UnwiredGate(_) => "routers, with links towards the rest of the network",
            Self::MovingGate(_) => {
                "base station, hybrid stations and access points that stay in their places"
            }
            Self::Partitioned { .. } => "hosts that peers connect",
            Self::LongPackets { .. } => "packets that a slot carries whole, headers included",
        }
    }

    /// What to do, where that can be said.
    pub(crate) fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Slots(_) => return None,
            Self::Gates(_) => "choose another access, or other gates".to_owned(),
            Self::WiredHost(node) => format!("take \"{node}\" out of hosts, or the link away"),
            Self::UnwiredGate(node) => {
                format!("{node} = {{ kind = \"router\" }}, and a link between = [\"{node}\", \"base\"]")
            }
            Self::MovingGate(node) => format!("[mobility] places = {{ {node} = [750, 750] }}"),
            Self::Partitioned { least_m, .. } => {
                format!("write range_m = \"least\", or at least {}", *least_m as u64 + 1)
            }
            Self::LongPackets { packet, .. } => {
                format!("[cell] packet = \"{packet}\", or shorter packets: for TCP, mss and 40 B of headers")
            }
        })
    }
}
