//! What carries packets between nodes.
//!
//! A wired link leads from one node to one node ([`link`]) and is handled without a call. A [`medium::Medium`] is
//! shared: what one node sends, many hear.
pub(crate) mod broadcast;
pub(crate) mod link;
pub(crate) mod medium;
pub(crate) mod registry;
pub(crate) mod shared;
