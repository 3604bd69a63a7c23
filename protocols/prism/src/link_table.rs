//! The links of a community as the proxy sees them: weight, packets in flight, NIP and hRTT (section IV).
mod groups;
mod guard;
mod nearness;
mod outstanding;
mod probe_state;
mod reordering;
mod silence;
mod variables;
mod weights;

use crate::config::{LinkConfig, ProxyConfig};
use crate::events::{Events, ProxyEvent};
use crate::ids::LinkId;
use crate::link_model::LinkModel;
use alloc::string::String;
use alloc::vec::Vec;
use groups::Groups;
pub(crate) use groups::{Bounds, GROUP, MODEST_FILL, Part, Rank};
use guard::Guard;
use outstanding::Outstanding;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::SeqNumber;
use probe_state::ProbeState;
pub(crate) use probe_state::{MAX_UNANSWERED, Probe};
use reordering::Reordering;
use silence::{Silence, Unanswered};
pub(crate) use variables::FlowVariables;
pub use variables::LinkVariables;

/// State of one link, shared by all flows but for what [`ProxyConfig::link_state`] gives each its own of.
#[derive(Debug, Clone)]
pub struct Link {
    /// For people.
    pub name: String,
    /// Offered by a member at the moment.
    pub up: bool,
    /// Takes new data (up and not on standby).
    pub usable: bool,
    /// Rate stated at join (B).
    pub advertised_rate: Option<Rate>,
    /// Weight, packets in flight and hRTT.
    pub variables: LinkVariables,
    /// Packets scheduled since it first joined.
    pub scheduled_packets: u64,
    /// Why it is usable or not, for people.
    pub reason: &'static str,
    /// Learned rate, shortest RTT and cap.
    pub model: LinkModel,
    pub(crate) probe: ProbeState,
    /// Measured by the host before the link carried anything.
    round_trip: Option<Duration>,
    near: bool,
    hrtt_ages: bool,
    next_index: u32,
    left_at: Option<Instant>,
    silence: Silence,
    unanswered: Option<Unanswered>,
    reordering: Reordering,
    guard: Guard,
    outstanding: Outstanding,
}

impl Link {
    fn new(now: Instant, config: LinkConfig) -> Self {
        Self {
            name: config.name,
            up: true,
            usable: true,
            advertised_rate: config.advertised_rate,
            variables: LinkVariables::new(now),
            scheduled_packets: 0,
            reason: "carries traffic",
            model: LinkModel::new(config.advertised_rate),
            probe: ProbeState::default(),
            round_trip: None,
            near: true,
            hrtt_ages: true,
            next_index: 0,
            left_at: None,
            silence: Silence::default(),
            unanswered: None,
            reordering: Reordering::default(),
            guard: Guard::default(),
            outstanding: Outstanding::default(),
        }
    }

    /// See [`LinkModel::busy_until`].
    pub(crate) fn busy_until(&self, now: Instant) -> Option<Instant> {
        self.model.busy_until(now, self.variables.in_flight_bytes)
    }

    /// NIP: packets in flight normalised by the weight, rounded down.
    pub fn nip(&self) -> f64 {
        libm::floor(self.load())
    }

    /// N / W, not rounded.
    pub fn load(&self) -> f64 {
        f64::from(self.variables.in_flight_packets) / self.variables.weight
    }

    /// hRTT as the scheduler sees it at `now`: without samples what the host has measured, or 0; halved once per hRTT
    /// when the estimate is older than four of them with nothing in flight, so that a link that once looked slow is
    /// tried again ([`ProxyConfig::rtt_ageing`]).
    pub fn hrtt(&self, now: Instant) -> Duration {
        let LinkVariables { hrtt, in_flight_packets, hrtt_updated, .. } = self.variables;
        let Some(hrtt) = hrtt else { return self.round_trip.unwrap_or(Duration::ZERO) };
        if in_flight_packets > 0 || hrtt.is_zero() || !self.hrtt_ages {
            return hrtt;
        }
        let age = now.saturating_since(hrtt_updated).as_nanos() / hrtt.as_nanos();
        if age <= 4 { hrtt } else { Duration::from_nanos(hrtt.as_nanos() >> (age - 4).min(63)) }
    }

    /// Smoothed round-trip time without ageing; `None` before the first sample.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.variables.smoothed_rtt()
    }

    /// Largest round-trip time of the last few hRTT; `None` before the first sample.
    pub fn recent_max_rtt(&self) -> Option<Duration> {
        self.variables.recent_max_rtt()
    }

    /// The newest round-trip time measured.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.variables.last_rtt
    }

    /// A measured round-trip time.
    pub fn on_rtt(&mut self, now: Instant, sample: Duration, gain: f64) {
        self.variables.on_rtt(now, sample, gain);
    }

    /// When the member left, while its packets may still arrive.
    pub fn left_at(&self) -> Option<Instant> {
        self.left_at
    }

    /// A packet of `bytes` goes out; its position in the order of this link.
    fn on_scheduled(&mut self, now: Instant, bytes: u32) -> u32 {
        self.next_index = self.next_index.wrapping_add(1);
        self.scheduled_packets += 1;
        self.variables.on_scheduled(bytes);
        self.model.on_sent(now, bytes, self.next_index, self.variables.in_flight_bytes);
        self.next_index
    }

    /// The position that the next packet will have in the order of this link.
    pub(crate) fn next_index(&self) -> u32 {
        self.next_index.wrapping_add(1)
    }

    /// Additive increase: one packet of this link is newly covered by an ACK.
    pub(crate) fn grow_weight(&mut self) {
        self.variables.grow_weight();
    }

    /// Multiplicative decrease, once per round trip of this link; says whether it happened.
    pub(crate) fn halve_weight(&mut self, now: Instant, floor: f64) -> bool {
        self.variables.halve_weight(now, floor)
    }
}

/// All links, by number.
#[derive(Debug, Default)]
pub struct LinkTable {
    links: Vec<Option<Link>>,
    /// Numbers of the links that are up, rising.
    up: Vec<LinkId>,
    groups: Groups,
    /// Bytes in flight on the links that are up.
    in_flight_bytes: u64,
    /// Senders have more to send than the links take at the moment.
    pub(crate) backlogged: bool,
    /// What one of the senders that have more to send has under way, in the mean; 0 while there are none.
    pub(crate) share_bytes: u64,
    /// No link is to be probed before.
    pub(crate) probes_from: Instant,
    /// When a receipt should have come over one of them, at the earliest.
    pub(crate) answers_due: Option<Instant>,
    /// For traces.
    pub(crate) events: Events,
}

impl LinkTable {
    /// The link, if it ever joined.
    pub fn get(&self, id: LinkId) -> Option<&Link> {
        self.links.get(usize::from(id.0))?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: LinkId) -> Option<&mut Link> {
        self.groups.touch(id);
        self.links.get_mut(usize::from(id.0))?.as_mut()
    }

    /// A packet of `bytes` goes out over a link, by flow and first sequence number; its position there.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        id: LinkId,
        bytes: u32,
        (flow, seq): (u32, SeqNumber),
    ) -> Option<u32> {
        let link = self.get_mut(id)?;
        let position = link.on_scheduled(now, bytes);
        link.remember(position, flow, seq);
        let answer_due = link.note_unanswered(now, bytes);
        self.in_flight_bytes += if link.up { u64::from(bytes) } else { 0 };
        self.await_answer(answer_due);
        Some(position)
    }

    /// A packet of `bytes` is no longer in flight on a link.
    pub(crate) fn settle(&mut self, id: LinkId, bytes: u32) {
        let Some(link) = self.get_mut(id) else { return };
        let before = link.variables.in_flight_bytes;
        link.variables.on_departed(bytes);
        self.in_flight_bytes -= if link.up { before - link.variables.in_flight_bytes } else { 0 };
    }

    /// Bytes in flight on the links that are up.
    pub(crate) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Links that are up, in order of number.
    pub fn up(&self) -> impl Iterator<Item = (LinkId, &Link)> + Clone {
        self.up.iter().filter_map(|&id| Some((id, self.get(id)?)))
    }

    /// Links that take new data: up and not on standby. All that are up if none is usable.
    pub fn usable(&self) -> impl Iterator<Item = (LinkId, &Link)> + Clone {
        let any = self.up().any(|(_, link)| link.usable);
        self.up().filter(move |(_, link)| link.usable || !any)
    }

    /// Every link that ever joined.
    pub fn iter(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        self.links.iter().enumerate().filter_map(|(i, link)| Some((LinkId(i as u8), link.as_ref()?)))
    }

    /// How many links are up.
    pub fn up_count(&self) -> usize {
        self.up.len()
    }

    /// The number of the `index`-th link that is up.
    pub fn up_id(&self, index: usize) -> Option<LinkId> {
        self.up.get(index).copied()
    }

    #[expect(clippy::indexing_slicing, reason = "the list was made long enough the line before")]
    pub(crate) fn join(&mut self, now: Instant, id: LinkId, config: LinkConfig, settings: &ProxyConfig) {
        let (index, round_trip) = (usize::from(id.0), config.round_trip);
        if self.links.len() <= index {
            self.links.resize_with(index + 1, || None);
        }
        match &mut self.links[index] {
            Some(link) if link.up => {
                link.name = config.name;
                link.advertised_rate = config.advertised_rate;
            }
            Some(link) => {
                // Packet order on the link goes on, so that records of its earlier life stay comparable.
                let (next_index, scheduled) = (link.next_index, link.scheduled_packets);
                *link = Link { next_index, scheduled_packets: scheduled, ..Link::new(now, config) };
            }
            slot => *slot = Some(Link::new(now, config)),
        }
        if let Some(link) = self.get_mut(id) {
            link.hrtt_ages = settings.rtt_ageing;
            if settings.learn_rates {
                link.round_trip = round_trip;
                link.model.learn();
            }
        }
        if let Err(place) = self.up.binary_search(&id) {
            self.up.insert(place, id);
        }
        self.probes_from = Instant::ZERO;
        self.arrange();
        self.share_out(settings);
    }

    /// A packet was given up; `by_age` if nothing else spoke against it.
    pub(crate) fn note_loss(&mut self, now: Instant, id: LinkId, by_age: bool) {
        self.events.note(ProxyEvent::PacketLost { link: id, by_age });
        if by_age {
            self.note_late(now, id);
        }
    }

    /// What the link had should have arrived by now, and nothing speaks against its having been lost.
    pub(crate) fn note_late(&mut self, now: Instant, id: LinkId) {
        if self.get_mut(id).is_some_and(|link| link.up && link.on_overdue(now)) {
            self.events.note(ProxyEvent::LinkSilent { link: id });
        }
    }

    /// Whether the link takes new data, and why.
    pub(crate) fn set_usable(&mut self, id: LinkId, usable: bool, reason: &'static str) {
        let Some(link) = self.get_mut(id) else { return };
        let before = core::mem::replace(&mut link.usable, usable);
        link.reason = reason;
        if before != usable {
            self.probes_from = Instant::ZERO;
        }
        match (before, usable) {
            (true, false) => self.events.note(ProxyEvent::LinkStandby { link: id, reason }),
            (false, true) => self.events.note(ProxyEvent::LinkResumed { link: id }),
            _ => {}
        }
    }

    /// Takes the link out of service; its packets in flight stay accounted for.
    pub(crate) fn leave(&mut self, now: Instant, id: LinkId, settings: &ProxyConfig) -> bool {
        let Some(link) = self.get_mut(id).filter(|link| link.up) else { return false };
        (link.up, link.usable, link.left_at) = (false, false, Some(now));
        self.in_flight_bytes -= link.variables.in_flight_bytes;
        self.up.retain(|&other| other != id);
        self.arrange();
        self.share_out(settings);
        true
    }

    /// Puts a flow's variables in the place of those here, which wait there; a second time puts all back.
    pub(crate) fn exchange(&mut self, own: &mut FlowVariables) {
        let variables = self.links.iter_mut().map(|link| link.as_mut().map(|link| &mut link.variables));
        own.exchange(variables, &mut self.in_flight_bytes);
        self.groups.touch_all();
    }

    /// The flow whose variables stand here begins anew and has nothing in flight.
    pub(crate) fn renew_variables(&mut self) {
        self.links.iter_mut().flatten().for_each(|link| link.variables.renew());
        self.in_flight_bytes = 0;
        self.groups.touch_all();
    }

    /// Links have come or gone, `joined` among them: what a flow has of its own follows.
    pub(crate) fn tell(&self, own: &mut FlowVariables, joined: Option<LinkId>, settings: &ProxyConfig) {
        own.follow(self.up().map(|(id, link)| (id, &link.variables)), joined, settings.weight_floor);
    }

    pub(crate) fn forget_departure(&mut self, id: LinkId) {
        if let Some(link) = self.get_mut(id) {
            link.left_at = None;
        }
    }

    /// The link with the least hRTT among those that take data.
    pub fn fastest(&self, now: Instant) -> Option<LinkId> {
        self.groups.fastest(now).filter(|id| self.get(*id).is_some_and(|link| link.usable)).or_else(|| {
            let fastest = self.usable().min_by_key(|(id, link)| (link.hrtt(now), *id)).map(|(id, _)| id);
            self.groups.note_fastest(now, fastest);
            fastest
        })
    }
}

impl Link {
    /// The learned rate, or the advertised one.
    pub fn rate(&self) -> Option<Rate> {
        self.model.rate().or(self.advertised_rate)
    }
}
