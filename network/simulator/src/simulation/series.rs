//! Columns over time, sampled inside the run so that watching costs next to nothing.
use super::records::Report;
use crate::flows::record::FlowRecord;
use prismux_trace::results::{FlowSeries, LinkSeries, TimeSeries};
use prismux_units::Duration;

/// The samples so far.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Duration,
    pub flows: Vec<FlowSeries>,
    pub links: Vec<LinkSeries>,
    /// Bytes delivered by the last sample.
    pub flow_bytes: Vec<u64>,
    /// Packets whose delay was known by the last sample, and the sum of their delays.
    pub flow_delays: Vec<(u64, Duration)>,
    /// By port: the counters at the last sample.
    pub ports: Vec<PortCounts>,
}

/// What a direction of a link has counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PortCounts {
    pub delivered_bytes: u64,
    pub dropped_packets: u64,
    pub marked_packets: u64,
}

impl Sampler {
    pub fn new(interval: Duration, flows: usize, links: usize) -> Self {
        Self {
            interval,
            flows: vec![FlowSeries::default(); flows],
            links: vec![LinkSeries::default(); links],
            flow_bytes: vec![0; flows],
            flow_delays: vec![(0, Duration::ZERO); flows],
            ports: vec![PortCounts::default(); 2 * links],
        }
    }

    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The columns under their names.
    pub fn series(&self, report: &Report, flows: &[FlowRecord]) -> TimeSeries {
        let mut series = TimeSeries::new(self.interval.as_secs_f64());
        for (record, columns) in flows.iter().zip(&self.flows) {
            series.flows.insert(record.name.clone(), columns.clone());
        }
        for (name, columns) in report.link_names.iter().zip(&self.links) {
            series.links.insert(name.clone(), columns.clone());
        }
        let shared: Vec<&str> = report.shared_links().collect();
        series.set_shares(&shared);
        series
    }
}
