//! RCP and R²CP flows in the loop: packets, timers and the application that only counts.
use super::Simulation;
use crate::endpoint::{Endpoint, Notes, RcpEnd, Site, WayState};
use crate::ids::{EndpointId, FlowId};
use crate::packet::{Body, PacketHandle};
use prismux_r2cp::{Connection, PipeMetrics};
use prismux_rcp::{PacketIn, Receiver, Sender};
use prismux_trace::results::{Named, PipeResult};
use prismux_units::{Duration, Instant};

impl Simulation {
    pub(super) fn deliver_rcp(&mut self, handle: PacketHandle) {
        let packet = self.fabric.pool.remove(handle);
        let Body::Rcp { header, stream_offset } = packet.body else { return };
        let input = PacketIn { header, payload_bytes: packet.payload_bytes, ecn: packet.ecn };
        let id = packet.endpoint;
        match &mut self.endpoints[id.index()] {
            Endpoint::Rcp(rcp) => {
                let notes = rcp.receive(&mut self.fabric, &input, stream_offset, packet.damaged);
                self.serve_rcp(id, notes);
            }
            Endpoint::RcpPort(port) => {
                let (main, way) = (port.main, port.way);
                let sites = self.way_sites(main);
                if let Endpoint::R2cp(r2cp) = &mut self.endpoints[main.index()] {
                    let notes = r2cp.receive(&mut self.fabric, &sites, way, input, stream_offset);
                    self.serve_rcp(main, notes);
                }
            }
            _ => {}
        }
    }

    /// A timer or a planned change of an R²CP connection.
    pub(super) fn fire_r2cp(&mut self, id: EndpointId) {
        let sites = self.way_sites(id);
        if let Endpoint::R2cp(r2cp) = &mut self.endpoints[id.index()] {
            let notes = r2cp.fire(&mut self.fabric, &sites);
            self.serve_rcp(id, notes);
        }
    }

    /// The sites of a connection's ports, by way.
    fn way_sites(&self, main: EndpointId) -> Vec<Site> {
        let Endpoint::R2cp(r2cp) = &self.endpoints[main.index()] else { return Vec::new() };
        let site = |port: EndpointId| match &self.endpoints[port.index()] {
            Endpoint::RcpPort(port) => port.site,
            _ => r2cp.site,
        };
        r2cp.ways.iter().map(|way| site(way.port)).collect()
    }

    /// The receiving end of an R²CP flow, once it has been opened.
    pub fn r2cp_connection(&self, flow: FlowId) -> Option<&Connection> {
        match &self.endpoints[self.flows[flow.index()].sink.index()] {
            Endpoint::R2cp(r2cp) => r2cp.connection.as_ref(),
            _ => None,
        }
    }

    /// What each pipe of an R²CP flow has done, by the name of its way.
    pub(super) fn r2cp_pipes(&self, flow: FlowId) -> Named<PipeResult> {
        let Endpoint::R2cp(r2cp) = &self.endpoints[self.flows[flow.index()].sink.index()] else {
            return Named::default();
        };
        let metrics = |way: &WayState| r2cp.connection.as_ref()?.pipe_metrics(way.pipe?);
        let result = |pipe: PipeMetrics| PipeResult {
            sent_bytes: pipe.requested_bytes,
            received_bytes: pipe.received_bytes,
            retransmitted_segments: pipe.engine.counters.retransmitted_segments,
            timeouts: pipe.engine.counters.timeouts,
            srtt_s: pipe.engine.srtt.map(Duration::as_secs_f64),
            rto_s: Some(pipe.engine.rto.as_secs_f64()),
            cwnd_bytes: pipe.engine.cwnd_bytes,
        };
        let line = |way: &WayState| (way.name.clone(), metrics(way).map(result).unwrap_or_default());
        r2cp.ways.iter().map(line).collect()
    }

    /// What R²CP's receivers have counted, by their hosts; several connections of a host are added up.
    pub(super) fn r2cp_counters(&self) -> Named<Named<u64>> {
        let mut nodes: Named<Named<u64>> = Named::default();
        for endpoint in &self.endpoints {
            let Endpoint::R2cp(r2cp) = endpoint else { continue };
            let metrics = r2cp.connection.as_ref().map(Connection::metrics).unwrap_or_default();
            let host = nodes.entry(self.report.node_names[r2cp.site.node.index()].clone()).or_default();
            for (name, count) in [
                ("data_packets", metrics.data_packets),
                ("found_buffer_nearly_full", metrics.found_buffer_nearly_full),
                ("duplicate_bytes", metrics.duplicate_bytes),
                ("unrequested_packets", metrics.unrequested),
            ] {
                *host.entry(name.into()).or_default() += count;
            }
        }
        nodes
    }

    /// The receiving application notes how far it has got.
    pub(super) fn serve_rcp(&mut self, id: EndpointId, notes: Notes) {
        let (site, received, next_mark) = match &mut self.endpoints[id.index()] {
            Endpoint::Rcp(rcp) => (rcp.site, rcp.received(), &mut rcp.next_mark),
            Endpoint::R2cp(r2cp) => (r2cp.site, r2cp.received(), &mut r2cp.next_mark),
            _ => return,
        };
        if notes.readable < *next_mark || notes.readable == 0 {
            return;
        }
        *next_mark = self.flows[site.flow.index()].pass_marks(self.fabric.now, received);
        self.settle(site.flow);
    }

    /// The receiving end opens.
    pub(super) fn open_rcp(&mut self, flow: FlowId) {
        let sink = self.flows[flow.index()].sink;
        let first_mark = self.flows[flow.index()].pass_marks(self.fabric.now, 0);
        match &mut self.endpoints[sink.index()] {
            Endpoint::Rcp(rcp) => {
                rcp.next_mark = first_mark;
                rcp.open(&mut self.fabric);
            }
            Endpoint::R2cp(r2cp) => {
                r2cp.next_mark = first_mark;
                r2cp.open(&mut self.fabric);
            }
            _ => {}
        }
    }

    pub(super) fn abort_rcp(&mut self, flow: FlowId) {
        let sink = self.flows[flow.index()].sink;
        let sites = self.way_sites(sink);
        match &mut self.endpoints[sink.index()] {
            Endpoint::Rcp(rcp) => rcp.abort(&mut self.fabric),
            Endpoint::R2cp(r2cp) => r2cp.abort(&mut self.fabric, &sites),
            _ => {}
        }
    }

    /// Uses the receiver of an RCP flow, for instance to freeze it.
    pub fn with_rcp_receiver(&mut self, flow: FlowId, action: impl FnOnce(&mut Receiver, Instant)) {
        let sink = self.flows[flow.index()].sink;
        if let Endpoint::Rcp(rcp) = &mut self.endpoints[sink.index()] {
            rcp.with_receiver(&mut self.fabric, action);
        }
    }

    /// The receiving end of an RCP flow, once it has been opened.
    pub fn rcp_receiver(&self, flow: FlowId) -> Option<&Receiver> {
        match &self.endpoints[self.flows[flow.index()].sink.index()] {
            Endpoint::Rcp(rcp) => match &rcp.end {
                RcpEnd::Receiver(receiver) => Some(receiver),
                _ => None,
            },
            _ => None,
        }
    }

    /// The sending end of an RCP flow, once it has been asked.
    pub fn rcp_sender(&self, flow: FlowId) -> Option<&Sender> {
        match &self.endpoints[self.flows[flow.index()].source.index()] {
            Endpoint::Rcp(rcp) => match &rcp.end {
                RcpEnd::Sender(sender) => Some(sender),
                _ => None,
            },
            _ => None,
        }
    }
}
