//! What travels through a network: one room for each transport.
//!
//! A [`transport::Transport`] is the description of a flow's transport and makes the [`flow::Flow`] itself: both ends
//! with their protocol machines and applications. The simulation knows flows by this trait alone. Only TCP's ends,
//! which most packets are for, lie in a list of their own and are called directly.
pub(crate) mod application;
pub(crate) mod context;
pub(crate) mod flow;
pub(crate) mod names;
mod pipes;
pub(crate) mod policy;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod table;
pub(crate) mod transport;

pub(crate) mod mptcp;
pub(crate) mod ptcp;
pub(crate) mod r2cp;
pub(crate) mod rcp;
pub(crate) mod striping;
pub(crate) mod tcp;
pub(crate) mod udp;
