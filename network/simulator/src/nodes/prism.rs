//! PRISM: communities of a proxy and its members, as nodes.
mod community;
mod look;
mod member;
mod plan;
mod policy;
mod proxy;

pub(crate) use community::Community;
pub(crate) use plan::{Membership, PrismPlan, ProxyPlan, found};
pub use policy::SchedulerFactory;
pub(crate) use proxy::ProxyNode;
