//! Columns over time, sampled inside the run so that watching costs next to nothing.
use crate::core::ids::{FlowId, LinkIndex};
use crate::flows::FlowRecord;
use crate::simulation::{Report, Simulation};
use prismux_trace::results::{FlowSeries, LinkSeries, TimeSeries, goodput_bps};
use prismux_units::Duration;

/// Takes the samples and keeps them.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Duration,
    flows: Vec<FlowSeries>,
    links: Vec<LinkSeries>,
    /// Bytes delivered by the last sample.
    flow_bytes: Vec<u64>,
    link_bytes: Vec<u64>,
}

impl Sampler {
    pub fn new(interval: Duration, flows: usize, links: usize) -> Self {
        Self {
            interval,
            flows: vec![FlowSeries::default(); flows],
            links: vec![LinkSeries::default(); links],
            flow_bytes: vec![0; flows],
            link_bytes: vec![0; links],
        }
    }

    pub fn interval(&self) -> Duration {
        self.interval
    }

    pub fn sample(&mut self, simulation: &mut Simulation) {
        let seconds = self.interval.as_secs_f64();
        for (index, columns) in self.flows.iter_mut().enumerate() {
            let flow = FlowId(index as u32);
            let bytes = simulation.delivered_bytes(flow);
            let before = std::mem::replace(&mut self.flow_bytes[index], bytes);
            columns.goodput_bps.push(goodput_bps(bytes - before, seconds));
            if let Some(window) = simulation.flows.get(flow).window() {
                columns.cwnd_bytes.push(window.cwnd_bytes);
                columns.srtt_s.push(window.srtt.map_or(0.0, Duration::as_secs_f64));
            }
            if let Some(held) = simulation.held_acks(flow) {
                columns.held_acks.push(held);
            }
        }
        for (index, columns) in self.links.iter_mut().enumerate() {
            let port = LinkIndex(index as u32).forward();
            let now = simulation.network.now;
            let link = &mut simulation.network.ports[port.index()].link;
            let bytes = link.delivered_bytes();
            let before = std::mem::replace(&mut self.link_bytes[index], bytes);
            columns.throughput_bps.push(goodput_bps(bytes - before, seconds));
            columns.queue_bytes.push(link.queue(now).1.as_u64());
        }
    }

    /// The columns under their names.
    pub fn series(&self, report: &Report, flows: &[FlowRecord]) -> TimeSeries {
        let mut series = TimeSeries::new(self.interval.as_secs_f64());
        for (record, columns) in flows.iter().zip(&self.flows) {
            series.flows.insert(record.name.clone(), columns.clone());
        }
        for (record, columns) in report.links.iter().zip(&self.links) {
            series.links.insert(record.name.clone(), columns.clone());
        }
        let shared: Vec<&str> =
            report.links.iter().filter(|link| link.shared).map(|link| link.name.as_str()).collect();
        series.set_shares(&shared);
        series
    }
}
