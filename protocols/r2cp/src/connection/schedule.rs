//! Which segment a pipe's next request takes.
//!
//! A slow pipe's request sent now brings its data long after several later requests of a fast pipe have brought
//! theirs. So the slow pipe takes a later segment: as many further as requests will be answered, *and their
//! successors asked for*, before its data comes. That is its rank.
use super::{Connection, PipeId};
use crate::binding::Bound;
use crate::config::Scheduling;
use crate::scheduler::{Offer, PipeView};
use alloc::vec::Vec;
use core::ops::Range;
use prismux_rcp::{Ask, PacketOut};
use prismux_tcp::engine::Send;
use prismux_units::{Duration, Instant};

impl Connection {
    /// The next request of pipe `id`, if it may and can ask for something.
    pub(crate) fn ask(&mut self, now: Instant, id: PipeId) -> Option<PacketOut> {
        if let Some(packet) = self.pipes[id.0].pipe.poll_control(now) {
            return Some(packet);
        }
        self.pipes[id.0].is_waiting = false;
        if self.completed || self.pipes[id.0].is_leaving || !self.policy_allows(now, id) {
            return None;
        }
        let segment = u64::from(self.pipes[id.0].pipe.segment_bytes());
        let send = self.pipes[id.0].pipe.wish(now, segment, false)?;
        let (data, is_copy) = match self.choose(now, id) {
            Some(choice) => choice,
            None => {
                // Frozen for want of data or of room; the next arrival or read lets it try again.
                self.pipes[id.0].is_waiting = true;
                return None;
            }
        };
        Some(self.request(now, id, &send, data, is_copy))
    }

    fn request(
        &mut self,
        now: Instant,
        id: PipeId,
        send: &Send,
        data: Range<u64>,
        is_copy: bool,
    ) -> PacketOut {
        let in_order = self.stream.next();
        self.spend(now, id, data.end - data.start);
        if !is_copy {
            self.pending.take(&data);
        }
        let slot = &mut self.pipes[id.0];
        let forgotten = slot.binding.take_unit(send.range.start);
        slot.pipe.asked(now, send);
        slot.requested_bytes += data.end - data.start;
        let units = send.range.clone();
        let replaced = slot.binding.bind(Bound { data: data.clone(), units, asked_at: now, is_copy });
        if let Some(old) = &replaced {
            // The same data again through a new unit: nothing will come for the old one.
            slot.pipe.units_returned(now, old.units.clone(), prismux_rcp::Returned::default());
        }
        let packet = slot.pipe.request(now, &Ask::Pull(data), in_order);
        if let Some(lost) = forgotten.filter(|lost| !lost.is_copy) {
            self.put_back(lost.data);
        }
        packet
    }

    /// The segment for the next request of pipe `id`, and whether it is only a copy.
    fn choose(&mut self, now: Instant, id: PipeId) -> Option<(Range<u64>, bool)> {
        let told = if self.pipes[id.0].is_silent { None } else { self.place(now, id) };
        let slot = &self.pipes[id.0];
        let segment = u64::from(slot.pipe.segment_bytes());
        let end = self.end.unwrap_or(u64::MAX);
        let room = self.request_edge().min(end).min(self.ask_limit);
        // With nothing outstanding a limit heard long ago does not bind: the answer will tell the present one.
        let limit = if slot.binding.is_empty() { room } else { room.min(slot.pipe.limit()) };
        if slot.is_silent {
            // The pipe may be dead: what it is asked for must not be missed by others.
            let missing = self.stream.first_missing(self.stream.next()..limit)?;
            return Some((missing.start..missing.end.min(missing.start + segment), true));
        }
        let segment = segment.min(self.config.rcp.receive_buffer.as_u64());
        let mut segments = self.pending.segments(segment, limit, end);
        let chosen = match self.config.scheduling {
            _ if self.scheduler.is_some() => {
                segments.take(told.map_or(0, |place| place.saturating_add(1))).last()
            }
            Scheduling::FirstPending => segments.next(),
            Scheduling::RoundRobin => {
                let turns = self.pipes.len() as u64;
                segments.find(|data| data.start / segment % turns == id.0 as u64)
            }
            Scheduling::ExpectedArrival | Scheduling::ExpectedArrivalChained => {
                let rank = self.rank(now, id);
                let mut last = None;
                // The last that fits, where there are fewer.
                for data in segments.take(rank) {
                    last = Some(data);
                }
                last
            }
        };
        let chosen = chosen.filter(|data| self.has_room(data, segment));
        chosen.map(|data| (data, false))
    }

    /// Where among the segments that no pipe was asked for the scheduler from outside has pipe `id` ask; `None` to
    /// wait, and without a scheduler.
    fn place(&mut self, now: Instant, id: PipeId) -> Option<usize> {
        let mut scheduler = self.scheduler.take()?;
        let views: Vec<PipeView> = (0..self.pipes.len()).map(|pipe| self.view(now, PipeId(pipe))).collect();
        let offer = Offer {
            now,
            pipe: id,
            next_byte: self.bytes_received_in_order(),
            pending_byte: self.pending.first(),
            room_bytes: self.config.rcp.receive_buffer.as_u64().saturating_sub(self.taken()),
            segment_bytes: u64::from(self.pipes[id.0].pipe.segment_bytes()),
        };
        let place = scheduler.choose(&views, &offer);
        self.scheduler = Some(scheduler);
        // Somebody must ask, or nothing would ever come that could end the wait.
        let is_idle = self.pipes.iter().all(|slot| slot.binding.is_empty());
        place.or(is_idle.then_some(0))
    }

    fn view(&self, now: Instant, id: PipeId) -> PipeView {
        let slot = &self.pipes[id.0];
        PipeView {
            usable: slot.is_usable(),
            round_trip: self.round_trip_at_least(now, id),
            asked_at: slot.binding.times().collect(),
            outstanding_bytes: slot.binding.bytes(),
            window_bytes: slot.pipe.engine().cwnd(),
            cost: slot.cost,
        }
    }

    /// A request goes out only if its data will find room, even if it comes first of all. The last segment's room is
    /// for the first that is pending: when all the rest is taken by data that waits for it, a pipe must be able to
    /// ask for it.
    fn has_room(&self, data: &Range<u64>, segment: u64) -> bool {
        if self.config.scheduling == Scheduling::RoundRobin {
            return true;
        }
        let is_first = self.pending.first() == data.start;
        let kept = if is_first { 0 } else { segment };
        self.taken() + (data.end - data.start) + kept <= self.config.rcp.receive_buffer.as_u64()
    }

    /// One plus the number of outstanding requests whose successors will have been answered before a request of pipe
    /// `id` is: those sent at `t` over a pipe with round trip `r` for which `t + 2 r` lies before `now` plus this
    /// pipe's round trip.
    pub(crate) fn rank(&self, now: Instant, id: PipeId) -> usize {
        let arrives = now + self.round_trip_at_least(now, id);
        let most = if self.config.scheduling == Scheduling::ExpectedArrivalChained { usize::MAX } else { 1 };
        let mut rank = 1;
        for (index, slot) in self.pipes.iter().enumerate() {
            // No successors will be asked for; and a pipe's own successors come after what it asks for now.
            if slot.is_silent || slot.is_leaving || index == id.0 {
                continue;
            }
            let round_trip = self.round_trip_at_least(now, PipeId(index));
            // Data is expected a round trip after it was asked for; a successor's, one more later.
            let successors = |asked_at: Instant| {
                let until = arrives.saturating_since(asked_at + round_trip);
                until.as_nanos().saturating_sub(1) / round_trip.as_nanos().max(1)
            };
            // The oldest first: behind one without successors there are none.
            let counted = slot.binding.times().map(|asked_at| (successors(asked_at) as usize).min(most));
            rank += counted.take_while(|&count| count > 0).sum::<usize>();
        }
        rank
    }

    /// A pipe's round trip is no shorter than its oldest request has been under way. A pipe gone silent asks for no
    /// successors: were they counted on, the others would leave the first pending data to it until its timeout.
    fn round_trip_at_least(&self, now: Instant, id: PipeId) -> Duration {
        let asked_at = self.pipes[id.0].binding.times().next();
        let under_way = asked_at.map_or(Duration::ZERO, |asked_at| now.saturating_since(asked_at));
        self.round_trip(id).max(under_way)
    }

    pub(crate) fn round_trip(&self, id: PipeId) -> Duration {
        self.pipes[id.0].pipe.engine().srtt().unwrap_or(self.config.rcp.engine.initial_rto)
    }
}

#[cfg(test)]
mod tests;
