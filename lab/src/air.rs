//! The air of a running lab: one thread between the radio devices of all hosts, in which medium, medium access and
//! routing work as in the simulator, on the wall clock.
//!
//! * [`routers`]: hosts whose routing daemons find the routes. [`hosts`]: hosts whose routes are found here;
//!   [`direct`]: where nobody routes. [`radios`]: what both have on the air.
//! * [`cells`]: base stations and stations on one air, without devices. [`ways`]: the kernels' routes to stations.
//!   [`protocols`]: who finds routes over those that relay. [`slotted`]: a cell in slots.
//! * [`shared`]: which of these carries a medium of a plan.
//! * [`stage`]: what the thread does. [`ports`]: what packets of stations come by. [`telling`]: what the log of the run
//!   is told. [`carriage`]: what the thread asks of hosts. [`frames`]: packets that the air knows by number.
//!
//! What happens on the air happens at the times that the model gives, worked off when the thread wakes; kernels see it
//! as late as that. How late deliveries were is measured and reported. Nothing happens behind the end of the run,
//! however late the thread learns of it: counters are those of the end.
mod carriage;
mod cells;
mod direct;
mod frames;
mod hosts;
mod ports;
mod protocols;
mod radios;
mod routers;
mod shared;
mod slotted;
mod stage;
mod telling;
mod ways;

pub(crate) use ports::{DaemonEnd, Station};

use crate::LabError;
use crate::fabric::LINK_MTU_BYTES;
use crate::orders::Orders;
use crate::packets::Numbering;
use crate::timing::{DelaySummary, RunEnd};
use crate::topology::Topology;
use ports::Port;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle};
use prismux_linux::namespace::Namespace;
use prismux_linux::packet::PacketPool;
use prismux_linux::process;
use prismux_plan::Medium;
use prismux_trace::event::SharedLog;
use prismux_trace::results::Named;
use shared::Shared;
use stage::Stage;
use std::io;
use std::sync::mpsc;
use std::thread::JoinHandle;
use telling::Teller;
use ways::Ways;

/// What the hosts of an air have done, and how late the thread was.
#[derive(Debug, Default)]
pub(super) struct AirReport {
    /// The counters of each host, as the simulator has them.
    pub nodes: Named<Named<u64>>,
    /// Delivery to the kernel, or to the routing daemon, after the instant that the model gave.
    pub lateness: DelaySummary,
}

/// A running air; stops when dropped.
pub(super) struct AirThread {
    thread: Option<JoinHandle<io::Result<AirReport>>>,
    stop: StopHandle,
    /// Is told once the first instant is over.
    begun: mpsc::Receiver<()>,
}

/// Who tells the log of a run, and under which numbers it knows packets.
pub(super) type Telling<'a> = Option<(&'a SharedLog, &'a Numbering)>;

impl AirThread {
    /// Lets all radio media of a plan work between the stations of each.
    ///
    /// # Errors
    /// As for [`AirThread::start`].
    pub fn start_all(
        orders: &Orders<'_>,
        stations: Vec<Vec<Station>>,
        (topology, namespaces): (&Topology, &[Namespace]),
        telling: Telling<'_>,
        (clock, end): (Clock, &RunEnd),
    ) -> Result<Vec<Self>, LabError> {
        let media = orders.plan.media.iter().zip(stations);
        let start = |(medium, stations): (&Medium, Vec<Station>)| {
            let events = telling.map(|(log, _)| log.clone());
            let ways = Ways::new(orders.plan, medium, topology, namespaces, events)?;
            Self::start(orders, medium, stations, (ways, telling), (clock, end.clone()))
        };
        let airs: Vec<Self> = media.map(start).collect::<Result<_, _>>()?;
        // Flows begin when stations are where the first instant has put them, however late the thread is.
        for air in &airs {
            // One that has ended says why when it is finished.
            let _ = air.begun.recv();
        }
        Ok(airs)
    }

    /// Lets the radio medium of a plan work between these stations, from the beginning of the run that `clock` tells.
    ///
    /// # Errors
    /// When radio, medium access or a movement is impossible, or the kernel refuses the thread its devices.
    fn start(
        orders: &Orders<'_>,
        medium: &Medium,
        stations: Vec<Station>,
        (ways, telling): (Ways, Telling<'_>),
        (clock, end): (Clock, RunEnd),
    ) -> Result<Self, LabError> {
        let failed = || LabError::setup(format!("start medium \"{}\"", medium.name));
        let mut shared = Shared::of(orders, medium, &stations)?;
        let teller = telling.map(|(log, numbering)| {
            shared.tell_frames();
            Teller::new(log.clone(), numbering.clone(), orders.plan, medium)
        });
        // What came before the run is not of it; what comes from now on may be, before the thread is there.
        let pool = PacketPool::new(LINK_MTU_BYTES as usize);
        for station in &stations {
            if let Port::Kernel(device) = &station.port {
                while pool.read_with(|buffer| device.read(buffer)).is_ok() {}
            }
        }
        let stop = StopHandle::new().map_err(failed())?;
        let (their_stop, seed) = (stop.clone(), orders.seed);
        let counts_energy = shared.counts_energy();
        let (begins, begun) = mpsc::channel();
        let work = move || {
            process::prefer_this_thread(process::LINK_PRIORITY);
            let events = EventLoop::new(clock, their_stop)?;
            let begins = Some(begins);
            let stage = Stage { stations, events, ways, teller, clock, end, counts_energy, begins };
            shared.carry(stage, seed)
        };
        let thread = std::thread::Builder::new().name("air".to_owned()).spawn(work).map_err(failed())?;
        Ok(Self { thread: Some(thread), stop, begun })
    }

    /// Stops the thread and returns what it measured.
    ///
    /// # Errors
    /// What ended the thread early: a device that cannot be read.
    pub fn finish(mut self) -> Result<AirReport, LabError> {
        self.stop.stop();
        let thread = self.thread.take();
        let joined =
            thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.unwrap_or_else(|| Ok(AirReport::default())).map_err(LabError::setup("carry frames"))
    }
}

impl Drop for AirThread {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
