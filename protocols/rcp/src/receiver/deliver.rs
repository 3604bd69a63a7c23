//! Arriving data: into the stream, and back to the pipe as units returned.
use super::{Receiver, Standing};
use crate::packet::{RcpEvent, StreamEvent};
use crate::pipe::{DataArrival, Returned};
use core::ops::Range;
use prismux_units::Instant;

impl Receiver {
    pub(super) fn deliver(&mut self, now: Instant, data: &DataArrival) {
        // The end of the stream takes the position after the last byte.
        if data.range.is_empty() && !data.fin {
            return;
        }
        let Some(data) = self.acceptable(data) else {
            self.counters.unrequested += 1;
            return;
        };
        let whole = data.range.start..data.range.end + u64::from(data.fin);
        let beyond = whole.start > self.stream.next();
        if beyond && self.stream.pieces() >= self.config.max_out_of_order_ranges as usize {
            self.counters.store_full += 1;
            return;
        }
        self.counters.data_packets += 1;
        self.counters.out_of_order_packets += u64::from(beyond);
        self.note_unbound(&whole);
        let before = self.bytes_received_in_order();
        self.store(&data, &whole);
        self.return_units(now, &data, &whole);
        if data.fin && self.end.is_none() {
            self.learn_end(now, whole.end);
        }
        let after = self.bytes_received_in_order();
        if after > before {
            self.events.push_back(RcpEvent::Stream(StreamEvent::Readable { up_to: after }));
        }
        if self.end == Some(self.stream.next()) && !self.completed {
            self.completed = true;
            self.standing = Standing::default();
            self.events.push_back(RcpEvent::Stream(StreamEvent::Complete));
            self.pipe.close();
        }
    }

    /// The part that was asked for: a pull of less than a segment is answered by a whole one, and what of it passes the
    /// buffer is cut off. `None` for data that was not asked for, or that contradicts the end of the stream.
    fn acceptable(&self, data: &DataArrival) -> Option<DataArrival> {
        let beyond = self.standing.at.map_or(0, |at| at + u64::from(self.pipe.segment_bytes()));
        let asked = self.fresh.max(beyond);
        let room = asked.max(self.request_edge());
        let DataArrival { range, fin, .. } = data.clone();
        let fits = range.end <= room;
        let range = range.start..range.end.min(room);
        // The end may come with data asked for, one position beyond it.
        let asked_for = range.start < asked || (range.start == asked && range.is_empty());
        let whole_end = range.end + u64::from(fin);
        let within_end = match self.end {
            Some(end) => whole_end <= end && (!fin || whole_end == end),
            None => !fin || whole_end >= self.stream.highest(),
        };
        (asked_for && within_end).then_some(DataArrival { range, fin: fin && fits, ..*data })
    }

    /// Answers to the standing request were asked for outside the pipe's books. What they skip was lost.
    fn note_unbound(&mut self, whole: &Range<u64>) {
        if whole.end > self.fresh {
            if whole.start > self.fresh {
                self.holes.push_back(self.fresh..whole.start);
            }
            self.fresh = whole.end;
        }
        if self.standing.at.is_some_and(|at| whole.end > at) {
            self.standing = Standing::default();
        }
    }

    fn store(&mut self, data: &DataArrival, whole: &Range<u64>) {
        let events = &mut self.events;
        let news = self.stream.take_in(&data.range, whole, |part| {
            events.push_back(RcpEvent::Stream(StreamEvent::accepted(&data.range, &part)));
        });
        self.counters.duplicate_bytes += data.range.end - data.range.start - news;
    }

    fn return_units(&mut self, now: Instant, data: &DataArrival, whole: &Range<u64>) {
        let mut how = Returned { congested: data.congested, rtt: data.rtt };
        for units in self.binding.units(whole) {
            self.pipe.units_returned(now, units, how);
            how.congested = false;
        }
        self.binding.forget_below(self.pipe.units_returned_to());
    }

    /// The stream ends here: what was asked for beyond has been answered by that.
    fn learn_end(&mut self, now: Instant, end: u64) {
        self.end = Some(end);
        self.fresh = self.fresh.min(end);
        for units in self.binding.unbind(&(end..u64::MAX)) {
            self.pipe.units_returned(now, units, Returned::default());
        }
        self.holes.retain(|hole| hole.start < end);
    }
}
