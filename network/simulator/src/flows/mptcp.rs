//! MPTCP: one connection with a subflow for every access link.
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
use endpoint::{MptcpEndpoint, MptcpSetup};
use prismux_endpoint::Alarm;
use prismux_mptcp::{Connection, MptcpConfig, Path, SubflowMetrics};
use prismux_plan::MptcpSettings;
use prismux_tcp::TcpConfig;
use prismux_trace::results::{Named, PipeResult};

/// The two ends of an MPTCP connection. The paths follow from the flow's links.
#[derive(Debug, Clone)]
pub struct MptcpFlow {
    /// Switches of both ends.
    pub config: MptcpConfig,
}

impl MptcpFlow {
    /// As a plan has it; its subflows follow `tcp`.
    pub(super) fn planned(settings: &MptcpSettings, tcp: TcpConfig) -> Self {
        Self { config: settings.config(tcp) }
    }
}

impl Transport for MptcpFlow {
    fn name(&self) -> &str {
        "mptcp"
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(SegmentShape::agreed(&self.config.tcp, &self.config.tcp))
    }

    fn takes(&self, role: &PolicyRole) -> bool {
        *role == PolicyRole::SubflowScheduler
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let [near, far] = [build.plan.from, build.plan.to]
            .map(|host: NodeId| build.addresses(host).map(address).collect::<Vec<_>>());
        let pair = |(&local, &remote)| Path { local, remote };
        let mut paths: Vec<Path> = near.iter().zip(&far).map(pair).collect();
        if paths.is_empty() {
            paths.push(Path { local: address(build.plan.from), remote: address(build.plan.to) });
        }
        // As on a network, the end that has several links opens the subflows.
        let sink_opens = paths.len() > 1 && paths.iter().all(|path| path.local == paths[0].local);
        let back = paths.iter().map(|path| Path { local: path.remote, remote: path.local }).collect();
        let number = build.flow.0;
        let ports = (20_000 + (number % 40_000) as u16, 5001 + (number / 40_000) as u16);
        // Simulated applications read at once.
        let config = MptcpConfig { consume_on_arrival: true, ..self.config.clone() };
        let scheduler = build.subflow_scheduler.map(|factory| factory.make(build.part()));
        let end = |number, paths: Vec<Path>, side: &str, role: PipesRole| MptcpEndpoint {
            number,
            alarm: Alarm::new(),
            next_mark: u64::MAX,
            connection: None,
            role,
            setup: MptcpSetup { config: config.clone(), paths, ports, random: build.random(side) },
            scheduler: None,
            check: build.checks().then(Box::<StreamCheck>::default),
        };
        let source = PipesRole::Source { bytes: build.bytes().unwrap_or(ENDLESS) };
        let mut ends = [end(SOURCE, paths, "client", source), end(SINK, back, "server", PipesRole::Sink)];
        ends[SOURCE].scheduler = scheduler;
        build.two_ends(MptcpPair { ends, opener: if sink_opens { SINK } else { SOURCE } })
    }
}

/// Both ends of a connection.
#[derive(Debug)]
struct MptcpPair {
    ends: [MptcpEndpoint; 2],
    /// The end that opens.
    opener: usize,
}

/// The ends by number.
const SOURCE: usize = 0;
const SINK: usize = 1;

impl MptcpPair {
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

impl Flow for MptcpPair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        let notes = self.ends[self.opener].open(context);
        self.serve(context, self.opener, notes);
        self.ends[SINK].next_mark = context.first_mark();
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.ends[SOURCE].abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let notes = self.ends[end].receive(context, &arrival, end != self.opener);
        self.serve(context, end, notes);
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
        let received = |subflow: &SubflowMetrics| {
            let path = Path { local: subflow.path.remote, remote: subflow.path.local };
            let same = |other: &SubflowMetrics| other.path == path;
            receiver
                .and_then(|receiver| receiver.subflows().find(same))
                .map_or(0, |other| other.received_bytes)
        };
        let name = |index: usize, subflow: &SubflowMetrics| {
            let [own, other] = [subflow.path.local, subflow.path.remote]
                .map(|address| node_at(address).unwrap_or(NodeId(0)));
            names.of(own, other, index)
        };
        let results = sender.subflows().enumerate().map(|(index, subflow)| {
            let result = pipe_result(subflow.sent_bytes, received(&subflow), &subflow.tcp.engine);
            (name(index, &subflow), result)
        });
        results.collect()
    }

    fn faults(&self) -> Vec<String> {
        let checks = self.ends.iter().filter_map(|end| end.check.as_deref());
        let mut faults: Vec<String> = checks.flat_map(|check| check.faults()).cloned().collect();
        faults.extend(self.connections().into_iter().flatten().filter_map(|end| end.audit().err()));
        faults
    }
}

impl Simulation {
    /// Both ends of an MPTCP flow, the sending one first, once they exist.
    pub fn mptcp(&self, flow: FlowId) -> [Option<&Connection>; 2] {
        self.flow_as::<MptcpPair>(flow).map_or([None, None], MptcpPair::connections)
    }
}
