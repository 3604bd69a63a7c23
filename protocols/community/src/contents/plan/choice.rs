//! Who is asked for which piece next.
use super::{NeighbourId, Plan, Source};
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// What is under way from the origin takes so long.
const AHEAD: Duration = Duration::from_millis(600);
/// Pieces under way from the origin at least, so that the way is never idle.
const LEAST_AHEAD: usize = 2;
/// What others claim is not taken before it has been claimed for this long.
const LEAST_CLAIM_TIME: Duration = Duration::from_secs(1);

impl Plan {
    /// Asks for what there is room for.
    pub(super) fn choose(&mut self, now: Instant) {
        self.choose_from_neighbours(now);
        self.choose_from_origin(now);
    }

    /// All pieces, from the one that comes next on.
    fn in_own_order(&self) -> impl Iterator<Item = u32> + use<> {
        (self.next..self.held.count()).chain(0..self.next)
    }

    fn is_missing(&self, piece: u32) -> bool {
        piece < self.held.count() && !self.held.contains(piece) && !self.asked.contains_key(&piece)
    }

    /// Pieces under way from all neighbours.
    fn under_way_from_neighbours(&self) -> usize {
        self.asked.values().filter(|(from, _)| matches!(from, Source::Neighbour(_))).count()
    }

    fn choose_from_neighbours(&mut self, now: Instant) {
        let mut under_way = self.under_way_from_neighbours();
        for piece in self.in_own_order() {
            if under_way >= self.config.from_neighbours {
                return;
            }
            if self.is_missing(piece)
                && let Some(id) = self.giver(now, piece)
            {
                self.ask(now, Source::Neighbour(id), piece);
                under_way += 1;
            }
        }
    }

    /// Of the neighbours that have `piece` and room, the one that is asked for least.
    fn giver(&self, now: Instant, piece: u32) -> Option<NeighbourId> {
        let can = self.neighbours.iter().filter(|(_, neighbour)| neighbour.may_give(now, piece));
        let asked = can.map(|(id, _)| (self.asked_of(Source::Neighbour(*id)).count(), *id));
        asked.filter(|(asked, _)| *asked < self.config.from_neighbour).min().map(|(_, id)| id)
    }

    /// Whether some neighbour can be asked for `piece`, now or when it has room.
    fn is_near(&self, now: Instant, piece: u32) -> bool {
        self.neighbours.values().any(|neighbour| neighbour.may_give(now, piece))
    }

    /// Since when `piece` is claimed by a neighbour whose claim counts; the longest.
    pub(super) fn claimed_since(&self, now: Instant, piece: u32) -> Option<Instant> {
        let patience = self.config.claim_patience;
        self.neighbours.values().filter_map(|neighbour| neighbour.claims(now, patience, piece)).min()
    }

    fn choose_from_origin(&mut self, now: Instant) {
        if self.origin_rests_until > now {
            return;
        }
        let room = self.room_at_origin(now);
        while let Some(piece) = self.next_from_origin(now) {
            if self.asked_of(Source::Origin).count() >= room {
                return;
            }
            self.next = piece + 1;
            self.ask(now, Source::Origin, piece);
        }
        self.finish_off(now, room);
    }

    /// Pieces that may be under way from the origin.
    fn room_at_origin(&self, now: Instant) -> usize {
        if now < self.began_at + self.config.listen {
            return 1;
        }
        let ahead = self.origin_interval.map_or(0, |interval| AHEAD.as_nanos() / interval.as_nanos().max(1));
        usize::try_from(ahead + 1).unwrap_or(usize::MAX).max(LEAST_AHEAD).min(self.config.from_origin)
    }

    /// Whether `piece` can come from nowhere but the origin, and nobody takes it there.
    fn is_free(&self, now: Instant, piece: u32) -> bool {
        self.is_missing(piece) && !self.is_near(now, piece) && self.claimed_since(now, piece).is_none()
    }

    /// The next piece to be taken from the origin: the one that follows, or one somewhere in the longest run of free
    /// pieces. Where others begin there too, they hardly begin at the same one.
    fn next_from_origin(&self, now: Instant) -> Option<u32> {
        if self.is_free(now, self.next) {
            return Some(self.next);
        }
        let (mut longest, mut run) = (0..0, 0..0);
        for piece in 0..self.held.count() {
            if !self.is_free(now, piece) {
                continue;
            }
            run = if run.end == piece { run.start..piece + 1 } else { piece..piece + 1 };
            if run.len() > longest.len() {
                longest = run.clone();
            }
        }
        let length = u64::from(longest.end - longest.start);
        // In its first half, so that there is something to go on with; who is alone goes through it.
        let within = if self.neighbours().next().is_none() { 0 } else { self.draw >> 32 };
        (length > 0).then(|| longest.start + (within % length.div_ceil(2)) as u32)
    }

    /// Nothing is left that only the origin has: what neighbours have is not waited for from there, and what they are
    /// slow with is taken too.
    fn finish_off(&mut self, now: Instant, room: usize) {
        for piece in self.claims() {
            let has_room = self.under_way_from_neighbours() < self.config.from_neighbours;
            if let (true, Some(id)) = (has_room, self.giver(now, piece)) {
                self.withdraw(Source::Origin, piece);
                self.ask(now, Source::Neighbour(id), piece);
            }
        }
        while self.asked_of(Source::Origin).count() < room
            && let Some((since, piece)) = self.slowest_claim(now)
            && since + self.claim_time() <= now
        {
            self.ask(now, Source::Origin, piece);
        }
    }

    /// A piece that nobody near has and that has been claimed for the longest time.
    fn slowest_claim(&self, now: Instant) -> Option<(Instant, u32)> {
        let open = self.in_own_order().filter(|piece| self.is_missing(*piece) && !self.is_near(now, *piece));
        open.filter_map(|piece| Some((self.claimed_since(now, piece)?, piece))).min()
    }

    /// How long a claim is left alone by who has nothing else to do.
    fn claim_time(&self) -> Duration {
        self.origin_time.map_or(LEAST_CLAIM_TIME, |time| (time * 2).max(LEAST_CLAIM_TIME))
    }

    /// When something is to be looked at next.
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let live = self.neighbours.values().filter(|neighbour| neighbour.is_live());
        let silence =
            live.map(|neighbour| Deadline { at: neighbour.heard_at + self.config.silence, why: "silence" });
        let owed = self.asked.values().filter(|(from, _)| matches!(from, Source::Neighbour(_)));
        let owed = owed.map(|(_, since)| Deadline { at: *since + self.config.patience, why: "owed" });
        // What has been looked at since it came due is not looked at again for that alone.
        let changes = self.changes().filter(|at| *at > self.looked_at && !self.is_complete);
        let changes = changes.map(|at| Deadline { at, why: "choice" });
        silence.chain(owed).chain(changes).min_by_key(|deadline| deadline.at)
    }

    /// When somebody may be asked, or something be taken, who or what may not now.
    fn changes(&self) -> impl Iterator<Item = Instant> + '_ {
        let (looked_at, patience, time) = (self.looked_at, self.config.claim_patience, self.claim_time());
        let live = self.neighbours.values().filter(|neighbour| neighbour.is_live());
        let of_neighbours = live.flat_map(move |neighbour| {
            let claims = neighbour.claimed(looked_at, patience);
            let ends = claims.flat_map(move |since| [since + patience, since + time]);
            ends.chain([neighbour.rests_until])
        });
        of_neighbours.chain([self.origin_rests_until, self.began_at + self.config.listen])
    }
}
