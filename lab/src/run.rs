//! One run from plan to result.
use crate::air::{AirReport, AirThread, Station};
use crate::daemons::DaemonCommand;
use crate::emulator::{EmulatedLink, Emulator, EmulatorReport, EventFeed, Recording};
use crate::fabric::Fabric;
use crate::orders::{Carrier, Orders};
use crate::packets::{FlowNames, Numbering};
use crate::prepare::PreparedFlow;
use crate::programs::OwnProgram;
use crate::stage::Stage;
use crate::timing::{DelaySummary, RunEnd};
use crate::topology::Topology;
use crate::traffic::FlowOutcome;
use crate::wakeups::Wakeups;
use crate::{LabError, measure};
use prismux_endpoint::random::Seed;
use prismux_linux::clock::Clock;
use prismux_plan::Plan;
use prismux_trace::event::SharedLog;
use prismux_trace::results::{Named, ProgramResult, RunResult};
use prismux_units::{Duration, Instant};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

/// How a run is done, apart from what is run.
#[derive(Debug, Clone, Default)]
pub struct LabOptions {
    /// Seed of every random stream of the run: link losses, traffic, file contents.
    pub seed: u64,
    /// SHA-256 (hex) of the scenario, for results; empty for a plan that was made in code.
    pub scenario_hash: String,
    /// Set it to end the run early, with [`LabError::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
    /// How to start the daemons of proxies and members.
    pub daemons: DaemonCommand,
    /// Write everything that is handed to the links to this pcapng file, one interface for each link.
    pub capture: Option<PathBuf>,
    /// Have every proxy record what its core is told and decides, in a file of its own in this folder (see
    /// [`prismux_daemons::proxy::recorder`]). A proxy that is killed and started again begins another.
    pub record: Option<PathBuf>,
    /// Where the events of the run go: packets at the ends of links, windows, held ACKs.
    pub events: Option<SharedLog>,
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
    /// Last status page of each daemon, by node; a member of several proxies has one for each ("m1/proxy2").
    pub status: Named<serde_json::Value>,
    /// Packets that devices dropped because the emulator was late to take them, by node and device. A run with any is
    /// not to be trusted: the machine is too slow for it.
    pub device_drops: Named<u64>,
    /// How late a program of ordinary priority was woken during the run, as the daemons are.
    pub wakeups: DelaySummary,
    /// Real time from the plan to a network ready to use, daemons included.
    pub setup: Duration,
}

/// Builds the network, runs the plan in real time, takes everything down.
///
/// Needs the privileges that [`prismux_linux::privileges::ensure_privileges`] obtains. Any number of runs may go on
/// at the same time, in one process or several; they share nothing but the processor.
///
/// # Errors
/// [`LabError`]: a plan that cannot be built, missing privileges, a kernel without a feature the plan needs, a
/// daemon that ended. A flow that could not connect is no error but a result of zero bytes.
pub fn run(plan: &Plan, options: &LabOptions) -> Result<LabOutcome, LabError> {
    let began = Clock::start();
    let orders = Orders::new(plan, Seed(options.seed))?;
    let topology = Topology::new(&orders)?;
    let Fabric { namespaces, devices, radios, own_senders } = Fabric::build(plan, &topology)?;
    let (stations, routers) = Station::of_plan(plan, &topology, radios)?;
    let numbering = Numbering::new(FlowNames::new(&orders), &topology);
    let numbered = (!plan.media.is_empty()).then(|| numbering.clone());
    let feed = options.events.clone().map(|log| EventFeed::start(&orders, log, numbered));
    let events = feed.transpose().map_err(LabError::setup("start the event log"))?;
    let recording = Recording { series: plan.measure.interval, capture: options.capture.clone(), events };
    let (links, end) = (EmulatedLink::of_plan(plan, devices), RunEnd::of(plan));
    let emulator = Emulator::start(links, orders.seed, recording, end.clone())?;
    let mut stage = Stage::set(&orders, topology, &namespaces, (own_senders, routers), &emulator, options)?;
    let setup = began.now() - Instant::ZERO;

    let clock = Clock::start();
    let over = Arc::new(AtomicBool::new(false));
    let flows = stage.prepare_flows(clock, &over)?;
    let programs = stage.prepare_programs(clock, &over)?;
    stage.begin(clock)?;
    let airs = {
        let network = (&stage.topology, &namespaces[..]);
        let telling = options.events.as_ref().map(|log| (log, &numbering));
        AirThread::start_all(&orders, stations, network, telling, (clock, &end))?
    };
    let wakeups = Wakeups::watch().map_err(LabError::setup("watch how promptly programs are woken"))?;
    let (outcomes, programs) = play(&mut stage, flows, &programs, (clock, &over), options)?;
    let duration = (clock.now() - Instant::ZERO).min(plan.duration);
    end.bring_forward(duration);
    emulator.end_run();
    let wakeups = wakeups.finish();
    let status = stage.status();
    let served = stage.end_servers();
    let device_drops = stage.device_drops()?;
    let held_acks = stage.status_pages.take_held_acks();
    drop(stage);
    let airs: Vec<AirReport> = airs.into_iter().map(AirThread::finish).collect::<Result<_, _>>()?;
    let mut report = emulator.finish()?;
    // With radio alone, the emulator has nothing to hand over.
    if let (true, [air, ..]) = (plan.links.is_empty(), &airs[..]) {
        report.lateness = air.lateness;
    }
    let flows: Named<_> = plan.flows.iter().map(|flow| flow.name.clone()).zip(outcomes).collect();
    let mut result = measure::result(&orders, &options.scenario_hash, duration, &flows, &report, &status);
    result.nodes.extend(served);
    result.programs = programs;
    for (node, counters) in airs.into_iter().flat_map(|air| air.nodes) {
        let of_daemon = result.nodes.get_mut(&node).map(std::mem::take).unwrap_or_default();
        result.nodes.entry(node).or_default().extend(counters.into_iter().chain(of_daemon));
    }
    measure::add_receivers(&mut result, plan, &flows);
    if let Some(series) = &mut result.series {
        for (name, samples) in held_acks {
            if let Some(flow) = series.flows.get_mut(&name) {
                flow.held_acks = samples;
            }
        }
    }
    Ok(LabOutcome { result, flows, emulator: report, status, device_drops, wakeups, setup })
}

/// Lets flows, programs and events happen, each flow and program in a thread of its own. The run is over when all flows
/// but datagrams and all programs have ended, or a program cannot be started, and at the plan's end in any case.
fn play(
    stage: &mut Stage<'_>,
    flows: Vec<PreparedFlow>,
    programs: &[OwnProgram],
    (clock, over): (Clock, &Arc<AtomicBool>),
    options: &LabOptions,
) -> Result<(Vec<FlowOutcome>, Named<ProgramResult>), LabError> {
    let orders = stage.orders;
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whatever happens below, the threads are told to end, or the scope would wait for ever.
        let _end = SetOnDrop(Arc::clone(over));
        let flows: Vec<_> = flows.into_iter().map(|flow| scope.spawn(|| flow.run())).collect();
        let bulk = orders.flows.iter().zip(&flows).filter(|(flow, _)| flow.carrier != Carrier::Udp);
        let bulk: Vec<_> = bulk.map(|(_, handle)| handle).collect();
        let run = |program: &OwnProgram| {
            let ended = program.run();
            failed.fetch_or(ended.is_err(), Ordering::Relaxed);
            ended
        };
        let running: Vec<_> = programs.iter().map(|program| scope.spawn(move || run(program))).collect();
        let has_work = !bulk.is_empty() || !running.is_empty();
        stage.play(clock, options, || {
            let all_ended = bulk.iter().all(|flow| flow.is_finished())
                && running.iter().all(ScopedJoinHandle::is_finished);
            has_work && all_ended || failed.load(Ordering::Relaxed)
        })?;
        over.store(true, Ordering::Relaxed);
        let mut results = Named::default();
        for (program, handle) in programs.iter().zip(running) {
            let cannot = |source| LabError::Program { program: program.name.clone(), source };
            results.insert(program.name.clone(), join(handle).map_err(cannot)?);
        }
        Ok((flows.into_iter().map(join).collect(), results))
    })
}

fn join<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
