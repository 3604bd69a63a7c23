//! R²CP, radial RCP: one receiver, several RCP pipes, from one server or several.
mod receiver;

use super::context::{Arrival, FlowContext};
use super::flow::Flow;
use super::names::PipeNames;
use super::pipes::pipe_result;
use super::rcp::endpoint::{RcpContent, RcpEndpoint};
use super::rcp::segment;
use super::transport::{BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::checker::StreamCheck;
use crate::core::ids::{FlowId, LinkId, NodeId, PortId};
use crate::core::policy_role::PolicyRole;
use crate::core::site::Site;
use crate::simulation::Simulation;
use prismux_endpoint::Alarm;
use prismux_plan::{Congestion, Pipe, R2cpSettings};
use prismux_r2cp::{Connection, PipeMetrics, R2cpConfig};
use prismux_rcp::RcpConfig;
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{CongestionKind, EngineMetrics};
use prismux_trace::results::{Named, PipeResult};
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use receiver::{PathState, R2cpReceiver, RECEIVER, port, server};

/// A transfer over several pipes. The flow's `to` is the receiver; its `from` is the first path's server.
#[derive(Debug, Clone, PartialEq)]
pub struct R2cpFlow {
    /// Switches of the connection.
    pub config: R2cpConfig,
    /// Switches of the servers.
    pub sender: RcpConfig,
    /// Where the pipes lead.
    pub paths: Vec<R2cpPath>,
    /// The name in results.
    pub name: String,
}

/// One path of a transfer over several, and its pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct R2cpPath {
    /// The name of its pipe in results.
    pub name: String,
    /// The host that serves it.
    pub server: NodeId,
    /// The link at which both ends begin, where routing would choose another: it must touch the receiver or the server
    /// (or both), and is used by the end it touches.
    pub link: Option<LinkId>,
    /// What using it costs; cheaper paths go first.
    pub cost: u8,
    /// The congestion control of its pipe; that of [`R2cpFlow::config`] when `None`.
    pub congestion: Option<CongestionKind>,
    /// When its pipe opens, the flow's start if earlier.
    pub opens: Instant,
    /// When it ends in peace: nothing more is asked for, what is on its way still comes.
    pub closes: Option<Instant>,
    /// When it ends because its interface is gone.
    pub drops: Option<Instant>,
}

impl R2cpFlow {
    /// As a plan has it; its connection and servers follow `tcp`.
    pub(super) fn planned(settings: &R2cpSettings, tcp: &TcpConfig) -> Self {
        let paths = settings.pipes.iter().map(R2cpPath::planned).collect();
        Self { config: settings.config(tcp), sender: RcpConfig::from_tcp(tcp), paths, name: "r2cp".into() }
    }
}

impl R2cpPath {
    fn planned(pipe: &Pipe) -> Self {
        Self {
            name: pipe.name.clone(),
            server: pipe.server,
            link: pipe.link,
            cost: pipe.cost,
            // What only kernels have was refused before.
            congestion: pipe.congestion.map(Congestion::kind),
            opens: Instant::ZERO + pipe.opens,
            closes: pipe.closes.map(|at| Instant::ZERO + at),
            drops: pipe.drops.map(|at| Instant::ZERO + at),
        }
    }

    /// To `server` by the shortest route, from the start to the end.
    pub fn to(server: NodeId) -> Self {
        let name = format!("from-{}", server.index());
        Self {
            name,
            server,
            link: None,
            cost: 0,
            congestion: None,
            opens: Instant::ZERO,
            closes: None,
            drops: None,
        }
    }

    /// Under another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }
}

impl Transport for R2cpFlow {
    fn name(&self) -> &str {
        &self.name
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(segment(&self.sender, &self.config.rcp))
    }

    fn further_hosts(&self) -> Vec<(NodeId, LinkId)> {
        self.paths.iter().filter_map(|path| Some((path.server, path.link?))).collect()
    }

    fn takes(&self, role: &PolicyRole) -> bool {
        *role == PolicyRole::RequestScheduler
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        // Simulated applications read at once.
        let rcp = RcpConfig { consume_on_arrival: true, ..self.config.rcp.clone() };
        let mut receiver = R2cpReceiver {
            config: R2cpConfig { rcp, ..self.config.clone() },
            scheduler: build.request_scheduler.map(|factory| factory.make(build.part())),
            connection: None,
            paths: Vec::new(),
            check: build.checks().then(Box::<StreamCheck>::default),
            alarm: Alarm::new(),
            next_mark: u64::MAX,
        };
        let mut numbers = build.random("initial-sequence");
        let mut servers = Vec::new();
        let mut sites = vec![build.sites([build.end(RECEIVER as u32), build.end(RECEIVER as u32)])[1]];
        for (index, path) in self.paths.iter().enumerate() {
            servers.push(RcpEndpoint::new(server(index), &self.sender, build.bytes(), &mut numbers));
            sites.extend(path_sites(build, path, sites[RECEIVER], index));
            receiver.paths.push(PathState {
                name: path.name.clone(),
                initial: SeqNumber(numbers.next_u64() as u32),
                cost: path.cost,
                congestion: path.congestion.unwrap_or(self.config.rcp.engine.congestion),
                opens: path.opens,
                closes: path.closes,
                drops: path.drops,
                pipe: None,
            });
        }
        build.built(R2cpPipes { host: sites[RECEIVER].node, receiver, servers }, sites)
    }
}

/// The sites of a path's server and of the port where its packets arrive.
fn path_sites(build: &FlowBuild<'_>, path: &R2cpPath, receiver: Site, index: usize) -> [Site; 2] {
    let exit_at = |node| {
        let link = path.link?;
        let leads = |port: PortId| build.network.ends[port.index()].node;
        // A direction of the link that does not end here begins here.
        let touches = leads(PortId::forward(link)) == node || leads(PortId::reverse(link)) == node;
        touches.then(|| {
            if leads(PortId::forward(link)) == node { PortId::reverse(link) } else { PortId::forward(link) }
        })
    };
    // Packets come back by the link that they left by.
    let address = |host| path.link.map_or(host, |link| build.addresses.of_host(host, link));
    let [server, port] = [server(index), port(index)].map(|number| build.end(number as u32));
    let server_site = Site {
        own: server,
        node: path.server,
        peer: port,
        peer_node: address(receiver.node),
        fixed_exit: exit_at(path.server),
        ..receiver
    };
    let port_site = Site {
        own: port,
        peer: server,
        peer_node: address(path.server),
        fixed_exit: exit_at(receiver.node),
        ..receiver
    };
    [server_site, port_site]
}

/// The receiver and its servers, which are plain senders of RCP.
#[derive(Debug)]
struct R2cpPipes {
    /// Of the receiver.
    host: NodeId,
    receiver: R2cpReceiver,
    /// By path.
    servers: Vec<RcpEndpoint>,
}

impl Flow for R2cpPipes {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.receiver.next_mark = context.first_mark();
        self.receiver.open(context);
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.receiver.abort(context);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some((packet, offset)) = RcpContent::take(context, &arrival) else { return };
        let path = (end - 1) / 2;
        if end == server(path) {
            self.servers[path].receive(context, &packet, offset, false);
        } else {
            let notes = self.receiver.receive(context, path, packet, offset);
            self.serve(context, notes.readable);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        if end == RECEIVER {
            let notes = self.receiver.fire(context);
            self.serve(context, notes.readable);
        } else {
            self.servers[(end - 1) / 2].fire(context);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.receiver.received()
    }

    fn engine(&self) -> Option<EngineMetrics> {
        self.receiver.engine_metrics()
    }

    /// By the names of the paths.
    fn pipes(&self, _: &PipeNames<'_>) -> Named<PipeResult> {
        let connection = self.receiver.connection.as_ref();
        let metrics = |path: &PathState| connection?.pipe_metrics(path.pipe?);
        let line = |path: &PathState| (path.name.clone(), metrics(path).map(result).unwrap_or_default());
        self.receiver.paths.iter().map(line).collect()
    }

    fn counters(&self, _: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let metrics = self.receiver.connection.as_ref().map(Connection::metrics).unwrap_or_default();
        vec![
            (self.host, "data_packets", metrics.data_packets),
            (self.host, "found_buffer_nearly_full", metrics.found_buffer_nearly_full),
            (self.host, "duplicate_bytes", metrics.duplicate_bytes),
            (self.host, "unrequested_packets", metrics.unrequested),
        ]
    }

    fn faults(&self) -> Vec<String> {
        let check = self.receiver.check.as_deref();
        check.into_iter().flat_map(|check| check.faults()).cloned().collect()
    }
}

impl R2cpPipes {
    /// The receiving application notes how far it has got.
    fn serve(&mut self, context: &mut FlowContext<'_>, readable: u64) {
        if readable >= self.receiver.next_mark && readable > 0 {
            self.receiver.next_mark = context.progress(self.receiver.received());
        }
    }
}

fn result(pipe: PipeMetrics) -> PipeResult {
    pipe_result(pipe.requested_bytes, pipe.received_bytes, &pipe.engine)
}

impl Simulation {
    /// The receiving end of an R²CP flow, once it has been opened.
    pub fn r2cp_connection(&self, flow: FlowId) -> Option<&Connection> {
        self.flow_as::<R2cpPipes>(flow)?.receiver.connection.as_ref()
    }
}
