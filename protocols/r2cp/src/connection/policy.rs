//! Which pipes a policy lets ask.
use super::{Connection, PipeId};
use prismux_units::Instant;

impl Connection {
    pub(crate) fn policy_allows(&mut self, now: Instant, id: PipeId) -> bool {
        let (cost, segment) = (self.pipes[id.0].cost, u64::from(self.pipes[id.0].pipe.segment_bytes()));
        self.pipes[id.0].waits_for_tokens = false;
        if let Some(buckets) = &mut self.buckets {
            let allowed = buckets.allows(now, cost, segment);
            self.pipes[id.0].waits_for_tokens = !allowed;
            return allowed;
        }
        let cheapest = self.pipes.iter().filter(|slot| slot.is_usable()).map(|slot| slot.cost).min();
        cheapest.is_none_or(|cheapest| cost <= cheapest)
    }

    pub(crate) fn spend(&mut self, now: Instant, id: PipeId, bytes: u64) {
        if let Some(buckets) = &mut self.buckets {
            buckets.spend(now, self.pipes[id.0].cost, bytes);
        }
    }

    /// When a pipe that waits for tokens may try again.
    pub(crate) fn policy_deadline(&self) -> Option<Instant> {
        let buckets = self.buckets.as_ref().filter(|_| !self.completed)?;
        let waiting = self.pipes.iter().filter(|slot| slot.waits_for_tokens && slot.is_usable());
        waiting.filter_map(|slot| buckets.next_at(slot.cost, u64::from(slot.pipe.segment_bytes()))).min()
    }
}
