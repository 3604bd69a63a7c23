//! One run from plan to result.
use super::emulator::{EmulatedLink, Emulator, EmulatorReport, Way};
use super::fabric::Fabric;
use super::plan::{Action, EventPlan, FlowPlan, LabPlan, Traffic, Transport};
use super::topology::Topology;
use super::traffic::exchange::ExchangeFlow;
use super::traffic::socket::SocketMaker;
use super::traffic::tcp::TcpFlow;
use super::traffic::udp::{Pattern, UdpFlow};
use super::traffic::{FlowOutcome, Schedule};
use super::{LabError, measure, mptcp};
use crate::clock::Clock;
use prismux_endpoint::random::Seed;
use prismux_trace::results::{Named, RunResult};
use prismux_units::{Duration, Instant};
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Port of the first flow's listener; one more for each further flow.
const FIRST_PORT: u16 = 5001;

/// How a run is done, apart from what is run.
#[derive(Debug, Clone, Default)]
pub struct LabOptions {
    /// Set it to end the run early, with [`LabError::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Everything that a run measured.
#[derive(Debug, Clone)]
pub struct LabOutcome {
    /// The columns that the simulator has too.
    pub result: RunResult,
    /// Each flow in detail.
    pub flows: Named<FlowOutcome>,
    /// Each link in detail, and how precise the emulation was.
    pub emulator: EmulatorReport,
    /// Real time from the plan to a network ready to use.
    pub setup: Duration,
}

/// Builds the network, runs the plan in real time, takes everything down.
///
/// Needs the privileges that [`super::ensure_privileges`] obtains. Any number of runs may go on at the same
/// time, in one process or several; they share nothing but the processor.
///
/// # Errors
/// [`LabError`]: a plan that cannot be built, missing privileges, a kernel without a feature the plan needs, a
/// daemon that ended. A flow that could not connect is no error but a result of zero bytes.
pub fn run(plan: &LabPlan, options: &LabOptions) -> Result<LabOutcome, LabError> {
    let began = Clock::start();
    let mut topology = Topology::new(plan)?;
    let Fabric { namespaces, devices } = Fabric::build(plan, &topology)?;
    let links = plan.links.iter().zip(devices).map(|(link, ends)| EmulatedLink {
        name: link.name.clone(),
        forward: link.forward.clone(),
        reverse: link.reverse.clone(),
        up: link.up,
        ends,
    });
    let emulator = Emulator::start(links.collect(), Seed(plan.seed), plan.series_interval)?;
    let mut lab = Lab { plan, topology: &mut topology, namespaces: &namespaces, emulator: &emulator };
    lab.prepare_mptcp()?;
    let setup = began.now() - Instant::ZERO;

    let clock = Clock::start();
    let over = Arc::new(AtomicBool::new(false));
    let flows = lab.prepare_flows(clock, &over)?;
    emulator.begin(clock);
    let outcomes = std::thread::scope(|scope| {
        // Whatever happens below, the threads are told to end, or the scope would wait for ever.
        let _end = SetOnDrop(Arc::clone(&over));
        let handles: Vec<_> = flows.into_iter().map(|flow| scope.spawn(|| flow.run())).collect();
        let mut bulk =
            plan.flows.iter().zip(&handles).filter(|(flow, _)| flow.transport != Transport::Udp).peekable();
        let some = bulk.peek().is_some();
        let bulk: Vec<_> = bulk.map(|(_, handle)| handle).collect();
        let done = || some && bulk.iter().all(|handle| handle.is_finished());
        lab.play(clock, options, done)?;
        over.store(true, Ordering::Relaxed);
        let join = |handle: std::thread::ScopedJoinHandle<'_, FlowOutcome>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok::<_, LabError>(handles.into_iter().map(join).collect::<Vec<_>>())
    })?;
    let duration = (clock.now() - Instant::ZERO).min(plan.duration);
    let report = emulator.finish()?;
    let flows: Named<_> = plan.flows.iter().map(|flow| flow.name.clone()).zip(outcomes).collect();
    let result = measure::result(plan, duration, &flows, &report);
    Ok(LabOutcome { result, flows, emulator: report, setup })
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A flow whose sockets exist.
enum PreparedFlow {
    Tcp(TcpFlow),
    Exchange(ExchangeFlow),
    Udp(UdpFlow),
}

impl PreparedFlow {
    fn run(self) -> FlowOutcome {
        match self {
            Self::Tcp(flow) => flow.run(),
            Self::Exchange(flow) => flow.run(),
            Self::Udp(flow) => flow.run(),
        }
    }
}

/// A network that stands.
struct Lab<'a> {
    plan: &'a LabPlan,
    topology: &'a mut Topology,
    namespaces: &'a [super::Namespace],
    emulator: &'a Emulator,
}

impl Lab<'_> {
    /// Makes the receivers' path addresses endpoints of MPTCP, and lets senders accept the subflows.
    fn prepare_mptcp(&mut self) -> Result<(), LabError> {
        let plan = self.plan;
        for flow in plan.flows.iter().filter(|flow| flow.transport == Transport::Mptcp) {
            let addresses: Vec<_> = self.topology.paths(flow)?.iter().map(|path| path.address).collect();
            for (node, endpoints) in [(&flow.from, &[][..]), (&flow.to, &addresses[..])] {
                self.inside(node, || mptcp::configure(endpoints))?.map_err(|error| LabError::Setup {
                    doing: format!("{} on node \"{node}\"", error.request),
                    source: error.source,
                })?;
            }
        }
        Ok(())
    }

    fn prepare_flows(&mut self, clock: Clock, over: &Arc<AtomicBool>) -> Result<Vec<PreparedFlow>, LabError> {
        let plan = self.plan;
        let end = Instant::ZERO + plan.duration;
        let mut prepared = Vec::with_capacity(plan.flows.len());
        for (index, flow) in plan.flows.iter().enumerate() {
            let stop = flow.stop.map_or(end, |stop| stop.min(end));
            let schedule = Schedule { clock, start: flow.start, stop, over: Arc::clone(over) };
            let port = FIRST_PORT.wrapping_add(index as u16);
            prepared.push(match flow.traffic {
                Traffic::Bulk { .. } => PreparedFlow::Tcp(self.prepare_tcp(flow, port, schedule)?),
                Traffic::RequestResponse { .. } => {
                    PreparedFlow::Exchange(self.prepare_exchange(flow, port, schedule)?)
                }
                Traffic::Cbr { .. } | Traffic::ParetoOnOff { .. } => {
                    PreparedFlow::Udp(self.prepare_udp(flow, port, schedule)?)
                }
            });
        }
        Ok(prepared)
    }

    fn prepare_tcp(&mut self, flow: &FlowPlan, port: u16, schedule: Schedule) -> Result<TcpFlow, LabError> {
        let Traffic::Bulk { bytes } = flow.traffic else {
            return Err(LabError::flow(&flow.name, "is not bulk data"));
        };
        let path = self.topology.paths(flow)?.swap_remove(0);
        let maker = SocketMaker { mptcp: flow.transport == Transport::Mptcp, tcp: &flow.tcp };
        let server = SocketAddrV4::new(self.topology.address(path.from), port);
        let failed = |error| LabError::flow(&flow.name, error);
        Ok(TcpFlow {
            name: flow.name.clone(),
            seed: Seed(self.plan.seed),
            schedule,
            bytes: bytes.map(|bytes| bytes.as_u64()),
            listener: self.inside(&flow.from, || maker.listener(server))?.map_err(failed)?,
            caller: self.inside(&flow.to, || maker.caller(path.address))?.map_err(failed)?,
            server,
            mptcp: maker.mptcp,
            sample_interval: self.plan.series_interval,
        })
    }

    fn prepare_exchange(
        &mut self,
        flow: &FlowPlan,
        port: u16,
        schedule: Schedule,
    ) -> Result<ExchangeFlow, LabError> {
        let Traffic::RequestResponse { request, response, think, exchanges } = flow.traffic else {
            return Err(LabError::flow(&flow.name, "is not an exchange"));
        };
        let path = self.topology.paths(flow)?.swap_remove(0);
        let maker = SocketMaker { mptcp: flow.transport == Transport::Mptcp, tcp: &flow.tcp };
        let server = SocketAddrV4::new(path.address, port);
        let client = self.topology.address(path.from);
        let failed = |error| LabError::flow(&flow.name, error);
        Ok(ExchangeFlow {
            schedule,
            client: self.inside(&flow.from, || maker.caller(client))?.map_err(failed)?,
            server,
            listener: self.inside(&flow.to, || maker.listener(server))?.map_err(failed)?,
            request_bytes: request.as_u64(),
            response_bytes: response.as_u64(),
            think,
            exchanges,
        })
    }

    fn prepare_udp(&mut self, flow: &FlowPlan, port: u16, schedule: Schedule) -> Result<UdpFlow, LabError> {
        let failed = |error| LabError::flow(&flow.name, error);
        let pattern = Pattern::of(&flow.traffic, Seed(self.plan.seed), &flow.name)
            .ok_or_else(|| LabError::flow(&flow.name, "is not a UDP source"))?;
        let path = self.topology.paths(flow)?.swap_remove(0);
        let to = SocketAddrV4::new(path.address, port);
        let from = SocketAddrV4::new(self.topology.address(path.from), port);
        Ok(UdpFlow {
            schedule,
            sender: self.inside(&flow.from, || UdpSocket::bind(from))?.map_err(failed)?,
            receiver: self.inside(&flow.to, || UdpSocket::bind(to))?.map_err(failed)?,
            to: to.into(),
            pattern,
        })
    }

    /// Runs `work` in the namespace of the node called `node`.
    fn inside<T: Send>(&self, node: &str, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        let namespace = &self.namespaces[self.topology.node(node)?];
        namespace.enter(work).map_err(LabError::setup(format!("enter the namespace of node \"{node}\"")))
    }

    /// Waits for the end of the run and makes the plan's events happen.
    fn play(&mut self, clock: Clock, options: &LabOptions, done: impl Fn() -> bool) -> Result<(), LabError> {
        let mut events: Vec<&EventPlan> = self.plan.events.iter().collect();
        events.sort_by_key(|event| event.at);
        let mut events = events.into_iter().peekable();
        let end = Instant::ZERO + self.plan.duration;
        loop {
            let now = clock.now();
            while let Some(event) = events.next_if(|event| event.at <= now) {
                self.act(&event.action)?;
            }
            if options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(LabError::Interrupted);
            }
            if now >= end || done() {
                return Ok(());
            }
            let next = events.peek().map_or(end, |event| event.at.min(end));
            let left = std::time::Duration::from_nanos((next - now).as_nanos());
            std::thread::sleep(left.min(super::traffic::WAIT));
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), LabError> {
        match action {
            Action::ChangeLink { link, forward, reverse } => {
                let index = self.plan.links.iter().position(|known| known.name == *link);
                let index =
                    index.ok_or_else(|| LabError::Plan(format!("there is no link \"{link}\" to change")))?;
                for (way, change) in [(Way::Forward, forward), (Way::Reverse, reverse)] {
                    if let Some(change) = change {
                        self.emulator.change(index, way, *change);
                    }
                }
                Ok(())
            }
            Action::Leave(node) | Action::Join(node) | Action::Kill(node) | Action::Restart(node) => {
                self.topology.node(node).map(|_| ())
            }
        }
    }
}
