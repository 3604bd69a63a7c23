//! What all flows deliver together, over one stretch of time.
//!
//! The whole stretch goes from the start of the first flow to the end of the last. The steady one begins when the last
//! flow has become steady and ends when the first is so no longer, or ends. Stock is taken at these points alone, so
//! that flows cost nothing in between.
use super::Simulation;
use crate::core::ids::{FlowId, LinkId, PortId};
use crate::flows::record::{FlowRecord, Point};
use prismux_trace::results::{Stretch, TotalResult, capacity_bps};
use prismux_units::Instant;

/// What had been delivered and offered by some point.
#[derive(Debug, Clone, Copy)]
struct Stock {
    at: Instant,
    /// Payload that all flows' applications had, of stopped flows by their stop.
    bytes: u64,
    /// What the shared links had offered, headers included.
    offered_bits: f64,
}

impl Stock {
    fn until(self, end: Self) -> Stretch {
        Stretch { bytes: end.bytes - self.bytes, seconds: (end.at - self.at).as_secs_f64() }
    }
}

/// Where the run's stretches begin and end.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Flows under way.
    active: usize,
    first: Option<Stock>,
    /// When the last flow ended, while none is under way.
    last: Option<Stock>,
    /// Flows that have become steady.
    steady: usize,
    steady_from: Option<Stock>,
    steady_to: Option<Stock>,
}

impl Simulation {
    fn stock(&mut self) -> Stock {
        let mut offered_bits = 0.0;
        for index in 0..self.report.links.len() {
            if self.report.links[index].shared {
                self.account_port(PortId::forward(LinkId(index as u32)));
                offered_bits += self.report.links[index].offers[0].bits();
            }
        }
        let in_time = |(index, record): (usize, &FlowRecord)| {
            record.bytes_in_time(self.delivered_bytes(FlowId(index as u32)))
        };
        let bytes = self.records.iter().enumerate().map(in_time).sum();
        Stock { at: self.network.now, bytes, offered_bits }
    }

    /// A flow starts.
    pub(super) fn note_start(&mut self) {
        if self.totals.first.is_none() {
            self.totals.first = Some(self.stock());
        }
        self.totals.active += 1;
        self.totals.last = None;
    }

    /// A flow may be steady, may be so no longer, or may have ended.
    #[cold]
    pub(super) fn note(&mut self, flow: FlowId) {
        let record = &mut self.records[flow.index()];
        let [from, to, end] =
            [Point::SteadyFrom, Point::SteadyTo, Point::End].map(|point| record.take_passed(point));
        if from {
            self.totals.steady += 1;
            if self.totals.steady == self.records.len() {
                self.totals.steady_from = Some(self.stock());
            }
        }
        if (to || end) && self.totals.steady_to.is_none() {
            self.totals.steady_to = Some(self.stock());
        }
        if end {
            self.totals.active -= 1;
            if self.totals.active == 0 {
                self.totals.last = Some(self.stock());
            }
        }
    }

    /// Every flow has been through a steady state of its own, a file's to the end.
    fn all_were_steady(&self) -> bool {
        let mut flows = self.records.iter().enumerate();
        flows.all(|(index, record)| {
            let bytes = self.delivered_bytes(FlowId(index as u32));
            record.steady_goodput_bps(self.network.now, bytes).is_some()
        })
    }

    /// The totals as of now.
    pub(super) fn total(&mut self) -> TotalResult {
        let now = self.stock();
        let (first, last) = (self.totals.first.unwrap_or(now), self.totals.last.unwrap_or(now));
        let together = first.until(last);
        let rate_bps = (last.offered_bits - first.offered_bits) / together.seconds.max(1e-9);
        let capacity = capacity_bps([rate_bps], self.report.payload_bytes, self.report.packet_bytes);
        let (from, to) = (self.totals.steady_from, self.totals.steady_to.unwrap_or(now));
        let steady = from.filter(|from| from.at < to.at && self.all_were_steady()).map(|from| from.until(to));
        TotalResult::new(together, steady, capacity)
    }
}
