//! Runs of days: flows that come and go, and how much stands in a run's tables.
//!
//! A plan names its flows, and each has its ends for the whole run. Where connections come and go for days, a flow
//! whose connection has ended is begun anew as another connection, so that what a run takes does not grow with time.
use super::Simulation;
use crate::core::ids::FlowId;
use crate::flows::flow::Flow as _;
use crate::flows::record::FlowRecord;
use crate::flows::tcp::NEAR_PORTS;
use prismux_endpoint::random::Seed;
use prismux_plan::Action;
use prismux_units::ByteCount;
use prismux_wire::SeqNumber;

impl Simulation {
    /// Makes `action` happen now, as an event of the plan would.
    pub fn act(&mut self, action: Action) {
        self.apply(action);
    }

    /// Makes a TCP flow that has ended, or never started, ready to start as a new connection of `bytes`, with another
    /// port and other initial sequence numbers; [`Action::StartFlow`] starts it. Results are about the latest
    /// connection; [`Simulation::faults`] keeps those of all.
    ///
    /// False, and nothing happens, while the flow runs, while a packet of it is under way or a proxy knows it,
    /// and for flows that are no bulk transfer over TCP.
    pub fn renew_flow(&mut self, flow: FlowId, bytes: ByteCount) -> bool {
        let record = &self.records[flow.index()];
        let has_ended = record.finished_at.is_some() || record.stopped.is_some();
        if record.started_at.is_some() && !has_ended
            || self.is_known_to_a_proxy(flow)
            || self.network.pool.under_way(self.flows.len())[flow.index()] > 0
        {
            return false;
        }
        let (spread, place) = (self.flows.len().div_ceil(NEAR_PORTS as usize) as u16, flow.index());
        let Some(pair) = self.flows.tcp_mut(flow).filter(|pair| pair.is_bulk()) else { return false };
        let name = self.records[place].name.clone();
        let faults = pair.faults();
        self.past_faults.extend(faults.iter().map(|fault| format!("flow {name}: {fault}")));
        let port = pair.next_port(spread);
        let mut numbers =
            Seed(self.report.seed).stream(&format!("flow/{name}/renewed/{port}/initial-sequence"));
        pair.renew(bytes.as_u64(), port, [(); 2].map(|()| SeqNumber(numbers.next_u64() as u32)), self.checks);
        let old = &self.records[place];
        self.unfinished += usize::from(!old.counts);
        self.records[place] = FlowRecord::new(flow, &name, &old.transport, Some(bytes.as_u64()), true);
        true
    }

    /// Events that are pending.
    pub fn pending_events(&self) -> usize {
        self.network.queue.pending()
    }

    /// Packets under way; those that a proxy keeps are not among them.
    pub fn packets_under_way(&self) -> usize {
        self.network.pool.len()
    }
}
