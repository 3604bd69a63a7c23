//! What the log of a run is told of an air: every frame, what happens to packets that have numbers, where hosts are,
//! what waits at them and what they have drawn.
use super::carriage::{Heard, Payload};
use crate::packets::{Label, Labelled, Numbering};
use prismux_plan::{Medium, MediumModel, NodeId, Plan};
use prismux_trace::event::{DropReason, Event, EventSink, PacketSummary, SharedLog};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Air, Frame, HostId, Miss, Position};
use std::borrow::Cow;

/// How often the log is told of hosts, as in the simulator.
const INTERVAL: Duration = Duration::from_millis(250);

/// What has happened on an air, at radios.
#[derive(Debug)]
pub(super) enum Told {
    /// A frame begins.
    Frame(Begun),
    /// A packet with this number waits for the medium from now on.
    Queued(Instant, HostId, u64),
    /// A frame with a packet was lost at the neighbour that it was for, or not answered: who sent it, and to whom.
    Missed(Instant, [HostId; 2], &'static str, u64),
    /// A packet with a number goes no further.
    Dropped(Instant, HostId, DropReason, Labelled),
}

impl Told {
    /// A packet waits, if the log knows it.
    pub fn queued(at: Instant, radio: HostId, label: Label) -> Option<Self> {
        Some(Self::Queued(at, radio, label.number?))
    }

    /// A frame was lost, if the log knows the packet.
    pub fn missed(at: Instant, ends: [HostId; 2], miss: Miss, label: Label) -> Option<Self> {
        Some(Self::Missed(at, ends, miss.name(), label.number?))
    }

    /// A packet is lost, if the log knows it.
    pub fn dropped(at: Instant, radio: HostId, reason: DropReason, packet: &impl Payload) -> Option<Self> {
        let packet = packet.labelled();
        packet.label.number?;
        Some(Self::Dropped(at, radio, reason, packet.clone()))
    }
}

/// A frame that begins, between radios.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub at: Instant,
    from: HostId,
    to: Option<HostId>,
    kind: &'static str,
    airtime: Duration,
    /// Of the packet in it.
    flow: Option<usize>,
    /// Of that packet, or of the one that the frame announces.
    number: Option<u64>,
}

impl Begun {
    /// A frame with a packet of this label, or one that announces it.
    pub fn new<P>(at: Instant, frame: &Frame<P>, label: Label) -> Self {
        let &Frame { from, to, airtime, .. } = frame;
        let flow = label.flow.filter(|_| frame.payload.is_some());
        Self { at, from, to, kind: frame.name(), airtime, flow, number: label.number }
    }
}

impl Begun {
    /// A packet of this label in a slot.
    pub fn in_slot(at: Instant, [from, to]: [HostId; 2], airtime: Duration, label: Label) -> Self {
        let Label { flow, number, .. } = label;
        Self { at, from, to: Some(to), kind: "data", airtime, flow, number }
    }
}

/// What the log is told of a host.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostLook {
    pub at: Position,
    /// Packets that wait for the medium.
    pub waiting: u64,
    pub drawn_uj: u64,
    /// Left in its battery, if it has one.
    pub battery_uj: Option<u64>,
}

impl HostLook {
    /// Of a host with these radios on an air.
    pub fn on<P: Copy>(air: &mut Air<P>, now: Instant, radios: &[HostId]) -> Self {
        let waits = |radio: &HostId| air.waiting_packets(*radio) + air.unresolved_packets(*radio);
        let waiting = radios.iter().map(waits).sum::<usize>() as u64;
        let mut stats = air.stats(now, radios[0]);
        radios[1..].iter().for_each(|radio| stats += air.stats(now, *radio));
        let battery_uj = stats.battery_nj.map(|left_nj| left_nj / 1000);
        Self { at: air.position(now, radios[0]), waiting, drawn_uj: stats.drawn_nj / 1000, battery_uj }
    }
}

/// Tells the log.
pub(super) struct Teller {
    log: SharedLog,
    medium: String,
    hosts: Vec<Known>,
    /// By radio: the place of its host.
    owners: Vec<usize>,
    numbering: Numbering,
    next: Instant,
}

/// A host, and what was told of it last.
struct Known {
    name: String,
    /// Its place among the nodes of the plan.
    node: usize,
    radios: Vec<HostId>,
    place_m: Option<[f64; 2]>,
    waiting: u64,
}

impl Teller {
    /// Of a medium, for a log that knows packets by their numbers.
    pub fn new(log: SharedLog, numbering: Numbering, plan: &Plan, medium: &Medium) -> Self {
        let radio = match &medium.model {
            MediumModel::Radio(radio) => Some(radio),
            _ => None,
        };
        let radios_of = |place: usize| match radio {
            Some(radio) => radio.radios_of(place).collect(),
            None => vec![HostId(place as u32)],
        };
        let known = |(place, node): (usize, &NodeId)| Known {
            name: plan[*node].name.clone(),
            node: node.index(),
            radios: radios_of(place),
            place_m: None,
            waiting: 0,
        };
        let further = radio.iter().flat_map(|radio| &radio.further_radios).map(|further| further.host);
        Self {
            log,
            medium: medium.name.clone(),
            owners: (0..medium.attached.len()).chain(further).collect(),
            hosts: medium.attached.iter().enumerate().map(known).collect(),
            numbering,
            next: Instant::ZERO,
        }
    }

    /// When hosts are to be told of next.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Tells of all hosts what has changed since the last time; of energy, which changes all the time, every second.
    pub fn tell_hosts(
        &mut self,
        now: Instant,
        mut look: impl FnMut(Instant, &[HostId]) -> HostLook,
        counts_energy: bool,
    ) {
        let tells_energy = counts_energy && self.next.as_nanos().is_multiple_of(1_000_000_000);
        self.next = self.next.max(now) + INTERVAL;
        // Of seconds whole multiples, however late this is.
        self.next = Instant::from_nanos(self.next.as_nanos() / INTERVAL.as_nanos() * INTERVAL.as_nanos());
        for host in &mut self.hosts {
            let node = || Cow::from(host.name.as_str());
            let HostLook { at, waiting, drawn_uj, battery_uj } = look(now, &host.radios);
            let place_m = Some([at.x_m, at.y_m]);
            if place_m != host.place_m {
                self.log.event(now, &Event::HostMoved { node: node(), x_m: at.x_m, y_m: at.y_m });
            }
            if waiting != host.waiting || tells_energy {
                let drawn_uj = tells_energy.then_some(drawn_uj);
                let battery_uj = battery_uj.filter(|_| tells_energy);
                let state = Event::HostState { node: node(), waiting_packets: waiting, drawn_uj, battery_uj };
                self.log.event(now, &state);
            }
            (host.place_m, host.waiting) = (place_m, waiting);
        }
    }

    /// A host's kernel hands a packet to the air: what it is from now on.
    pub fn tell_handed(&mut self, at: Instant, host: HostId, packet: &[u8]) -> Label {
        let Some(Known { name, node, .. }) = self.hosts.get(host.0 as usize) else { return Label::default() };
        let (label, sets_out) = self.numbering.leaves(at, *node, packet);
        if sets_out {
            let summary = self.numbering.flows().summary(packet);
            let packet = PacketSummary { number: label.number, ..summary };
            self.log.event(at, &Event::PacketOriginated { node: name.into(), packet });
        }
        label
    }

    /// A host's kernel is about to have a packet.
    pub fn tell_arrived(&mut self, at: Instant, host: HostId, packet: &Labelled) {
        let Some(Known { name, node, .. }) = self.hosts.get(host.0 as usize) else { return };
        let Labelled { packet, label } = packet;
        let (true, Some(number)) = (self.numbering.enters(at, *node, *label, packet), label.number) else {
            return;
        };
        let event = match label.damaged {
            false => Event::PacketArrived { node: name.into(), number },
            true => Event::PacketDropped {
                at: name.into(),
                from: None,
                reason: DropReason::Corrupted,
                packet: PacketSummary { number: Some(number), ..self.numbering.flows().summary(packet) },
            },
        };
        self.log.event(at, &event);
    }

    /// A host's kernel has handed a packet to its routing daemon, in which it is until that sends it.
    pub fn tell_taken(&mut self, at: Instant, host: HostId, packet: &[u8]) {
        let label = self.tell_handed(at, host, packet);
        self.keep_inside(at, host, label, packet);
    }

    /// A host's routing daemon is about to hear something.
    pub fn tell_heard(&mut self, at: Instant, host: HostId, heard: &Heard<Labelled>) {
        match heard {
            Heard::Received(_, packet) => self.tell_arrived(at, host, packet),
            // The daemon has it again.
            Heard::NotDelivered(_, packet) | Heard::TakenBack(_, packet) => {
                self.keep_inside(at, host, packet.label, &packet.packet);
            }
            Heard::Overheard(..) => {}
        }
    }

    fn keep_inside(&mut self, at: Instant, host: HostId, label: Label, packet: &[u8]) {
        if let Some(known) = self.hosts.get(host.0 as usize) {
            self.numbering.enters(at, known.node, label, packet);
        }
    }

    /// Tells of what has happened on the air.
    pub fn tell(&mut self, told: &Told) {
        let Self { hosts, owners, numbering, .. } = self;
        let name = |radio: HostId| {
            let owner = owners.get(radio.0 as usize)?;
            Some(Cow::from(hosts.get(*owner)?.name.as_str()))
        };
        let medium = || Cow::from(self.medium.as_str());
        let (at, event) = match told {
            Told::Frame(Begun { at, from, to, kind, airtime, flow, number }) => {
                let Some(from) = name(*from) else { return };
                let event = Event::FrameSent {
                    medium: medium(),
                    from,
                    to: to.and_then(name),
                    kind: (*kind).into(),
                    airtime_ns: airtime.as_nanos(),
                    flow: flow.and_then(|flow| numbering.flows().name(flow)).map(Cow::from),
                    number: *number,
                };
                (at, event)
            }
            Told::Queued(at, radio, number) => {
                let Some(node) = name(*radio) else { return };
                (at, Event::PacketQueued { node, number: *number })
            }
            Told::Missed(at, ends, cause, number) => {
                let [Some(from), Some(to)] = ends.map(name) else { return };
                let (medium, cause) = (medium(), (*cause).into());
                (at, Event::FrameLost { medium, from, to, cause, number: *number })
            }
            Told::Dropped(at, radio, reason, Labelled { packet, label }) => {
                let Some(node) = name(*radio) else { return };
                let summary = numbering.flows().summary(packet);
                let packet = PacketSummary { number: label.number, ..summary };
                (at, Event::PacketDropped { at: node, from: None, reason: *reason, packet })
            }
        };
        self.log.event(*at, &event);
    }
}
