//! A station: a host on the air that belongs to one base station at a time.
use crate::{Association, AssociationConfig};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Who stays shorter than this and goes back to where it came from makes a ping-pong (3GPP TR 36.839, 5.4).
const LEAST_STAY: Duration = Duration::from_secs(1);

/// Where a station is attached. Base stations are known by their places in a list, one with several radios by as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    /// To a base station or, with `None`, to no one.
    To(Option<usize>),
    /// It has left the first and will be attached to the second.
    Changing(Option<usize>, Option<usize>),
}

/// What becomes of a packet of a station's host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outwards<P> {
    /// It goes to this base station by air.
    Air(usize, P),
    /// It goes by the link for places without a base station.
    Fallback(P),
    /// It waits until the change is over.
    Held,
    /// It is lost for want of a link.
    NoLink(P),
    /// It is lost: too many wait already.
    QueueFull(P),
    /// The base station has not heard it, however often.
    GivenUp(P),
}

/// A change that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled<P> {
    /// What the station belonged to.
    pub from: Option<usize>,
    /// What it belongs to now.
    pub to: Option<usize>,
    /// Packets of the host from while it changed, to be sent now, in order.
    pub held: VecDeque<P>,
}

/// A host that belongs to one base station at a time, and its packets while it changes.
#[derive(Debug, Clone)]
pub struct Station<P> {
    interval: Duration,
    gap: Duration,
    association: Association,
    measures_at: Instant,
    attachment: Attachment,
    /// Since when it is attached, or until when it changes.
    at: Instant,
    /// What it was attached to before, once it has been to anything else.
    before: Option<Option<usize>>,
    held: VecDeque<P>,
    /// How many of them, in front, the radio has given back since it left.
    given_back: usize,
    queue_packets: usize,
    has_fallback: bool,
    /// Where its base station is heard by less than this above what suffices, in decibels, it goes over others.
    relays_below_db: Option<f64>,
    hysteresis_db: f64,
    is_weak: bool,
    counts: Counts,
}

/// What a station has counted.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    handoffs: u64,
    ping_pongs: u64,
    coverage_losses: u64,
    held: u64,
    without_link: u64,
    queue_drops: u64,
}

impl<P> Station<P> {
    /// With none of the base stations; frames of each are received from `thresholds_w` on. While it changes, up to
    /// `queue_packets` wait; with a fallback it has another link where it hears no base station.
    pub fn new(
        config: AssociationConfig,
        thresholds_w: Vec<f64>,
        queue_packets: usize,
        has_fallback: bool,
    ) -> Self {
        Self {
            interval: config.interval,
            gap: config.gap,
            association: Association::new(config, thresholds_w),
            measures_at: Instant::ZERO,
            attachment: Attachment::To(None),
            at: Instant::ZERO,
            before: None,
            held: VecDeque::new(),
            given_back: 0,
            queue_packets,
            has_fallback,
            relays_below_db: None,
            hysteresis_db: config.hysteresis_db,
            is_weak: false,
            counts: Counts::default(),
        }
    }

    /// The same that goes over others where its base station is heard by less than `level_db` above what suffices,
    /// until it is heard better than that by the hysteresis.
    pub fn relaying_below(self, level_db: Option<f64>) -> Self {
        Self { relays_below_db: level_db, ..self }
    }

    /// Where it is attached.
    pub const fn attachment(&self) -> Attachment {
        self.attachment
    }

    /// The base station that it has left, while it changes.
    pub const fn leaves(&self) -> Option<usize> {
        match self.attachment {
            Attachment::Changing(from, _) => from,
            Attachment::To(_) => None,
        }
    }

    /// The base station that it belongs to, or changes to.
    pub const fn heads_for(&self) -> Option<usize> {
        match self.attachment {
            Attachment::To(base) | Attachment::Changing(_, base) => base,
        }
    }

    /// Whether it has another link where it hears no base station.
    pub const fn has_fallback(&self) -> bool {
        self.has_fallback
    }

    /// Whether it goes over another station if it can: it hears no base station and has no other link, or hears its
    /// own too weakly.
    pub fn seeks_gateway(&self) -> bool {
        match self.attachment {
            Attachment::To(None) => !self.has_fallback,
            Attachment::To(Some(_)) => self.is_weak,
            Attachment::Changing(..) => false,
        }
    }

    /// The base station that it belongs to.
    pub const fn belongs_to(&self) -> Option<usize> {
        match self.attachment {
            Attachment::To(base) => base,
            Attachment::Changing(..) => None,
        }
    }

    /// The base station that others reach over it: one that it hears well enough itself.
    pub fn serves(&self) -> Option<usize> {
        self.belongs_to().filter(|_| !self.is_weak)
    }

    /// Whether its base station is too weak, as it is heard now.
    fn note_strength(&mut self) {
        if let (Some(below_db), Some(level_db)) = (self.relays_below_db, self.association.level_db()) {
            let limit_db = if self.is_weak { below_db + self.hysteresis_db } else { below_db };
            self.is_weak = level_db < limit_db;
        }
    }

    /// When it measures next.
    pub const fn measures_at(&self) -> Instant {
        self.measures_at
    }

    /// When the change will be over, if there is one.
    pub const fn settles_at(&self) -> Option<Instant> {
        match self.attachment {
            Attachment::Changing(..) => Some(self.at),
            Attachment::To(_) => None,
        }
    }

    /// Takes in the power of every base station at `now`, in watts; while it changes its radio is busy with that.
    /// `hosts` says how many stations head for each ([`Station::heads_for`]), or nothing: of equals the fewest count.
    /// Says whether it leaves where it is attached, which it calls `Changing` from now on: its radio is to hear no
    /// channel, and packets that wait for the base station are to be taken back ([`Station::take_back`]).
    pub fn measure(&mut self, now: Instant, powers_w: impl FnOnce() -> Vec<f64>, hosts: &[usize]) -> bool {
        self.measures_at = now + self.interval;
        let Attachment::To(present) = self.attachment else { return false };
        if !self.association.measure(now, powers_w().into_iter(), hosts) {
            self.note_strength();
            return false;
        }
        let next = self.association.serving();
        self.counts.handoffs += u64::from(present.is_some() && next.is_some());
        self.counts.coverage_losses += u64::from(next.is_none());
        self.counts.ping_pongs += u64::from(self.before == Some(next) && now - self.at < LEAST_STAY);
        // Who has just been switched on has nothing to leave.
        self.at = if now == Instant::ZERO { now } else { now + self.gap };
        self.attachment = Attachment::Changing(present, next);
        (self.before, self.given_back) = (Some(present), 0);
        true
    }

    /// Packets that waited for the base station that it has left.
    pub fn take_back(&mut self, packets: impl IntoIterator<Item = P>) {
        self.held.extend(packets);
    }

    /// Ends the change that is over by `now`.
    pub fn settle(&mut self, now: Instant) -> Option<Settled<P>> {
        match self.attachment {
            Attachment::Changing(from, to) if self.at <= now => {
                (self.attachment, self.at, self.is_weak) = (Attachment::To(to), now, false);
                self.note_strength();
                Some(Settled { from, to, held: core::mem::take(&mut self.held) })
            }
            _ => None,
        }
    }

    /// The host has a packet.
    pub fn send(&mut self, packet: P) -> Outwards<P> {
        match self.attachment {
            Attachment::To(Some(base)) => Outwards::Air(base, packet),
            Attachment::To(None) if self.has_fallback => Outwards::Fallback(packet),
            Attachment::To(None) => {
                self.counts.without_link += 1;
                Outwards::NoLink(packet)
            }
            Attachment::Changing(..) if self.held.len() < self.queue_packets => {
                self.counts.held += 1;
                self.held.push_back(packet);
                Outwards::Held
            }
            Attachment::Changing(..) => {
                self.counts.queue_drops += 1;
                Outwards::QueueFull(packet)
            }
        }
    }

    /// The radio gives back a packet that `base` has not heard, or that began too late.
    pub fn give_back(&mut self, base: usize, packet: P) -> Outwards<P> {
        match self.attachment {
            Attachment::To(Some(present)) if present == base => Outwards::GivenUp(packet),
            Attachment::To(_) => self.send(packet),
            // It was to go before all that is held.
            Attachment::Changing(..) => {
                self.held.insert(self.given_back, packet);
                self.given_back += 1;
                Outwards::Held
            }
        }
    }

    /// The radio's queue had no room for a packet.
    pub fn count_queue_drop(&mut self) {
        self.counts.queue_drops += 1;
    }

    /// Packets that wait for the end of a change.
    pub fn held_packets(&self) -> usize {
        self.held.len()
    }

    /// What it has counted, by name.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        let Counts { handoffs, ping_pongs, coverage_losses, held, without_link, queue_drops } = self.counts;
        alloc::vec![
            ("handoffs", handoffs),
            ("ping_pongs", ping_pongs),
            ("coverage_losses", coverage_losses),
            ("packets_held", held),
            ("packets_without_link", without_link),
            ("interface_queue_drops", queue_drops),
        ]
    }
}
