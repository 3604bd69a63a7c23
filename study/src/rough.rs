//! Links as users have them: is one download over all of them ever slower than over the best one alone?
//!
//! * [`Cell`]: some links with one thing that makes them rough; [`cells`] lists those that ship.
//! * [`evaluation`]: every cell with every seed in every [`Way`] of using its links, simulated or in the lab.
//! * [`report`]: what came of a cell, held against its best single link, and all cells as a table.
//! * [`recorded`]: cells made of recorded links. [`busy`]: processors that others use meanwhile.
pub mod busy;
pub mod cells;
pub mod evaluation;
pub mod recorded;
pub mod report;
mod scenario;

use prismux_link::DeliveryTrace;
use prismux_units::Duration;
use serde::Serialize;
use std::sync::Arc;

/// Some links with one thing that makes them rough.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// What it shows, in a few words.
    pub summary: String,
    /// The links, the one with the highest rate first.
    pub links: Vec<RoughLink>,
    /// What happens during the run.
    pub story: Story,
    /// Programs that want a processor all the time, for each processor of the machine; in the lab alone.
    pub spinning_per_processor: usize,
}

/// One link of a cell.
#[derive(Debug, Clone)]
pub struct RoughLink {
    /// Rate in bits per second; where a trace says when packets leave, its mean, for information.
    pub rate_bps: u64,
    /// One-way delay in milliseconds.
    pub delay_ms: u64,
    /// Room for waiting packets, as a scenario says it.
    pub queue: String,
    /// Further keys of the link in a scenario (`jitter = "20 ms"`).
    pub settings: Vec<String>,
    /// Keys that hold from the receiver to the proxy alone.
    pub reverse: Vec<String>,
    /// When packets leave, in place of the rate.
    pub trace: Option<LinkTrace>,
}

/// When packets leave a link, forward and back.
#[derive(Debug, Clone)]
pub struct LinkTrace {
    /// Towards the receiver.
    pub forward: Arc<DeliveryTrace>,
    /// From the receiver.
    pub reverse: Arc<DeliveryTrace>,
}

/// What happens during a run of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Story {
    /// One download from the beginning to the end.
    Steady,
    /// The same, while the rate of link 1 changes.
    ChangingRate {
        /// How often.
        every: Duration,
        /// Bounds of the rate in bits per second; no change is by more than four times.
        between_bps: [u64; 2],
    },
    /// The same, and after a third of the run a link is silent in both directions, then works again.
    Outage {
        /// Place of the link in the cell.
        link: usize,
        /// For how long.
        length: Duration,
    },
    /// The same, beside downloads of others over link 1 alone.
    Rivals {
        /// How many.
        count: usize,
    },
    /// The same, beside datagrams over link 1 that heed nobody.
    Datagrams {
        /// Their rate in bits per second.
        rate_bps: u64,
    },
    /// So many downloads in a row, each given up after four seconds, one second apart.
    Aborted {
        /// How many.
        count: usize,
    },
}

/// A way of using a cell's links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One of them, by its place in the cell; plain TCP.
    Single(usize),
    /// All of them by plain weighted striping.
    Striping,
    /// All of them by the kernel's Multipath TCP, CUBIC senders (lab only).
    MptcpCubic,
    /// The same with BBR senders.
    MptcpBbr,
    /// All of them through PRISM with its default profile, unmodified sender (CUBIC).
    Prism,
    /// The same with a BBR sender.
    PrismBbr,
    /// The same with a TCP-PRISM sender.
    TcpPrism,
}

impl Way {
    /// The ways beside the single links.
    pub const OVER_ALL: [Self; 6] =
        [Self::Prism, Self::PrismBbr, Self::TcpPrism, Self::Striping, Self::MptcpCubic, Self::MptcpBbr];

    /// The name in results and on the command line.
    pub fn name(self) -> String {
        match self {
            Self::Single(place) => format!("link {}", place + 1),
            Self::Striping => "striping".to_string(),
            Self::MptcpCubic => "mptcp-cubic".to_string(),
            Self::MptcpBbr => "mptcp-bbr".to_string(),
            Self::Prism => "prism".to_string(),
            Self::PrismBbr => "prism-bbr".to_string(),
            Self::TcpPrism => "tcp-prism".to_string(),
        }
    }

    /// Whether only the lab has it.
    pub fn needs_lab(self) -> bool {
        matches!(self, Self::MptcpCubic | Self::MptcpBbr)
    }
}

#[cfg(test)]
mod tests;
