//! The packet simulator: protocol machines under virtual time.
//!
//! [`Simulation::from_plan`] builds a network from a plan, [`NetworkBuilder`] by hand; [`Simulation`] runs it. The
//! same seed gives the same bytes on every machine: events happen in order of (time, insertion), randomness comes
//! from streams named after their users, nothing iterates over hash tables.
//!
//! The map, from below:
//! * `core`: a timing wheel of events, the pool of packets under way, names; checkers, observers and time series, who
//!   only watch.
//! * `media`: wired links, and media that many share, behind [`Medium`]; `network`: packets under way between two
//!   endpoints; `nodes`: what they meet in between, by a table of next hops or by the rule of a [`Node`];
//!   `nodes::prism`: proxies, members, and who has joined whom.
//! * `flows`: one room for each transport, behind [`Transport`] (the description) and [`Flow`] (the machine).
//! * `from_plan`: from a plan to a network.
//! * `simulation`: the loop, planned events, results.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod builder;
mod core;
mod flows;
mod from_plan;
mod media;
mod network;
mod nodes;
mod simulation;

pub use builder::{BuildError, NetworkBuilder};
pub use core::ids::{FlowId, LinkIndex, NodeId};
pub use core::packet::Content;
pub use flows::{
    Answers, AnyTransport, Arrival, BuiltFlow, Cbr, CongestionFactory, ExtensionFactory, Factory, Flow,
    FlowBuild, FlowConfig, FlowContext, ParetoOnOff, PtcpFlow, R2cpFlow, R2cpPath, RcpFlow, RequestResponse,
    SegmentShape, StripingFlow, TcpFlow, Transport, Window,
};
pub use from_plan::{SimulationError, SimulationOptions, check_supported};
pub use media::{Bus, Frame, Medium, MediumIndex};
pub use network::NetworkCounters;
pub use nodes::prism::SchedulerFactory;
pub use nodes::{Node, NodeContext, Transit};
pub use prismux_plan::Tunnel;
pub use simulation::{Handoff, NetworkEvent, PipeNames, Simulation};
