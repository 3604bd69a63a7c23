//! What the interface under a pipe knows and the pipe cannot: losses of its link, and sleep.
use super::{Connection, PipeId};
use core::ops::Range;
use prismux_rcp::PacketIn;
use prismux_units::Instant;

impl Connection {
    /// The link layer under pipe `id` says that it lost data at these positions: they are asked for again at once, by
    /// the pipe that asks next, and the window of the pipe stays.
    pub fn lost_by_link(&mut self, now: Instant, id: PipeId, positions: &Range<u64>) {
        let Some(slot) = self.pipes.get_mut(id.0) else { return };
        for bound in slot.binding.take_data(positions) {
            self.pipes[id.0].pipe.units_lost_by_link(now, bound.units);
            if !bound.is_copy {
                self.put_back(bound.data);
            }
        }
    }

    /// A data packet arrived by pipe `id` damaged, its header readable: the link lost it, not a queue.
    pub fn damaged(&mut self, now: Instant, id: PipeId, packet: &PacketIn) {
        let Some(slot) = self.pipes.get(id.0) else { return };
        if let Some(data) = slot.pipe.receive_damaged(packet) {
            self.lost_by_link(now, id, &data);
        }
    }

    /// The interface of pipe `id` is about to sleep: the pipe neither asks nor times, and what it owes goes to the
    /// others. Data that still comes by it is taken.
    pub fn freeze(&mut self, id: PipeId) {
        if let Some(slot) = self.pipes.get_mut(id.0) {
            slot.pipe.freeze();
            self.requeue_all(id);
        }
    }

    /// The interface of pipe `id` is awake: the pipe asks again, its window as it was.
    pub fn thaw(&mut self, now: Instant, id: PipeId) {
        if let Some(slot) = self.pipes.get_mut(id.0) {
            slot.pipe.thaw(now);
        }
    }
}
