//! Words for a member's link as its proxy sees it.
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a proxy uses a member's link for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// It carries traffic.
    Active,
    /// It is set aside for the time being, and probed.
    Standby,
    /// Nothing arrives over it: believed dead, and probed.
    Silent,
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Standby => "standby",
            Self::Silent => "silent",
        })
    }
}

/// The rule by which a proxy declares a packet lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossRule {
    /// Later packets of the same link have arrived.
    LinkOrder,
    /// It is overdue.
    Age,
}
