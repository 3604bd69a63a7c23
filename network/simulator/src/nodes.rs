//! What a packet meets between links: nodes, and how they forward.
//!
//! Hosts and routers follow their own table of next hops ([`routing`]); most packets pass only these, and are handled
//! without a call. A node with a rule of its own is a [`node::Node`]: it gets every packet that comes to it.
pub(crate) mod addresses;
pub(crate) mod context;
pub(crate) mod ground;
pub(crate) mod node;
pub(crate) mod prism;
pub(crate) mod registry;
pub(crate) mod routing;
pub(crate) mod rule;
