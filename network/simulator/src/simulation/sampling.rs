//! Taking samples for time series.
use super::Simulation;
use super::series::Sampler;
use crate::core::ids::{FlowId, LinkId, PortId};
use crate::network::Target;
use prismux_trace::results::goodput_bps;
use prismux_units::Duration;

impl Simulation {
    pub(super) fn take_sample(&mut self) {
        let Some(mut sampler) = self.sampler.take() else { return };
        sampler.sample(self);
        let next = self.network.now + sampler.interval();
        self.network.queue.push(next, Target::Sample);
        self.sampler = Some(sampler);
    }
}

impl Sampler {
    fn sample(&mut self, simulation: &mut Simulation) {
        let seconds = self.interval().as_secs_f64();
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
            let port = PortId::forward(LinkId(index as u32));
            let now = simulation.network.now;
            let link = &mut simulation.network.ports[port.index()].link;
            let bytes = link.delivered_bytes();
            let before = std::mem::replace(&mut self.link_bytes[index], bytes);
            columns.throughput_bps.push(goodput_bps(bytes - before, seconds));
            columns.queue_bytes.push(link.queue(now).1.as_u64());
        }
    }
}
