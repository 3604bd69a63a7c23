//! One experiment as a value: nodes, roles, links, flows, transports with their settings, traffic and events. A
//! scenario file is read into a [`Plan`]; the simulator and the lab both build from it.
//!
//! Pure: no clock, no file, no host.
//!
//! * [`Plan`]: the whole, and the calls that fill it.
//! * [`Node`] and [`Role`], [`Tunnel`]; [`Link`], [`Medium`]; [`Flow`], [`Transport`], [`TcpSettings`], [`Traffic`];
//!   [`Program`]; [`Event`] and [`Action`]; [`Measure`].
//! * `path`: where flows go, by the rule that every host routes by.
//! * [`FullSegment`] and [`FullPacket`]: what capacity is reckoned with.
//! * [`registry`]: every name that files and results use.
//! * [`Plan::check`]: everything that is wrong with a plan, as [`Fault`]s. [`Plan::refuse`]: what a host lacks of
//!   what it asks for.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod capability;
mod capacity;
mod cell;
mod check;
mod event;
mod fault;
mod fault_text;
mod flow;
mod ids;
mod link;
mod medium;
mod node;
mod path;
mod plan;
mod program;
mod radio;
mod reach;
pub mod registry;
mod tcp;
mod traffic;
mod transport;
mod tunnel;

pub use capability::{Feature, Lack, Unsupported};
pub use capacity::{FullPacket, FullSegment, TCP_IP_HEADER_BYTES};
pub use cell::SlottedCell;
pub use event::{Action, Event};
pub use fault::{CellProblem, Fault, Part, PlanError, Problem};
pub use flow::Flow;
pub use ids::{FlowId, LinkId, MediumId, NodeId};
pub use link::{Direction, Directions, Link, LinkDirection};
pub use medium::{Medium, MediumModel};
pub use node::{MemberSettings, Node, NodeKind, ProxyProfile, ProxySettings, Role};
pub use plan::{Measure, Plan};
pub use prismux_wire::IpFamily;
pub use program::Program;
pub use radio::{CellRadio, Cells, FurtherRadio, Power, Radio, Routing};
pub use tcp::{Congestion, TcpSettings};
pub use traffic::{Traffic, UDP_HEADER_BYTES, UPDATE_BYTES};
pub use transport::{
    MptcpSettings, Pipe, PtcpSettings, R2cpSettings, RcpOpener, RcpSettings, StripedOver, StripingSettings,
    Transport,
};
pub use tunnel::Tunnel;
