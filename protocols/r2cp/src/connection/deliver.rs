//! Arriving data, losses, and the end of the stream.
use super::{Connection, PipeId};
use crate::binding::Bound;
use crate::event::R2cpEvent;
use alloc::vec::Vec;
use core::ops::Range;
use prismux_rcp::{DataArrival, Returned, StreamEvent};
use prismux_units::Instant;

impl Connection {
    pub(crate) fn deliver(&mut self, now: Instant, id: PipeId, data: &DataArrival) {
        if data.range.is_empty() && !data.fin {
            return;
        }
        // The end of the stream takes the position after the last byte.
        let whole = data.range.start..data.range.end + u64::from(data.fin);
        if self.end.is_some_and(|end| whole.end > end || (data.fin && whole.end != end)) {
            self.events.push_back(R2cpEvent::Disagreement(id));
            self.drop_pipe(id);
            return;
        }
        // What is not waited for any more must find room like what was not asked for.
        let asked_for = self.pipes[id.0].binding.holds(whole.start);
        let length = whole.end - whole.start;
        let no_room = !asked_for
            && whole.start > self.stream.next()
            && self.taken() + length > self.config.rcp.receive_buffer.as_u64();
        let beyond_buffer =
            no_room || whole.end > self.request_edge() + 1 || whole.start > self.pending.fresh();
        let crowded = whole.start > self.stream.next()
            && self.stream.pieces() >= self.config.rcp.max_out_of_order_ranges as usize;
        if beyond_buffer || crowded {
            self.metrics.unrequested += 1;
            return;
        }
        self.pipes[id.0].is_silent = false;
        let before = self.bytes_received_in_order();
        self.store(id, data, &whole);
        self.settle_units(now, id, data, &whole);
        if data.fin && self.end.is_none() {
            self.learn_end(now, whole.end);
        }
        self.requeue_losses(id);
        self.rescue_head(now);
        let after = self.bytes_received_in_order();
        if after > before {
            self.events.push_back(R2cpEvent::Stream(StreamEvent::Readable { up_to: after }));
        }
        if self.end == Some(self.stream.next()) && !self.completed {
            self.completed = true;
            self.events.push_back(R2cpEvent::Stream(StreamEvent::Complete));
            for slot in &mut self.pipes {
                slot.pipe.close();
            }
        }
    }

    fn store(&mut self, id: PipeId, data: &DataArrival, whole: &Range<u64>) {
        let events = &mut self.events;
        let news = self.stream.take_in(&data.range, whole, |part| {
            events.push_back(R2cpEvent::Stream(StreamEvent::accepted(&data.range, &part)));
        });
        self.pending.remove(whole);
        let held = self.stream.beyond();
        let buffer = self.config.rcp.receive_buffer.as_u64();
        self.metrics.data_packets += 1;
        self.metrics.found_buffer_nearly_full += u64::from(held * 4 >= buffer * 3);
        self.metrics.duplicate_bytes += data.range.end - data.range.start - news;
        self.pipes[id.0].received_bytes += news;
    }

    /// The pipe that brought it gets its units back.
    fn settle_units(&mut self, now: Instant, id: PipeId, data: &DataArrival, whole: &Range<u64>) {
        let mut how = Returned { congested: data.congested, rtt: data.rtt };
        let slot = &mut self.pipes[id.0];
        for bound in slot.binding.take_data(whole) {
            slot.pipe.units_returned(now, bound.units.clone(), how);
            how.congested = false;
            // Less may have come than was asked for.
            for rest in [bound.data.start..whole.start, whole.end..bound.data.end] {
                if rest.start < rest.end && !bound.is_copy {
                    Self::put_back_missing(&mut self.pending, &self.stream, rest);
                }
            }
        }
    }

    /// The stream ends here: requests beyond have been answered by that.
    fn learn_end(&mut self, now: Instant, end: u64) {
        self.end = Some(end);
        self.pending.cut(end);
        for slot in &mut self.pipes {
            for bound in slot.binding.take_data(&(end..u64::MAX)) {
                slot.pipe.units_returned(now, bound.units, Returned::default());
            }
        }
    }

    /// What pipe `id` takes for lost goes to the pipe that asks next.
    pub(crate) fn requeue_losses(&mut self, id: PipeId) {
        let slot = &mut self.pipes[id.0];
        let lost: Vec<u64> = slot.pipe.engine().lost().map(|units| units.start).collect();
        for unit in lost {
            if let Some(bound) = self.pipes[id.0].binding.take_unit(unit).filter(|bound| !bound.is_copy) {
                self.put_back(bound.data);
            }
        }
    }

    /// When the byte that the application waits for will have been under way for a whole timeout, if another pipe could
    /// bring it.
    pub(crate) fn rescue_deadline(&self) -> Option<Instant> {
        let head = self.stream.next();
        if self.completed || self.pipes.iter().filter(|slot| slot.is_usable()).count() < 2 {
            return None;
        }
        let holders = self.pipes.iter().filter_map(|slot| {
            let bound = slot.binding.iter().next()?;
            let holds = bound.data.start <= head && head < bound.data.end && !bound.is_copy;
            holds.then(|| bound.asked_at + slot.pipe.engine().rto())
        });
        holders.min()
    }

    /// The byte that the application waits for, and all else that is as late, is asked for elsewhere when its pipe
    /// has not brought it within a timeout.
    pub(crate) fn rescue_head(&mut self, now: Instant) {
        if self.rescue_deadline().is_none_or(|at| at > now) {
            return;
        }
        let head = self.stream.next();
        for index in 0..self.pipes.len() {
            let slot = &mut self.pipes[index];
            let rto = slot.pipe.engine().rto();
            let holds_head = |bound: &Bound| bound.data.start <= head && head < bound.data.end;
            let is_late = |bound: &Bound| bound.asked_at + rto <= now;
            if !slot.binding.iter().next().is_some_and(|bound| holds_head(bound) && is_late(bound)) {
                continue;
            }
            // The pipe's books keep the units: their loss is for the engine to find out.
            let late: Vec<Range<u64>> =
                slot.binding.iter().filter(|bound| is_late(bound)).map(|bound| bound.data.clone()).collect();
            for data in late {
                let bound = self.pipes[index].binding.take_data(&data);
                for bound in bound.into_iter().filter(|bound| !bound.is_copy) {
                    self.put_back(bound.data);
                }
            }
        }
    }

    /// Everything pipe `id` owes is asked for elsewhere.
    pub(crate) fn requeue_all(&mut self, id: PipeId) {
        for bound in self.pipes[id.0].binding.take_all().into_iter().filter(|bound| !bound.is_copy) {
            self.put_back(bound.data);
        }
    }

    pub(crate) fn put_back(&mut self, data: Range<u64>) {
        Self::put_back_missing(&mut self.pending, &self.stream, data);
    }

    fn put_back_missing(
        pending: &mut crate::pending::Pending,
        stream: &prismux_rcp::ranges::Ranges,
        data: Range<u64>,
    ) {
        let mut from = data.start;
        while let Some(missing) = stream.first_missing(from..data.end) {
            from = missing.end;
            pending.put_back(missing);
        }
    }
}
