//! What reports and rare events need beyond the state of the network.
use prismux_units::{Duration, Instant, Rate};

/// A link in the report.
#[derive(Debug)]
pub(crate) struct LinkRecord {
    /// Its rate counts as capacity.
    pub shared: bool,
    /// Its rate, summed over time until `since`, in bits; what was missing while it was down or its member away.
    pub offered_bits: f64,
    pub since: Instant,
    /// Its member has joined, or it needs none.
    pub in_use: bool,
}

/// Names and settings that only reports and rare events need.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub scenario: String,
    pub scenario_hash: String,
    pub seed: u64,
    /// Left out of steady goodput, from each flow's start.
    pub warm_up: Option<Duration>,
    pub links: Vec<LinkRecord>,
    pub link_names: Vec<String>,
    pub node_names: Vec<String>,
    /// Payload and whole packet of a full-size segment on the shared links.
    pub payload_bytes: u32,
    pub packet_bytes: u32,
}

impl LinkRecord {
    /// Adds what `rate` offered since the last time.
    pub fn account(&mut self, now: Instant, rate: Option<Rate>, up: bool) {
        let seconds = (now - self.since).as_secs_f64();
        let bps = rate.filter(|_| up && self.in_use).map_or(0.0, |rate| rate.as_bps() as f64);
        self.offered_bits += bps * seconds;
        self.since = now;
    }
}

impl Report {
    /// The names of links whose rates count as capacity.
    pub fn shared_links(&self) -> impl Iterator<Item = &str> {
        let links = self.links.iter().zip(&self.link_names).filter(|(link, _)| link.shared);
        links.map(|(_, name)| name.as_str())
    }
}
