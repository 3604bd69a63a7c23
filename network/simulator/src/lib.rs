//! The packet simulator: protocol machines under virtual time.
//!
//! [`Simulation::from_plan`] builds a network from a plan, and [`Simulation`] runs it. The same seed gives the same
//! bytes on every machine: events happen in order of (time, insertion), randomness comes from streams named after
//! their users, nothing iterates over hash tables.
//!
//! The map, from below. State names only state that stands lower; acts on it (`impl` blocks of the network and of the
//! simulation) stand with what they are about, and nobody imports them:
//! * `core`: a timing wheel of events, the pool of packets under way, positions; checkers and observers, who only
//!   watch.
//! * `media`: the state of wired links, and media that many share, behind [`Medium`].
//! * `nodes`: what packets meet in between, by a table of next hops or by the rule of a [`Node`], which reaches the
//!   network by its [`NodeContext`]; `nodes::prism`: proxies, members, and who has joined whom.
//! * `cell`: a cell in slots as a medium, and the nodes on it.
//! * `radio`: an air as a medium, and hosts with ad-hoc routing on it.
//! * `network`: packets under way between two endpoints.
//! * `flows`: one room for each transport, behind [`Transport`] (the description) and [`Flow`] (the machine).
//! * `simulation`: the loop, planned events, results.
//! * `assembly`: from a plan, and options with parts from outside, to a simulation.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod assembly;
mod cell;
mod core;
mod flows;
mod media;
mod network;
mod nodes;
mod radio;
mod simulation;

pub use assembly::capability::{SimulationError, check_supported};
pub use assembly::options::SimulationOptions;
pub use assembly::policies::{Policies, check_policy};
pub use cell::medium::CellMedium;
pub use core::counters::NetworkCounters;
pub use core::factory::{NamedFactory, Part};
pub use core::packet::{BehindIp, Content, Transit};
pub use core::policy_role::{PolicyRole, UnknownRole};
pub use flows::context::{Arrival, FlowContext};
pub use flows::flow::{Flow, Window};
pub use flows::mptcp::MptcpFlow;
pub use flows::names::PipeNames;
pub use flows::policy::{
    CongestionFactory, ExtensionFactory, Factory, PipeSchedulerFactory, RequestSchedulerFactory,
    SubflowSchedulerFactory,
};
pub use flows::ptcp::PtcpFlow;
pub use flows::r2cp::{R2cpFlow, R2cpPath};
pub use flows::rcp::RcpFlow;
pub use flows::striping::StripingFlow;
pub use flows::tcp::TcpFlow;
pub use flows::tcp::request_response::RequestResponse;
pub use flows::transport::{AnyTransport, BuiltFlow, FlowBuild, SegmentShape, Transport};
pub use flows::udp::{Cbr, ParetoOnOff};
pub use media::broadcast::Bus;
pub use media::medium::{Frame, Medium, MediumEvent};
pub use nodes::context::NodeContext;
pub use nodes::node::Node;
pub use nodes::prism::policy::SchedulerFactory;
pub use prismux_plan::{FlowId, LinkId, MediumId, NodeId, Plan};
pub use radio::medium::RadioMedium;
pub use simulation::Simulation;
