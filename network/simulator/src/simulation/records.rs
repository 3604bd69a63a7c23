//! What reports and rare events need beyond the state of the network.
use prismux_link::Offer;
use prismux_units::Duration;

/// A link in the report.
#[derive(Debug)]
pub(crate) struct LinkRecord {
    /// Its rate counts as capacity.
    pub shared: bool,
    /// Its member has joined, or it needs none.
    pub in_use: bool,
    /// By direction: what it has offered, less what was missing while it was down or its member away.
    pub offers: [Offer; 2],
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
    /// Numbers and groups of the flows that share what there is.
    pub competing: Vec<(usize, String)>,
    /// Payload and whole packet of a full-size segment on the shared links.
    pub payload_bytes: u32,
    pub packet_bytes: u32,
}

impl LinkRecord {
    /// A link at the start of the run.
    pub fn new(shared: bool) -> Self {
        Self { shared, in_use: true, offers: Default::default() }
    }
}

impl Report {
    /// The names of links whose rates count as capacity.
    pub fn shared_links(&self) -> impl Iterator<Item = &str> {
        let links = self.links.iter().zip(&self.link_names).filter(|(link, _)| link.shared);
        links.map(|(_, name)| name.as_str())
    }
}
