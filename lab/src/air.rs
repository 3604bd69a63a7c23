//! The air of a running lab: one thread between the radio devices of all hosts, in which medium, medium access and
//! routing work as in the simulator, on the wall clock.
//!
//! * [`hosts`]: hosts with their routing protocols on one air, without devices. [`direct`]: where nobody routes.
//! * [`cells`]: base stations and stations on one air, without devices. [`ways`]: the kernels' routes to stations.
//! * [`telling`]: what the log of the run is told. [`carriage`]: what the thread asks of either. [`frames`]: packets
//!   that the air knows by number. [`protocols`]: who finds routes.
//!
//! What happens on the air happens at the times that the model gives, worked off when the thread wakes; kernels see it
//! as late as that. How late deliveries were is measured and reported. Nothing happens behind the end of the run,
//! however late the thread learns of it: counters are those of the end.
mod carriage;
mod cells;
mod direct;
mod frames;
mod hosts;
mod protocols;
mod telling;
mod ways;

use crate::LabError;
use crate::fabric::LINK_MTU_BYTES;
use crate::orders::Orders;
use crate::timing::{DelaySummary, Lateness};
use crate::topology::Topology;
use carriage::{Carriage, Carried, Output};
use cells::CellNodes;
use hosts::Hosts;
use prismux_endpoint::random::Seed;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, StopHandle, Wake};
use prismux_linux::namespace::Namespace;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_linux::process;
use prismux_linux::tun::Tun;
use prismux_plan::{Action, Cells, Medium, MediumModel, NodeId, Plan, Radio};
use prismux_routing::RoutingEndpoint;
use prismux_trace::event::SharedLog;
use prismux_trace::results::Named;
use prismux_units::{Duration, Instant};
use prismux_wire::IpPacket;
use prismux_wireless::{Air, HostId};
use protocols::{Routed, with_routing};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use telling::Teller;
use ways::Ways;

/// A host of an air: its name, its address and its device.
pub(super) struct Station {
    pub name: String,
    pub address: Ipv4Addr,
    pub device: Tun,
}

impl Station {
    /// The hosts of each medium of a plan, with these devices.
    pub fn of_plan(plan: &Plan, topology: &Topology, radios: Vec<Vec<Tun>>) -> Vec<Vec<Self>> {
        let of_medium = |(medium, devices): (&Medium, Vec<Tun>)| {
            let station = |(node, device): (&NodeId, Tun)| Self {
                name: plan[*node].name.clone(),
                address: topology.address(node.index()),
                device,
            };
            medium.attached.iter().zip(devices).map(station).collect()
        };
        plan.media.iter().zip(radios).map(of_medium).collect()
    }
}

/// What the hosts of an air have done, and how late the thread was.
#[derive(Debug, Default)]
pub(super) struct AirReport {
    /// The counters of each host, as the simulator has them.
    pub nodes: Named<Named<u64>>,
    /// Delivery to the kernel after the instant that the model gave.
    pub lateness: DelaySummary,
}

/// A running air; stops when dropped.
pub(super) struct AirThread {
    thread: Option<JoinHandle<io::Result<AirReport>>>,
    stop: StopHandle,
    end: RunEnd,
}

/// When a run ends: with its plan, or sooner once all is done.
#[derive(Clone)]
struct RunEnd(Arc<AtomicU64>);

impl RunEnd {
    fn of(plan: &Plan) -> Self {
        Self(Arc::new(AtomicU64::new(plan.duration.as_nanos())))
    }

    fn get(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn bring_forward(&self, to: Duration) {
        self.0.fetch_min(to.as_nanos(), Ordering::Relaxed);
    }
}

impl AirThread {
    /// Lets all radio media of a plan work between the stations of each.
    ///
    /// # Errors
    /// As for [`AirThread::start`].
    pub fn start_all(
        orders: &Orders<'_>,
        stations: Vec<Vec<Station>>,
        (topology, namespaces): (&Topology, &[Namespace]),
        events: Option<&SharedLog>,
        clock: Clock,
    ) -> Result<Vec<Self>, LabError> {
        let media = orders.plan.media.iter().zip(stations);
        let start = |(medium, stations): (&Medium, Vec<Station>)| {
            let ways = Ways::new(orders.plan, medium, topology, namespaces, events.cloned())?;
            Self::start(orders, medium, stations, (ways, events.cloned()), clock)
        };
        media.map(start).collect()
    }

    /// Lets the radio medium of a plan work between these stations, from the beginning of the run that `clock` tells.
    ///
    /// # Errors
    /// When radio, medium access or a movement is impossible, or the kernel refuses the thread its devices.
    fn start(
        orders: &Orders<'_>,
        medium: &Medium,
        stations: Vec<Station>,
        (ways, log): (Ways, Option<SharedLog>),
        clock: Clock,
    ) -> Result<Self, LabError> {
        let failed = || LabError::setup(format!("start medium \"{}\"", medium.name));
        let MediumModel::Radio(radio) = &medium.model else {
            return Err(LabError::Layout(format!("medium \"{}\" is no radio", medium.name)));
        };
        let mut air = air(&medium.name, radio, &stations, orders.seed)
            .map_err(|error| LabError::Layout(format!("medium \"{}\": {error}", medium.name)))?;
        let teller = log.map(|log| {
            air.report_frames();
            let names = stations.iter().map(|station| station.name.clone()).collect();
            Teller::new(log, orders.plan, &medium.name, radio, names)
        });
        // What came before the run is not of it; what comes from now on may be, before the thread is there.
        let pool = PacketPool::new(LINK_MTU_BYTES as usize);
        for station in &stations {
            while pool.read_with(|buffer| station.device.read(buffer)).is_ok() {}
        }
        let stop = StopHandle::new().map_err(failed())?;
        let (their_stop, seed) = (stop.clone(), orders.seed);
        let counts_energy = radio.power.is_some();
        let (radio, attached) = (radio.clone(), medium.attached.clone());
        let tunings = tunings(orders.plan, medium);
        let end = RunEnd::of(orders.plan);
        let their_end = end.clone();
        let work = move || {
            process::prefer_this_thread(process::LINK_PRIORITY);
            let events = EventLoop::new(clock, their_stop)?;
            let stage = Stage { stations, events, ways, teller, clock, end: their_end, counts_energy };
            let (routing, cells) = (radio.routing, radio.cells.clone());
            match cells {
                Some(cells) => {
                    let work = InCells { stage, air, radio, cells, attached };
                    with_routing::<Carried<PacketBuf>, _>(routing, seed, work)
                }
                None => {
                    let work = AmongEquals { stage, air, radio, tunings };
                    with_routing::<PacketBuf, _>(routing, seed, work)
                }
            }
        };
        let thread = std::thread::Builder::new().name("air".to_owned()).spawn(work).map_err(failed())?;
        Ok(Self { thread: Some(thread), stop, end })
    }

    /// The run is over after `duration`: what would happen later on the air does not, nor does it count.
    pub fn end_run(&self, duration: Duration) {
        self.end.bring_forward(duration);
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

/// The air of a medium. Its random streams have the names that they have in the simulator.
fn air(
    medium: &str,
    radio: &Radio,
    stations: &[Station],
    seed: Seed,
) -> Result<Air<u32>, prismux_wireless::AirError> {
    let hosts = radio.host_configs(medium, stations.iter().map(|station| station.name.as_str()));
    Air::new(&radio.air_config(), hosts, seed)
}

/// Hosts that find their way over one another, all alike.
struct AmongEquals {
    stage: Stage,
    air: Air<u32>,
    radio: Box<Radio>,
    /// Changes of channel, in order.
    tunings: Vec<(Instant, HostId, u8)>,
}

impl Routed<PacketBuf> for AmongEquals {
    type Outcome = io::Result<AirReport>;

    fn with<R: RoutingEndpoint<PacketBuf>>(self, protocol: impl Fn(Ipv4Addr, &str) -> R) -> Self::Outcome {
        let Self { stage, air, radio, tunings } = self;
        let host = |(place, station): (usize, &Station)| {
            (protocol(station.address, &station.name), radio.radios_of(place).collect())
        };
        let hosts = stage.stations.iter().enumerate().map(host).collect();
        stage.carry(Hosts::new(air, hosts, radio.routing.takes_back()).with_tunings(tunings))
    }
}

/// Stations that belong to base stations, some of which may relay for the others.
struct InCells {
    stage: Stage,
    air: Air<u32>,
    radio: Box<Radio>,
    cells: Cells,
    attached: Vec<NodeId>,
}

impl Routed<Carried<PacketBuf>> for InCells {
    type Outcome = io::Result<AirReport>;

    fn with<R: RoutingEndpoint<Carried<PacketBuf>>>(
        self,
        protocol: impl Fn(Ipv4Addr, &str) -> R,
    ) -> Self::Outcome {
        let Self { stage, air, radio, cells, attached } = self;
        let addresses = stage.stations.iter().map(|station| station.address).collect();
        let route = |host: HostId| {
            let station = &stage.stations[host.0 as usize];
            protocol(station.address, &station.name)
        };
        let nodes = CellNodes::new(air, &attached, (&radio, &cells), addresses, route);
        stage.carry(nodes)
    }
}

/// The changes of channel in a plan that concern a medium, in order.
fn tunings(plan: &Plan, medium: &Medium) -> Vec<(Instant, HostId, u8)> {
    let tuning = |event: &prismux_plan::Event| match event.action {
        Action::Tune { host, channel } => {
            let place = medium.attached.iter().position(|node| *node == host)?;
            Some((Instant::ZERO + event.at, HostId(place as u32), channel))
        }
        _ => None,
    };
    let mut tunings: Vec<_> = plan.events.iter().filter_map(tuning).collect();
    tunings.sort_by_key(|(at, ..)| *at);
    tunings
}

/// What the thread works with.
struct Stage {
    stations: Vec<Station>,
    events: EventLoop,
    ways: Ways,
    /// Who tells the log of the run, if there is one.
    teller: Option<Teller>,
    clock: Clock,
    end: RunEnd,
    counts_energy: bool,
}

impl Stage {
    /// The time on the air, which ends with the run.
    fn now(&self) -> Instant {
        self.clock.now().min(self.end.get())
    }

    /// Carries packets until the end of the run, then drops what comes until stopped: devices stay until programs are
    /// done with them.
    fn carry(mut self, mut hosts: impl Carriage<PacketBuf>) -> io::Result<AirReport> {
        let pool = PacketPool::new(LINK_MTU_BYTES as usize);
        for (token, station) in self.stations.iter().enumerate() {
            self.events.watch(&station.device, token as u64)?;
        }
        let (mut lateness, mut ready) = (Lateness::default(), Vec::new());
        loop {
            let now = self.now();
            hosts.run_until(now);
            while let Some(output) = hosts.poll_output() {
                self.give(output, &mut lateness)?;
            }
            if let Some(teller) = self.teller.as_mut().filter(|teller| teller.next() <= now) {
                teller.tell_hosts(now, hosts.air(), self.counts_energy);
            }
            let tells_at = self.teller.as_ref().map(Teller::next);
            let next = [hosts.next_timeout(), tells_at].into_iter().flatten().min();
            let next = next.filter(|at| *at <= self.end.get());
            if self.events.wait(next, &mut ready)? == Wake::Stop {
                break;
            }
            for &token in &ready {
                self.take_from(HostId(token as u32), &pool, &mut hosts)?;
            }
        }
        let end = self.now();
        hosts.run_until(end);
        let counters = |(index, station): (usize, &Station)| {
            let counters = hosts.counters(end, HostId(index as u32), self.counts_energy);
            let named = counters.into_iter().map(|(name, count)| (name.to_owned(), count));
            (station.name.clone(), named.collect())
        };
        let nodes = self.stations.iter().enumerate().map(counters).collect();
        Ok(AirReport { nodes, lateness: lateness.summary() })
    }

    /// What comes of an air goes to those whom it concerns.
    fn give(&mut self, output: Output<PacketBuf>, lateness: &mut Lateness) -> io::Result<()> {
        match output {
            Output::Packet(at, host, packet) => {
                // A kernel without room for it loses it, as a full socket would.
                let _ = self.stations[host.0 as usize].device.write(&packet);
                lateness.record(self.clock.now() - at);
                Ok(())
            }
            Output::Settled(at, station, bases) => self.ways.turn(at, station, bases),
            Output::Behind(at, station, gateways, base) => self.ways.turn_behind(at, station, gateways, base),
            Output::OnAir(frame) => {
                self.teller.iter_mut().for_each(|teller| teller.tell_frame(&frame));
                Ok(())
            }
        }
    }

    /// Reads a batch of packets from a host's device.
    fn take_from(
        &self,
        host: HostId,
        pool: &PacketPool,
        hosts: &mut impl Carriage<PacketBuf>,
    ) -> io::Result<()> {
        let device = &self.stations[host.0 as usize].device;
        for _ in 0..BATCH_PACKETS {
            let packet = match pool.read_with(|buffer| device.read(buffer)) {
                Ok(packet) => packet,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let now = self.clock.now();
            if now < self.end.get()
                && let Ok(ip) = IpPacket::parse(&packet)
                && let IpAddr::V4(destination) = ip.header.destination
            {
                hosts.send(now, host, destination, packet);
            }
        }
        Ok(())
    }
}
