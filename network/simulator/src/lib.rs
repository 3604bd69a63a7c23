//! The packet simulator: protocol machines under virtual time.
//!
//! [`NetworkBuilder`] takes nodes, links, flows and events; [`Simulation`] runs them. The same seed gives the same
//! bytes on every machine: events happen in order of (time, insertion), randomness comes from streams named
//! after their users, nothing iterates over hash tables.
//!
//! The map, from below:
//! * `event_queue`: a timing wheel; `packet`: the pool of packets under way; `routing`: next hops.
//! * `fabric`: links, nodes, members and PRISM proxies: everything a packet meets between two endpoints.
//! * `policy`: schedulers from outside.
//! * `endpoint`: TCP connections with their applications, UDP sources and sinks.
//! * `simulation`: the loop, planned events, results.
//! * `checker`, `observer`, `series`: those who only watch.

mod builder;
mod checker;
mod endpoint;
mod event_queue;
mod fabric;
mod flow;
mod ids;
mod observer;
mod packet;
mod policy;
mod routing;
mod series;
mod simulation;

pub use builder::{BuildError, NetworkBuilder};
pub use fabric::{FabricCounters, Tunnel};
pub use flow::{
    Cbr, CongestionFactory, ExtensionFactory, Factory, FlowConfig, ParetoOnOff, PtcpFlow, R2cpFlow, RcpFlow,
    RcpWay, RequestResponse, StripingFlow, TcpFlow, Transport,
};
pub use ids::{FlowId, LinkIndex, NodeId};
pub use policy::SchedulerFactory;
pub use simulation::{Answers, Handoff, NetworkEvent, Simulation};
