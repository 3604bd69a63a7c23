//! Which piece a member takes from whom.
//!
//! An [`Endpoint`]: what was heard, what came and what failed are mutations, [`PlanEvent`]s say what to ask for. The
//! rules:
//!
//! * **From the origin** what no neighbour has or takes there, in the file's order from a place of the member's own,
//!   so that members that start together begin at different places; from where another has been, somewhere in the
//!   longest run of pieces that nobody has or takes. As many at a time as take half a second, at first one, until
//!   neighbours have had time to say what they take.
//! * **From neighbours** everything else, of those that have it from the one that is asked for least.
//! * A piece is asked of one source at a time. What a neighbour owes for too long is asked elsewhere, and the
//!   neighbour rests, longer each time; one that owes again and again, or gives a wrong piece, is left for good.
//! * A claim counts for a while only, once for each piece and neighbour; who does not keep three is not believed
//!   again.
//! * When nothing else is left to take from the origin, a member with room takes what others have taken there for
//!   longer than twice its own time for a piece; and what it takes there itself and a neighbour has meanwhile it takes
//!   from the neighbour.
//!
//! `choice`: these rules. `neighbour`: what is known of one. `event`: what a plan is told and tells.
mod choice;
mod event;
mod neighbour;

pub use event::{NeighbourId, PlanConfig, PlanCounters, PlanEvent, PlanInput, Reason, Source};

use super::piece_set::PieceSet;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::convert::Infallible;
use neighbour::Neighbour;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// Decides from whom to take what; see the module's description.
#[derive(Debug)]
pub struct Plan {
    config: PlanConfig,
    held: PieceSet,
    /// What is asked for, of whom and since when.
    asked: BTreeMap<u32, (Source, Instant)>,
    began_at: Instant,
    /// A number of this member alone.
    draw: u64,
    /// The piece that comes next from the origin, if nobody has or takes it.
    next: u32,
    neighbours: BTreeMap<NeighbourId, Neighbour>,
    /// How many failures in a row the origin has had, and until when it rests.
    origin_failures: u32,
    origin_rests_until: Instant,
    /// How long a piece takes from the origin from when it is asked for, smoothed.
    origin_time: Option<Duration>,
    /// And from when the one before has come, and when that was.
    origin_interval: Option<Duration>,
    origin_came_at: Instant,
    /// When it was last looked what could be asked for.
    looked_at: Instant,
    events: VecDeque<PlanEvent>,
    is_complete: bool,
    counters: PlanCounters,
}

impl Plan {
    /// A plan for `count` pieces, of which nothing is here. `draw` decides where the member begins.
    pub fn new(now: Instant, count: u32, draw: u64, config: PlanConfig) -> Self {
        Self {
            config,
            held: PieceSet::none(count),
            asked: BTreeMap::new(),
            began_at: now,
            draw,
            next: (draw % u64::from(count.max(1))) as u32,
            neighbours: BTreeMap::new(),
            origin_failures: 0,
            origin_rests_until: now,
            origin_time: None,
            origin_interval: None,
            origin_came_at: now,
            looked_at: now,
            events: VecDeque::new(),
            is_complete: false,
            counters: PlanCounters::default(),
        }
    }

    /// What is here.
    pub const fn held(&self) -> &PieceSet {
        &self.held
    }

    /// What is being taken from the origin, ascending.
    pub fn claims(&self) -> Vec<u32> {
        self.asked_of(Source::Origin).map(|(piece, _)| piece).collect()
    }

    /// What has happened so far.
    pub const fn counters(&self) -> PlanCounters {
        self.counters
    }

    /// Neighbours that are heard, and not left for good.
    pub fn neighbours(&self) -> impl Iterator<Item = NeighbourId> + '_ {
        self.neighbours.iter().filter(|(_, neighbour)| neighbour.is_live()).map(|(id, _)| *id)
    }

    /// Whether a neighbour is heard that has not everything yet.
    pub fn is_needed(&self) -> bool {
        self.neighbours.values().any(|neighbour| neighbour.is_live() && !neighbour.held.is_whole())
    }

    fn asked_of(&self, wanted: Source) -> impl Iterator<Item = (u32, Instant)> + '_ {
        self.asked
            .iter()
            .filter(move |(_, (from, _))| *from == wanted)
            .map(|(piece, (_, since))| (*piece, *since))
    }

    /// Since when `piece` is asked of `from`.
    fn asked_since(&self, from: Source, piece: u32) -> Option<Instant> {
        self.asked.get(&piece).filter(|(asked, _)| *asked == from).map(|(_, since)| *since)
    }

    fn ask(&mut self, now: Instant, from: Source, piece: u32) {
        self.asked.insert(piece, (from, now));
        self.events.push_back(PlanEvent::Ask { from, piece });
    }

    fn withdraw(&mut self, from: Source, piece: u32) {
        self.asked.remove(&piece);
        self.events.push_back(PlanEvent::Withdraw { from, piece });
    }

    fn hear(&mut self, now: Instant, from: NeighbourId, held: &PieceSet, claims: &[u32]) {
        let known = self.neighbours.get(&from);
        if held.count() != self.held.count() || known.is_some_and(Neighbour::is_left_for_good) {
            self.counters.ignored += 1;
            return;
        }
        let count = self.held.count();
        self.neighbours.entry(from).or_insert_with(|| Neighbour::new(count)).hear(now, held, claims);
    }

    fn arrived(&mut self, now: Instant, from: Source, piece: u32, is_right: bool) {
        let Some(since) = self.asked_since(from, piece) else {
            self.counters.unasked += 1;
            return;
        };
        self.asked.remove(&piece);
        if is_right {
            self.held.insert(piece);
        } else {
            self.counters.wrong += 1;
        }
        match (from, is_right) {
            (Source::Origin, true) => {
                let smoothed = |mean: Option<Duration>, last: Duration| {
                    Some(mean.map_or(last, |mean| (mean * 3 + last) / 4))
                };
                self.origin_time = smoothed(self.origin_time, now.saturating_since(since));
                let before = self.origin_came_at.max(since);
                self.origin_interval = smoothed(self.origin_interval, now.saturating_since(before));
                self.origin_came_at = now;
                self.origin_failures = 0;
                self.counters.from_origin += 1;
            }
            (Source::Neighbour(id), true) => {
                if let Some(neighbour) = self.neighbours.get_mut(&id) {
                    neighbour.failures = 0;
                }
                self.counters.from_neighbours += 1;
            }
            (Source::Origin, false) => self.rest_origin(now),
            (Source::Neighbour(id), false) => self.leave(id, Reason::Lied),
        }
    }

    fn failed(&mut self, now: Instant, from: Source, piece: u32) {
        if self.asked_since(from, piece).is_none() {
            self.counters.unasked += 1;
            return;
        }
        self.counters.failed += 1;
        self.asked.remove(&piece);
        match from {
            Source::Origin => self.rest_origin(now),
            Source::Neighbour(id) => self.rest(now, id),
        }
    }

    fn rest_origin(&mut self, now: Instant) {
        self.origin_rests_until = now + self.config.rest * (1 << self.origin_failures.min(4));
        self.origin_failures += 1;
    }

    /// A neighbour has not given what it owed.
    fn rest(&mut self, now: Instant, id: NeighbourId) {
        let Some(neighbour) = self.neighbours.get_mut(&id) else { return };
        if neighbour.fail(now, self.config.rest) {
            self.leave(id, Reason::Owing);
        }
    }

    /// A neighbour is used no more; what it owes is free for others.
    fn leave(&mut self, id: NeighbourId, why: Reason) {
        let Some(neighbour) = self.neighbours.get_mut(&id) else { return };
        neighbour.left = Some(why);
        self.events.push_back(PlanEvent::Left(id, why));
        let owed: Vec<u32> = self.asked_of(Source::Neighbour(id)).map(|(piece, _)| piece).collect();
        for piece in owed {
            self.withdraw(Source::Neighbour(id), piece);
        }
    }

    /// Withdraws what is owed for too long, and leaves who is silent.
    fn look_after(&mut self, now: Instant) {
        let is_overdue = |since: Instant| since + self.config.patience <= now;
        let overdue: Vec<(NeighbourId, u32)> = self
            .asked
            .iter()
            .filter_map(|(piece, (from, since))| match from {
                Source::Neighbour(id) if is_overdue(*since) => Some((*id, *piece)),
                _ => None,
            })
            .collect();
        for (id, piece) in overdue {
            // Leaving a neighbour for the piece before has withdrawn this one too.
            if self.asked_since(Source::Neighbour(id), piece).is_some() {
                self.counters.overdue += 1;
                self.withdraw(Source::Neighbour(id), piece);
                self.rest(now, id);
            }
        }
        let silence = self.config.silence;
        let is_silent = |neighbour: &Neighbour| neighbour.is_live() && neighbour.heard_at + silence <= now;
        let silent: Vec<NeighbourId> =
            self.neighbours.iter().filter(|(_, neighbour)| is_silent(neighbour)).map(|(id, _)| *id).collect();
        for id in silent {
            self.leave(id, Reason::Silent);
        }
        let (patience, held) = (self.config.claim_patience, &self.held);
        for neighbour in self.neighbours.values_mut() {
            neighbour.judge_claims(now, patience, held);
        }
    }

    /// After a mutation: asks for what there is room for.
    fn go_on(&mut self, now: Instant) {
        self.choose(now);
        self.looked_at = now;
        if self.held.is_whole() && !self.is_complete {
            self.is_complete = true;
            self.events.push_back(PlanEvent::Complete);
        }
    }
}

impl Endpoint for Plan {
    type Input<'a> = PlanInput<'a>;
    type Transmit = Infallible;
    type Event = PlanEvent;

    fn handle_input(&mut self, now: Instant, input: PlanInput<'_>) {
        match input {
            PlanInput::Heard { from, held, claims } => self.hear(now, from, held, claims),
            PlanInput::Arrived { from, piece, is_right } => self.arrived(now, from, piece, is_right),
            PlanInput::Failed { from, piece } => self.failed(now, from, piece),
            // Nothing is chosen yet: what else is here is told next.
            PlanInput::AlreadyHere(piece) => {
                if let Some((from, _)) = self.asked.get(&piece).copied() {
                    self.withdraw(from, piece);
                }
                self.held.insert(piece);
                return;
            }
        }
        self.go_on(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.look_after(now);
        self.go_on(now);
    }

    fn poll_transmit(&mut self, _: Instant) -> Option<Infallible> {
        None
    }

    fn poll_event(&mut self) -> Option<PlanEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.next_deadline()
    }
}

#[cfg(test)]
mod tests;
