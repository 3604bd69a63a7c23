//! PRISM: communities of a proxy and its members, as nodes.
pub(crate) mod community;
mod joining;
mod look;
mod member;
mod neighbours;
pub(crate) mod plan;
pub(crate) mod policy;
mod proxy;
mod receipts;
mod repairs;
