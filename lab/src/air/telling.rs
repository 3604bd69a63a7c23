//! What the log of a run is told of an air: every frame, where hosts are, what waits at them and what they have drawn.
use crate::orders::FIRST_PORT;
use prismux_plan::{Plan, Radio};
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Air, Frame, HostId};
use std::borrow::Cow;

/// How often the log is told of hosts, as in the simulator.
const INTERVAL: Duration = Duration::from_millis(250);

/// A frame that begins, between radios.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub at: Instant,
    from: HostId,
    to: Option<HostId>,
    kind: &'static str,
    airtime: Duration,
    /// Of the packet of a flow in it.
    ports: Option<[u16; 2]>,
}

impl Begun {
    /// `ports` are those of the packet in the frame.
    pub fn new<P>(at: Instant, frame: &Frame<P>, ports: Option<[u16; 2]>) -> Self {
        let &Frame { from, to, airtime, .. } = frame;
        Self { at, from, to, kind: frame.name(), airtime, ports }
    }
}

/// Tells the log.
pub(super) struct Teller {
    log: SharedLog,
    medium: String,
    hosts: Vec<Told>,
    /// By radio: the place of its host.
    owners: Vec<usize>,
    /// In the order of their ports.
    flows: Vec<String>,
    next: Instant,
}

/// A host, and what was told of it last.
struct Told {
    name: String,
    radios: Vec<HostId>,
    place_m: Option<[f64; 2]>,
    waiting: u64,
}

impl Teller {
    /// Of the air called `medium`, whose hosts have these names.
    pub fn new(log: SharedLog, plan: &Plan, medium: &str, radio: &Radio, names: Vec<String>) -> Self {
        let told = |(place, name): (usize, String)| Told {
            name,
            radios: radio.radios_of(place).collect(),
            place_m: None,
            waiting: 0,
        };
        let further = radio.further_radios.iter().map(|further| further.host);
        Self {
            log,
            medium: medium.to_owned(),
            owners: (0..names.len()).chain(further).collect(),
            hosts: names.into_iter().enumerate().map(told).collect(),
            flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
            next: Instant::ZERO,
        }
    }

    /// When hosts are to be told of next.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Tells of all hosts what has changed since the last time; of energy, which changes all the time, every second.
    pub fn tell_hosts<P: Copy>(&mut self, now: Instant, air: &mut Air<P>, counts_energy: bool) {
        let tells_energy = counts_energy && self.next.as_nanos().is_multiple_of(1_000_000_000);
        self.next = self.next.max(now) + INTERVAL;
        // Of seconds whole multiples, however late this is.
        self.next = Instant::from_nanos(self.next.as_nanos() / INTERVAL.as_nanos() * INTERVAL.as_nanos());
        for host in &mut self.hosts {
            let node = || Cow::from(host.name.as_str());
            let place = air.position(now, host.radios[0]);
            let place_m = Some([place.x_m, place.y_m]);
            if place_m != host.place_m {
                self.log.event(now, &Event::HostMoved { node: node(), x_m: place.x_m, y_m: place.y_m });
            }
            let waits = |radio: &HostId| air.waiting_packets(*radio) + air.unresolved_packets(*radio);
            let waiting = host.radios.iter().map(waits).sum::<usize>() as u64;
            if waiting != host.waiting || tells_energy {
                let mut stats = air.stats(now, host.radios[0]);
                host.radios[1..].iter().for_each(|radio| stats += air.stats(now, *radio));
                let drawn_uj = tells_energy.then_some(stats.drawn_nj / 1000);
                let battery_uj = stats.battery_nj.filter(|_| tells_energy).map(|left_nj| left_nj / 1000);
                let state = Event::HostState { node: node(), waiting_packets: waiting, drawn_uj, battery_uj };
                self.log.event(now, &state);
            }
            (host.place_m, host.waiting) = (place_m, waiting);
        }
    }

    /// Tells of a frame.
    pub fn tell_frame(&mut self, frame: &Begun) {
        let &Begun { at, from, to, kind, airtime, ports } = frame;
        let Self { hosts, owners, flows, .. } = self;
        let name = |radio: HostId| {
            let owner = owners.get(radio.0 as usize)?;
            Some(Cow::from(hosts.get(*owner)?.name.as_str()))
        };
        let of_port = |port: &u16| flows.get(usize::from(port.checked_sub(FIRST_PORT)?));
        let flow = ports.and_then(|ports| ports.iter().find_map(of_port)).map(|flow| flow.as_str().into());
        let Some(from) = name(from) else { return };
        let event = Event::FrameSent {
            medium: self.medium.as_str().into(),
            from,
            to: to.and_then(name),
            kind: kind.into(),
            airtime_ns: airtime.as_nanos(),
            flow,
            number: None,
        };
        self.log.event(at, &event);
    }
}
