//! Taking samples for time series.
use super::Simulation;
use super::series::{PortCounts, Sampler};
use crate::core::ids::{FlowId, LinkId, PortId};
use crate::network::Target;
use prismux_trace::results::goodput_bps;
use prismux_units::Duration;

/// Where hosts are is told no more often: at 20 m/s one moves 5 m.
const PLACES_INTERVAL: Duration = Duration::from_millis(250);

impl Simulation {
    pub(super) fn take_sample(&mut self) {
        let Some(mut sampler) = self.sampler.take() else { return };
        sampler.sample(self);
        let next = self.network.now + sampler.interval();
        self.network.queue.push(next, Target::Sample);
        self.sampler = Some(sampler);
    }

    /// Tells the event log where hosts are, now and at the next time.
    pub(crate) fn take_places(&mut self) {
        if self.network.media.is_empty() {
            return;
        }
        self.network.tell_places();
        self.network.queue.push(self.network.now + PLACES_INTERVAL, Target::Places);
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
            if let Some(span) = simulation.resequencing_bytes(flow) {
                columns.resequencing_bytes.push(span);
            }
            if let Some(delays) = &simulation.delays {
                let totals = delays.totals(flow);
                let (packets, sum) = std::mem::replace(&mut self.flow_delays[index], totals);
                let arrived = totals.0 - packets;
                let mean = (totals.1 - sum).as_secs_f64() / arrived.max(1) as f64;
                columns.delay_s.push((arrived > 0).then_some(mean));
            }
        }
        let ways = |link| [PortId::forward(LinkId(link as u32)), PortId::reverse(LinkId(link as u32))];
        for (index, columns) in self.links.iter_mut().enumerate() {
            let [forward, reverse] =
                ways(index).map(|port| PortSample::take(simulation, port, &mut self.ports[port.index()]));
            columns.throughput_bps.push(goodput_bps(forward.since.delivered_bytes, seconds));
            columns.queue_bytes.push(forward.queue_bytes);
            columns.dropped_packets.push(forward.since.dropped_packets);
            columns.marked_packets.push(forward.since.marked_packets);
            columns.reverse_throughput_bps.push(goodput_bps(reverse.since.delivered_bytes, seconds));
            columns.reverse_queue_bytes.push(reverse.queue_bytes);
            columns.reverse_dropped_packets.push(reverse.since.dropped_packets);
        }
    }
}

/// A direction of a link in one interval.
struct PortSample {
    /// What it has counted since the last sample.
    since: PortCounts,
    queue_bytes: u64,
}

impl PortSample {
    /// Brings `before` up to now.
    fn take(simulation: &mut Simulation, port: PortId, before: &mut PortCounts) -> Self {
        let now = simulation.network.now;
        let link = &mut simulation.network.ports[port.index()].link;
        let stats = link.stats();
        let counts = PortCounts {
            delivered_bytes: stats.delivered_bytes,
            dropped_packets: stats.dropped_packets(),
            marked_packets: stats.marked_packets,
        };
        let before = std::mem::replace(before, counts);
        let since = PortCounts {
            delivered_bytes: counts.delivered_bytes - before.delivered_bytes,
            dropped_packets: counts.dropped_packets - before.dropped_packets,
            marked_packets: counts.marked_packets - before.marked_packets,
        };
        Self { since, queue_bytes: link.queue(now).1.as_u64() }
    }
}
