//! From the state of a run to its result columns.
use super::Simulation;
use super::records::LinkRecord;
use crate::core::ids::{FlowId, LinkId, PortId};
use crate::flows::names::PipeNames;
use crate::nodes::rule::RuleNode;
use prismux_link::Offer;
use prismux_tcp::engine::EngineCounters;
use prismux_trace::results::{
    Backend, Competitor, DirectionResult, FlowResult, LinkResult, Named, PacketResult, ResponseResult,
    RunResult, goodput_bps,
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
        let under_way = self.network.pool.under_way(self.flows.len());
        let flows: Named<FlowResult> = (0..self.flows.len())
            .map(|index| {
                (self.records[index].name.clone(), self.flow_result(FlowId(index as u32), &under_way))
            })
            .collect();
        let links = self.report.links.iter().enumerate();
        let links: Named<LinkResult> = links
            .map(|(index, record)| {
                (self.report.link_names[index].clone(), self.link_result(index, record, elapsed_s))
            })
            .collect();
        let total = self.total();
        let mut result = RunResult {
            scenario: self.report.scenario.clone(),
            scenario_hash: self.report.scenario_hash.clone(),
            backend: Backend::Sim,
            seed: self.report.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            duration_s: elapsed_s,
            flows,
            groups: Named::default(),
            links,
            total,
            nodes: self.node_counters(),
            programs: Named::default(),
            series: self.sampler.as_ref().map(|sampler| sampler.series(&self.report, &self.records)),
        };
        result.set_shared_links(self.report.shared_links());
        let competing = &self.report.competing;
        let active = |flow: usize| {
            let active = self.records[flow].active_time(now);
            active.start.as_secs_f64()..active.end.as_secs_f64()
        };
        result.set_fairness(competing.iter().map(|(flow, group)| Competitor {
            flow: &self.records[*flow].name,
            group,
            active_s: active(*flow),
        }));
        result
    }

    /// A flow's line; `under_way` counts the packets of each flow that are on their way.
    fn flow_result(&self, id: FlowId, under_way: &[u64]) -> FlowResult {
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
        let active = record.active_time(now);
        FlowResult {
            transport: record.transport.clone(),
            goodput_bps: goodput_bps(record.bytes_in_time(bytes), (active.end - active.start).as_secs_f64()),
            steady_goodput_bps: record.steady_goodput_bps(now, bytes),
            bytes,
            completion_s: record.finished_at.map(|at| (at - active.start).as_secs_f64()),
            retransmitted_segments: counters.retransmitted_segments,
            spurious_retransmissions: Some(counters.spurious_retransmissions),
            timeouts: counters.timeouts,
            packets: flow.datagrams().map(|[sent, arrived]| {
                PacketResult::new(sent, sent.saturating_sub(arrived + under_way[id.index()]))
            }),
            acks: self.network.observer.as_ref().and_then(|observer| observer.acks.as_ref()?.result(id)),
            delay: self.delays.as_ref().and_then(|delays| delays.result(id)),
            response: flow.responses().and_then(ResponseResult::of),
            sha256: None,
            pipes,
        }
    }

    fn link_result(&self, index: usize, record: &LinkRecord, elapsed_s: f64) -> LinkResult {
        let link = LinkId(index as u32);
        let way = |port: PortId, offer: &Offer| {
            let link = &self.network.ports[port.index()].link;
            let (stats, mean) = (link.stats(), offer.bits() / elapsed_s.max(1e-9));
            let rate_bps = link.rate().map(|_| mean.round() as u64);
            let result =
                DirectionResult::new(rate_bps, stats.delivered_bytes, stats.dropped_packets(), elapsed_s);
            match link.is_managed() {
                true => result.managed(stats.early_drops, stats.marked_packets),
                false => result,
            }
        };
        let [forward, reverse] = &record.offers;
        LinkResult::new(way(PortId::forward(link), forward), way(PortId::reverse(link), reverse))
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
        let now = self.now();
        let flows =
            (0..self.flows.len()).flat_map(|index| self.flows.get(FlowId(index as u32)).counters(now));
        let media = self.network.media.iter().flat_map(|shared| shared.medium.counters(now));
        for (node, name, count) in flows.chain(media) {
            let node = nodes.entry(self.report.node_names[node.index()].clone()).or_default();
            *node.entry(name.into()).or_default() += count;
        }
        nodes
    }

    /// Brings the account of what a link has offered up to now.
    pub(crate) fn account_link(&mut self, link: LinkId) {
        self.account_port(PortId::forward(link));
        self.account_port(PortId::reverse(link));
    }

    /// The same for one direction.
    pub(crate) fn account_port(&mut self, port: PortId) {
        let link = &self.network.ports[port.index()].link;
        let record = &mut self.report.links[port.link().index()];
        let rate = link.rate().filter(|_| link.is_up() && record.in_use);
        record.offers[usize::from(!port.is_forward())].account(self.network.now, rate);
    }
}
