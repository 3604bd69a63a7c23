//! Who is asked for which piece next.
use super::{NeighbourId, Plan, Source};
use alloc::vec::Vec;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// What others claim is not taken before it has been claimed for this long.
const LEAST_CLAIM_TIME: Duration = Duration::from_secs(1);

impl Plan {
    /// Asks for what there is room for.
    pub(super) fn choose(&mut self, now: Instant) {
        self.choose_from_neighbours(now);
        self.choose_from_origin(now);
    }

    /// All pieces, from the member's own place on.
    fn in_own_order(&self) -> impl Iterator<Item = u32> + use<> {
        let (start, count) = (self.start, self.held.count());
        (start..count).chain(0..start)
    }

    fn is_missing(&self, piece: u32) -> bool {
        !self.held.contains(piece) && !self.asked.contains_key(&piece)
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
        let mut under_way = self.asked_of(Source::Origin).count();
        let mut is_exhausted = true;
        for piece in self.in_own_order() {
            let is_free = self.is_missing(piece)
                && !self.is_near(now, piece)
                && self.claimed_since(now, piece).is_none();
            if is_free && under_way >= self.config.from_origin {
                is_exhausted = false;
                break;
            }
            if is_free {
                self.ask(now, Source::Origin, piece);
                under_way += 1;
            }
        }
        if is_exhausted {
            self.finish_off(now, under_way);
        }
    }

    /// Nothing is left that only the origin has: what neighbours are slow with is taken too, and what they have is not
    /// waited for from the origin.
    fn finish_off(&mut self, now: Instant, under_way: usize) {
        let from_origin: Vec<u32> =
            self.asked_of(Source::Origin).map(|(piece, _)| piece).collect();
        for piece in from_origin {
            let room = self.under_way_from_neighbours() < self.config.from_neighbours;
            if let (true, Some(id)) = (room, self.giver(now, piece)) {
                self.withdraw(Source::Origin, piece);
                self.ask(now, Source::Neighbour(id), piece);
            }
        }
        if under_way == 0
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
        let silence = live.map(|neighbour| Deadline { at: neighbour.heard_at + self.config.silence, why: "silence" });
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
        of_neighbours.chain([self.origin_rests_until])
    }
}
