//! From the state of a run to its result columns.
use super::Simulation;
use super::records::LinkRecord;
use crate::core::ids::{FlowId, LinkId, PortId};
use crate::flows::names::PipeNames;
use crate::nodes::rule::RuleNode;
use prismux_tcp::engine::EngineCounters;
use prismux_trace::results::{
    Backend, FlowResult, LinkResult, Named, RunResult, TotalResult, capacity_bps, goodput_bps,
};

impl Simulation {
    /// Gives the run the name and hash of its scenario.
    pub fn set_scenario(&mut self, name: &str, hash: &str) {
        (self.report.scenario, self.report.scenario_hash) = (name.into(), hash.into());
    }

    /// The result as of now.
    pub fn result(&mut self) -> RunResult {
        let now = self.network.now;
        let elapsed_s = now.as_secs_f64();
        for index in 0..self.report.links.len() {
            self.account_link(LinkId(index as u32));
        }
        let flows: Named<FlowResult> = (0..self.flows.len())
            .map(|index| (self.records[index].name.clone(), self.flow_result(FlowId(index as u32))))
            .collect();
        let links = self.report.links.iter().enumerate();
        let links: Named<LinkResult> = links
            .map(|(index, record)| {
                (self.report.link_names[index].clone(), self.link_result(index, record, elapsed_s))
            })
            .collect();
        let shared = self.report.links.iter().filter(|record| record.shared);
        let rates = shared.map(|record| record.offered_bits / elapsed_s.max(1e-9));
        let capacity = capacity_bps(rates, self.report.payload_bytes, self.report.packet_bytes);
        let total = TotalResult::new(flows.values(), capacity);
        let mut result = RunResult {
            scenario: self.report.scenario.clone(),
            scenario_hash: self.report.scenario_hash.clone(),
            backend: Backend::Sim,
            seed: self.report.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            duration_s: elapsed_s,
            flows,
            links,
            total,
            nodes: self.node_counters(),
            series: self.sampler.as_ref().map(|sampler| sampler.series(&self.report, &self.records)),
        };
        result.set_shared_links(self.report.shared_links());
        result
    }

    fn flow_result(&self, id: FlowId) -> FlowResult {
        let (flow, record) = (self.flows.get(id), &self.records[id.index()]);
        let now = self.network.now;
        let bytes = self.delivered_bytes(id);
        let mut counters = flow.engine().map(|engine| engine.counters).unwrap_or_default();
        let pipes = flow.pipes(&PipeNames { network: &self.network, links: &self.report.link_names });
        if !pipes.is_empty() {
            // Counted pipe by pipe.
            let spurious_retransmissions = counters.spurious_retransmissions;
            counters = EngineCounters { spurious_retransmissions, ..EngineCounters::default() };
        }
        for pipe in pipes.values() {
            counters.retransmitted_segments += pipe.retransmitted_segments;
            counters.timeouts += pipe.timeouts;
        }
        let started = record.started_at.unwrap_or_default();
        FlowResult {
            transport: record.transport.clone(),
            goodput_bps: goodput_bps(bytes, record.active_time(now).as_secs_f64()),
            steady_goodput_bps: record.steady_goodput_bps(now, bytes),
            bytes,
            completion_s: record.finished_at.map(|at| (at - started).as_secs_f64()),
            retransmitted_segments: counters.retransmitted_segments,
            spurious_retransmissions: Some(counters.spurious_retransmissions),
            timeouts: counters.timeouts,
            sha256: None,
            pipes,
        }
    }

    fn link_result(&self, index: usize, record: &LinkRecord, elapsed_s: f64) -> LinkResult {
        let port = &self.network.ports[PortId::forward(LinkId(index as u32)).index()];
        let stats = port.link.stats();
        let mean = record.offered_bits / elapsed_s.max(1e-9);
        let rate_bps = port.link.rate().map(|_| mean.round() as u64);
        let result = LinkResult::new(rate_bps, stats.delivered_bytes, stats.dropped_packets(), elapsed_s);
        match port.link.is_managed() {
            true => result.managed(stats.early_drops, stats.marked_packets),
            false => result,
        }
    }

    fn node_counters(&self) -> Named<Named<u64>> {
        let mut nodes: Named<Named<u64>> = Named::default();
        for RuleNode { node, rule } in &self.network.rules {
            let counters = rule.as_ref().map(|rule| rule.counters()).unwrap_or_default();
            if !counters.is_empty() {
                let counters = counters.into_iter().map(|(name, count)| (name.to_string(), count));
                nodes.insert(self.report.node_names[node.index()].clone(), counters.collect());
            }
        }
        let links = 0..self.report.links.len();
        let flows = (0..self.flows.len()).flat_map(|index| self.flows.get(FlowId(index as u32)).counters());
        let media = self.network.media.iter().flat_map(|shared| shared.medium.counters(self.now()));
        for (node, name, count) in flows.chain(media) {
            let node = nodes.entry(self.report.node_names[node.index()].clone()).or_default();
            *node.entry(name.into()).or_default() += count;
        }
        let dropped: u64 =
            links.map(|index| self.reverse_stats(LinkId(index as u32)).dropped_packets()).sum();
        if dropped > 0 {
            // Links report their download direction only.
            nodes.insert("way back".into(), Named::from_iter([("dropped_packets".into(), dropped)]));
        }
        nodes
    }

    /// Brings the account of what a link has offered up to now.
    pub(crate) fn account_link(&mut self, link: LinkId) {
        let port = &self.network.ports[PortId::forward(link).index()];
        let (rate, up) = (port.link.rate(), port.link.is_up());
        self.report.links[link.index()].account(self.network.now, rate, up);
    }
}
