//! One host's distributed coordination function (IEEE 802.11-1999, clause 9.2).
//!
//! Inputs: signals that begin and end, packets to send, the time. Outputs: frames to send, and events. The machine
//! learns at once until when a signal lasts, so that it waits for nothing that it can work out: it has one deadline.
mod aggregate;
mod point;
mod power;
mod rate;
mod receive;
mod role;
mod send;
mod slot;
mod tune;

use power::DrawnBefore;
pub(crate) use power::battery_due;

use super::arf::Arf;
use super::block::Block;
use super::config::Mac;
use super::contention::Contention;
use super::ear::{Ear, Loss, Signal};
use super::exchange::{Answer, Current, Duplicates, Waiting};
use super::interference::Interference;
use super::point::{Coordinator, Point};
use super::queue::InterfaceQueue;
use super::slots::OwnSlots;
use crate::HostId;
use crate::energy::Battery;
use crate::error_rate::ErrorCurves;
use crate::event::Miss;
use crate::mac::{Frame, FrameKind};
use crate::stats::HostStats;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// What becomes of frames that overlap.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    /// One this much stronger than those that begin later is received.
    Capture(f64),
    /// Bits are wrong by chance.
    ErrorCurves(ErrorCurves),
}

/// The machine of one host.
///
/// A signal reaches many hosts at once and changes little at each. What it changes comes first, in whole lines of the
/// processor's cache: the machines of a hundred hosts do not fit there.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Dcf<P> {
    ear: Ear,
    /// Others have reserved the medium until here (network allocation vector).
    nav_until: Instant,
    contention: Contention,
    waiting: Waiting,
    /// Having sent a CTS, the host expects data until here.
    expecting_until: Instant,
    /// Contention-free periods, where there are any.
    point: Option<Box<Point<P>>>,
    host: HostId,
    pub listens_to_all: bool,
    /// Whether it keeps to a timetable.
    in_slots: bool,
    /// The battery is empty.
    is_off: bool,
    /// With the counters of what becomes of signals first.
    stats: HostStats,
    answer: Option<(Instant, Answer)>,
    current: Option<Current<P>>,
    sequence: u16,
    /// Packets that go together, the current one among them.
    block: Block<P>,
    /// The sender of the aggregate that is being received, and when the part of it ends that is on the air.
    following: Option<(HostId, Instant)>,
    queue: InterfaceQueue<P>,
    own_slots: OwnSlots,
    duplicates: Duplicates,
    /// The rate towards each neighbour, where it follows the losses.
    rates: BTreeMap<HostId, Arf>,
    interference: Interference,
    random: RandomStream,
    /// Time for sleep in which the host sent or heard something.
    active_asleep: Duration,
    battery: Option<Battery>,
    drawn_before: Option<Box<DrawnBefore>>,
}

impl<P: Copy> Dcf<P> {
    pub fn new(host: HostId, mac: &Mac, random: RandomStream) -> Self {
        Self {
            ear: Ear::new(),
            nav_until: Instant::ZERO,
            contention: Contention::new(mac),
            waiting: Waiting::Nothing,
            answer: None,
            expecting_until: Instant::ZERO,
            host,
            listens_to_all: false,
            sequence: 0,
            current: None,
            block: Block::new(),
            following: None,
            queue: InterfaceQueue::new(),
            own_slots: OwnSlots::default(),
            in_slots: false,
            point: None,
            duplicates: Duplicates::default(),
            rates: BTreeMap::new(),
            interference: Interference::default(),
            random,
            stats: HostStats::default(),
            active_asleep: Duration::ZERO,
            battery: None,
            drawn_before: None,
            is_off: false,
        }
    }

    /// When [`Dcf::timeout`] must be called.
    #[inline]
    pub fn due(&self, mac: &Mac) -> Instant {
        let due = match (&self.answer, self.waiting) {
            (Some((at, _)), _) => *at,
            (None, Waiting::Nothing) => self.contention.due(mac.config.slot),
            (None, waiting) => waiting.until(),
        };
        self.point.as_ref().map_or(due, |point| due.min(self.point_due(point, mac)))
    }

    /// Packets that the host still tries to send.
    pub fn waiting_packets(&self) -> usize {
        let coordinator = self.point.as_ref().and_then(|point| point.coordinator.as_ref());
        let pending = coordinator.map_or(0, Coordinator::pending_packets);
        self.queue.len() + usize::from(self.current.is_some()).max(self.block.len()) + pending
    }

    /// A word of each part that a signal changes.
    #[inline]
    pub fn glance(&self) -> u64 {
        self.ear.energy_until.as_nanos() ^ self.expecting_until.as_nanos() ^ self.stats.signals
    }

    // The medium.

    /// ns-2: the NAV that a damaged reception leaves behind, unless the host was sending when it ended.
    fn nav_of_damage(&self, mac: &Mac) -> Instant {
        match mac.is_ns2() && self.ear.damaged && !self.ear.was_deaf_at_the_end() {
            true => self.ear.reception_ends() + mac.eifs,
            false => Instant::ZERO,
        }
    }

    /// From when on the medium is idle, as far as the host knows.
    #[inline]
    fn idle_from(&self, mac: &Mac) -> Instant {
        let busy = self.ear.energy_until.max(self.ear.sending_until).max(self.nav_until);
        match mac.is_ns2() {
            true => busy.max(self.nav_of_damage(mac)).max(self.expecting_until),
            false => busy,
        }
    }

    /// From when on slots pass.
    #[inline]
    fn ready_from(&self, mac: &Mac) -> Instant {
        let space = if self.ear.damaged && !mac.is_ns2() { mac.eifs } else { mac.difs };
        self.idle_from(mac) + space
    }

    /// From when on the slots pass of a back-off that is drawn now.
    fn slots_from(&self, now: Instant, mac: &Mac) -> Instant {
        let known = self.ready_from(mac);
        known.max(if mac.is_ns2() { now + mac.difs } else { now })
    }

    /// Something has changed that may keep the medium busy for longer.
    #[inline(always)] // Most hosts do not contend.
    fn refresh(&mut self, now: Instant, mac: &Mac) {
        if self.contention.is_on() && !self.in_slots {
            let ready = self.ready_from(mac);
            self.contention.extend(now, ready, mac, &mut self.random);
        }
    }

    /// A signal begins.
    #[inline]
    pub fn signal_begins(&mut self, now: Instant, signal: &Signal, mac: &Mac, rule: &Rule) {
        if self.ear.reception_ends() <= now {
            self.nav_until = self.nav_until.max(self.nav_of_damage(mac));
        }
        self.stats.signals += 1;
        if self.is_off() {
            self.stats.lost_without_power += 1;
            return;
        }
        self.stay_awake(now, signal.until, mac);
        let ratio = match rule {
            Rule::Capture(ratio) => *ratio,
            Rule::ErrorCurves(curves) => return self.interfere(now, signal, mac, curves),
        };
        let decodable = signal.decodable && (!signal.continues || self.follows(now, signal.from));
        let (stats, mut overpowered) = (&mut self.stats, false);
        self.ear.signal_begins(now, signal, decodable, ratio, mac.is_ns2(), |loss| {
            overpowered |= loss == Loss::Overpowered;
            *counter(stats, loss) += 1;
        });
        if mac.config.aggregation.is_some() {
            self.follow(now, &Signal { decodable, ..*signal });
        }
        if overpowered && mac.is_ns2() {
            self.nav_until = self.nav_until.max(signal.until + mac.eifs);
        }
        self.refresh(now, mac);
    }

    /// [`Dcf::signal_begins`] of a frame for this host: what the signal was lost to, if that is sure already.
    pub fn watched_signal_begins(
        &mut self,
        now: Instant,
        signal: &Signal,
        mac: &Mac,
        rule: &Rule,
    ) -> Option<Miss> {
        let before = self.stats;
        self.signal_begins(now, signal, mac, rule);
        if self.ear.is_locked_on(signal.frame) {
            return None;
        }
        // A weak signal may take the frame with it that was being received: its own loss is counted as weak.
        let more = |of: fn(&HostStats) -> u64| of(&self.stats) > of(&before);
        Some(match () {
            () if more(|stats| stats.lost_weak) => Miss::Weak,
            () if more(|stats| stats.lost_overpowered) => Miss::Overpowered,
            () if more(|stats| stats.lost_while_sending) => Miss::WhileSending,
            () if more(|stats| stats.lost_without_power) => Miss::WithoutPower,
            () => Miss::Collided,
        })
    }

    /// What a frame for this host, whose signal has just ended, was lost to; `None` where it came. `before` are the
    /// counters before the end.
    pub fn missed(&self, frame: &Frame<P>, before: &HostStats) -> Option<Miss> {
        let more = |of: fn(&HostStats) -> u64| of(&self.stats) > of(before);
        let is_answered = || matches!(self.answer, Some((_, Answer::Cts(to, ..))) if to == frame.from);
        Some(match () {
            () if frame.kind == FrameKind::Rts && more(|stats| stats.frames_received) => {
                return (!is_answered()).then_some(Miss::Refused);
            }
            () if more(|stats| stats.data_refused) => Miss::Refused,
            () if more(|stats| stats.frames_received) => return None,
            () if more(|stats| stats.lost_weak) => Miss::Weak,
            () if more(|stats| stats.lost_collided) => Miss::Collided,
            () => self.ear.broken,
        })
    }

    /// The packet that the host tries to send.
    pub fn current_payload(&self) -> Option<P> {
        self.current.as_ref().map(|current| current.packet.payload)
    }

    /// The counters as they are, without the times.
    pub const fn counters(&self) -> &HostStats {
        &self.stats
    }

    /// A signal ends that was strong enough: whether it has become a frame.
    #[inline]
    pub fn signal_ends(&mut self, now: Instant, frame: u32, mac: &Mac, rule: &Rule) -> bool {
        let mut received = self.ear.signal_ends(frame);
        if let (true, Rule::ErrorCurves(curves)) = (received, rule) {
            received = self.survives(now, mac, curves);
        }
        self.stats.frames_received += u64::from(received);
        received
    }

    /// A signal begins where error curves decide.
    fn interfere(&mut self, now: Instant, signal: &Signal, mac: &Mac, curves: &ErrorCurves) {
        match self.ear.lock_or_lose(now, signal) {
            None => self.interference.lock(now, signal.power_w, signal.rate),
            Some(loss) => {
                *counter(&mut self.stats, loss) += 1;
                self.interference.add(now, signal.until, signal.power_w, curves);
            }
        }
        self.refresh(now, mac);
    }

    /// The frame that was being received ends: whether all its bits are right.
    fn survives(&mut self, now: Instant, mac: &Mac, curves: &ErrorCurves) -> bool {
        let chance = self.interference.success(now, curves);
        if self.random.uniform() < chance {
            return true;
        }
        let loss = if self.interference.overlapped { Loss::Collided } else { Loss::Weak };
        *counter(&mut self.stats, loss) += 1;
        self.ear.damaged = true;
        self.refresh(now, mac);
        false
    }
}

fn counter(stats: &mut HostStats, loss: Loss) -> &mut u64 {
    match loss {
        Loss::Weak => &mut stats.lost_weak,
        Loss::Collided => &mut stats.lost_collided,
        Loss::Overpowered => &mut stats.lost_overpowered,
        Loss::WhileSending => &mut stats.lost_while_sending,
    }
}
