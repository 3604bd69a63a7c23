//! pTCP: one connection with a pipe for every link.
mod endpoint;

use super::application::{ENDLESS, Notes};
use super::context::{Arrival, FlowContext};
use super::flow::Flow;
use super::names::PipeNames;
use super::pipes::{PipesRole, pipe_result};
use super::transport::{BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::checker::StreamCheck;
use crate::core::ids::{FlowId, NodeId};
use crate::core::packet::{address, node_at};
use crate::core::policy_role::PolicyRole;
use crate::simulation::Simulation;
use endpoint::{PtcpEndpoint, PtcpSetup};
use prismux_endpoint::Alarm;
use prismux_plan::PtcpSettings;
use prismux_ptcp::{Connection, MAX_PIPES, PipeMetrics, PtcpConfig};
use prismux_tcp::TcpConfig;
use prismux_trace::results::{Named, PipeResult};
use std::net::IpAddr;

/// The two ends of a pTCP connection. The number of pipes follows from the flow's links.
#[derive(Debug, Clone)]
pub struct PtcpFlow {
    /// Switches of both ends.
    pub config: PtcpConfig,
    /// Each end tells the addresses that it has on the flow's links, however many the other one has.
    pub address_lists: bool,
}

impl PtcpFlow {
    /// As a plan has it; its pipes follow `tcp`.
    pub(super) fn planned(settings: &PtcpSettings, tcp: TcpConfig) -> Self {
        Self { config: settings.config(tcp, MAX_PIPES), address_lists: settings.address_lists }
    }
}

impl Transport for PtcpFlow {
    fn name(&self) -> &str {
        "ptcp"
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(SegmentShape::agreed(&self.config.tcp, &self.config.tcp))
    }

    fn takes(&self, role: &PolicyRole) -> bool {
        *role == PolicyRole::PipeScheduler
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let addresses = |host: NodeId| -> Vec<IpAddr> {
            let further = build.addresses(host).filter(|&own| !self.address_lists || own != host);
            let told: Vec<IpAddr> = further.map(address).collect();
            if told.is_empty() { vec![address(host)] } else { told }
        };
        let [near, far] = [build.plan.from, build.plan.to].map(addresses);
        let number = build.flow.0;
        let ports = (20_000 + (number % 40_000) as u16, 5001 + (number / 40_000) as u16);
        let pipes = self.config.pipes.min(near.len() as u8).max(1);
        // Simulated applications read at once.
        let config = PtcpConfig { pipes, consume_on_arrival: true, ..self.config.clone() };
        let end = |number, locals: &[IpAddr], remote: IpAddr, side: &str, role: PipesRole| PtcpEndpoint {
            number,
            alarm: Alarm::new(),
            next_mark: u64::MAX,
            connection: None,
            role,
            setup: PtcpSetup {
                config: config.clone(),
                locals: locals.to_vec(),
                remote,
                ports,
                random: build.random(side),
            },
            scheduler: None,
            check: build.checks().then(Box::<StreamCheck>::default),
        };
        let first = |list: &[IpAddr]| list.first().copied().unwrap_or(IpAddr::V4([10, 0, 0, 0].into()));
        let source = PipesRole::Source { bytes: build.bytes().unwrap_or(ENDLESS) };
        let mut ends = [
            end(SOURCE, &near, first(&far), "client", source),
            end(SINK, &far, first(&near), "server", PipesRole::Sink),
        ];
        ends[SOURCE].scheduler = build.pipe_scheduler.map(|factory| factory.make(build.part()));
        build.two_ends(PtcpPair { ends })
    }
}

/// Both ends of a connection.
#[derive(Debug)]
struct PtcpPair {
    ends: [PtcpEndpoint; 2],
}

/// The ends by number.
const SOURCE: usize = 0;
const SINK: usize = 1;

impl PtcpPair {
    /// Lets the application of `end` act on `notes`, and on the notes that its acts produce.
    fn serve(&mut self, context: &mut FlowContext<'_>, end: usize, mut notes: Notes) {
        let end = &mut self.ends[end];
        loop {
            if end.role == PipesRole::Sink && notes.readable >= end.next_mark {
                end.next_mark = context.progress(notes.readable);
            }
            let closes = match end.role {
                PipesRole::Source { bytes } => notes.connected && bytes < ENDLESS,
                PipesRole::Sink => notes.peer_closed,
            };
            if notes.ended || !closes {
                return;
            }
            notes = end.close(context);
        }
    }

    fn connections(&self) -> [Option<&Connection>; 2] {
        [SOURCE, SINK].map(|end| self.ends[end].connection.as_ref())
    }
}

impl Flow for PtcpPair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        let notes = self.ends[SOURCE].open(context);
        self.serve(context, SOURCE, notes);
        self.ends[SINK].next_mark = context.first_mark();
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.ends[SOURCE].abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let notes = self.ends[end].receive(context, &arrival);
        self.serve(context, end, notes);
    }

    fn deliver_damaged(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        self.ends[end].receive_damaged(context, &arrival);
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        let notes = self.ends[end].fire(context);
        self.serve(context, end, notes);
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[SINK].received()
    }

    /// By the names of their access links.
    fn pipes(&self, names: &PipeNames<'_>) -> Named<PipeResult> {
        let [Some(sender), receiver] = self.connections() else { return Named::default() };
        let received = |pipe: &PipeMetrics| {
            let same = |other: &PipeMetrics| other.pipe == pipe.pipe;
            receiver.and_then(|receiver| receiver.pipes().find(same)).map_or(0, |other| other.received_bytes)
        };
        let name = |pipe: &PipeMetrics| {
            let [own, other] =
                [pipe.path.local, pipe.path.remote].map(|address| node_at(address).unwrap_or(NodeId(0)));
            names.of(own, other, usize::from(pipe.pipe))
        };
        sender
            .pipes()
            .map(|pipe| (name(&pipe), pipe_result(pipe.sent_bytes, received(&pipe), &pipe.tcp.engine)))
            .collect()
    }

    fn faults(&self) -> Vec<String> {
        let checks = self.ends.iter().filter_map(|end| end.check.as_deref());
        checks.flat_map(|check| check.faults()).cloned().collect()
    }
}

impl Simulation {
    /// Both ends of a pTCP flow, the opening one first, once they exist.
    pub fn ptcp(&self, flow: FlowId) -> [Option<&Connection>; 2] {
        self.flow_as::<PtcpPair>(flow).map_or([None, None], PtcpPair::connections)
    }
}
