//! Which bytes of our stream the bytes of a subflow are. Once they have been sent the same bytes always go under the
//! same numbers.
use super::Subflow;
use alloc::collections::VecDeque;
use core::ops::Range;
use prismux_endpoint::Endpoint;
use prismux_units::Instant;
use prismux_wire::{Ecn, TcpHeader};

/// A stretch of the subflow and the offset in the stream of its first byte.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    position: u64,
    data: u64,
    bytes: u64,
}

impl Chunk {
    const fn end(&self) -> u64 {
        self.position + self.bytes
    }
}

/// Stretches that are queued or not acknowledged, without a gap.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    chunks: VecDeque<Chunk>,
}

/// A segment of a subflow, and which bytes of the stream it carries.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    pub tcp: TcpHeader,
    pub payload_bytes: u32,
    pub ecn: Ecn,
    /// Place of the first payload byte in the subflow.
    pub position: u64,
    /// Its offset in the stream.
    pub data: u64,
}

impl Outgoing {
    pub(super) fn acknowledge(&mut self, acked: u64) {
        while self.chunks.front().is_some_and(|chunk| chunk.end() <= acked) {
            self.chunks.pop_front();
        }
    }

    /// Forgets what lies beyond `next`.
    pub(super) fn drop_unsent(&mut self, next: u64) {
        while self.chunks.back().is_some_and(|chunk| chunk.position >= next) {
            self.chunks.pop_back();
        }
        if let Some(last) = self.chunks.back_mut() {
            last.bytes = last.bytes.min(next - last.position);
        }
    }

    fn at(&self, position: u64) -> Option<&Chunk> {
        let index = self.chunks.partition_point(|chunk| chunk.end() <= position);
        self.chunks.get(index).filter(|chunk| chunk.position <= position)
    }
}

impl Subflow {
    /// First place of the subflow that has not been sent.
    pub(crate) fn next(&self) -> u64 {
        self.engine().next()
    }

    /// Just after the last place that bytes were queued for.
    pub(crate) fn queued_end(&self) -> u64 {
        self.outgoing.chunks.back().map_or_else(|| self.next(), Chunk::end)
    }

    /// Bytes queued, or sent and not acknowledged.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.queued_end().saturating_sub(self.tcp.stream_acked())
    }

    /// Queues bytes of the stream.
    pub(crate) fn queue(&mut self, data: &Range<u64>) {
        let (position, bytes) = (self.queued_end(), data.end - data.start);
        match self.outgoing.chunks.back_mut() {
            Some(last) if last.data + last.bytes == data.start => last.bytes += bytes,
            _ => self.outgoing.chunks.push_back(Chunk { position, data: data.start, bytes }),
        }
    }

    /// Takes back what has been queued and not sent.
    pub(crate) fn take_back(&mut self) {
        let next = self.next();
        self.outgoing.drop_unsent(next);
        self.tcp.offer(0);
    }

    /// Stretches of the stream that are queued or not acknowledged.
    pub(crate) fn held(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let acked = self.tcp.stream_acked();
        self.outgoing.chunks.iter().map(move |chunk| {
            let skipped = acked.saturating_sub(chunk.position);
            chunk.data + skipped..chunk.data + chunk.bytes
        })
    }

    /// Whether the byte at offset `data` of the stream is with it.
    pub(crate) fn holds(&self, data: u64) -> Option<Range<u64>> {
        self.held().find(|held| held.contains(&data))
    }

    /// The next segment of this subflow, if it has one: control, acknowledgements, repetitions, and what is queued as
    /// its window lets it.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Spoken> {
        if !self.tcp.is_closing() {
            let next = self.next();
            // No segment spans two mappings.
            let waiting = self.outgoing.at(next).map_or(0, |chunk| chunk.end() - next);
            self.tcp.offer(waiting);
        }
        let segment = self.tcp.poll_transmit(now)?;
        let data = match segment.payload_bytes {
            0 => 0,
            _ => self
                .outgoing
                .at(segment.stream_offset)
                .map_or(0, |chunk| chunk.data + (segment.stream_offset - chunk.position)),
        };
        self.sent_bytes += u64::from(segment.payload_bytes);
        Some(Spoken {
            tcp: segment.header,
            payload_bytes: segment.payload_bytes,
            ecn: segment.ecn,
            position: segment.stream_offset,
            data,
        })
    }
}
