//! What every part of the simulator stands on: time in order, packets under way, names, and those who only watch.
pub(crate) mod capture;
pub(crate) mod checker;
pub(crate) mod counters;
pub(crate) mod event_queue;
pub(crate) mod factory;
pub(crate) mod ids;
pub(crate) mod lost_acks;
pub(crate) mod observer;
pub(crate) mod packet;
pub(crate) mod policy_role;
pub(crate) mod site;
