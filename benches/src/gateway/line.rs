//! A link: a rate, a delay, and a queue that overflows.
use super::LineConfig;
use super::plain::PlainQueue;
use crate::traffic::{Handle, PAYLOAD_BYTES};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;
use std::collections::VecDeque;

/// A packet with its headers, inside its tunnel.
pub(super) const PACKET_BYTES: u32 = PAYLOAD_BYTES + 52;
/// The queue holds what passes in this time, and so many packets at least.
const QUEUE: Duration = Duration::from_millis(100);
const MIN_QUEUE_PACKETS: usize = 50;

/// A packet, and its number on its link, where receipts tell of it.
pub(super) type Parcel = (Handle, SeqNumber);

/// A link and what is under way on it.
#[derive(Debug)]
pub(super) struct Line {
    config: LineConfig,
    /// One packet takes so long to send.
    each: Duration,
    free_at: Instant,
    is_dead: bool,
    under_way: VecDeque<(Instant, Parcel)>,
    /// A router's queue before it, in the place of its own.
    plain: Option<PlainQueue>,
    carried: u64,
    overflows: u64,
}

impl Line {
    pub(super) fn new(config: LineConfig) -> Self {
        let bytes = ByteCount::new(u64::from(PACKET_BYTES));
        let each = config.rate.transmission_time(bytes);
        Self {
            config,
            each,
            free_at: Instant::ZERO,
            is_dead: false,
            under_way: VecDeque::new(),
            plain: None,
            carried: 0,
            overflows: 0,
        }
    }

    /// The same behind such a queue.
    pub(super) fn behind(config: LineConfig, queue: PlainQueue) -> Self {
        Self { plain: Some(queue), ..Self::new(config) }
    }

    /// What has had its turn by now is under way.
    fn serve(&mut self, now: Instant) {
        let Some(queue) = &mut self.plain else { return };
        while self.free_at <= now
            && let Some(packet) = queue.pop()
        {
            self.free_at += self.each;
            self.under_way.push_back((self.free_at + self.config.delay, (packet, SeqNumber(0))));
        }
    }

    /// A packet is given to it.
    pub(super) fn push(&mut self, now: Instant, packet: Handle, number: SeqNumber) {
        if self.is_dead {
            return;
        }
        if let Some(queue) = &mut self.plain {
            if queue.is_empty() {
                self.free_at = self.free_at.max(now);
            }
            self.overflows += u64::from(queue.push(packet));
            return self.serve(now);
        }
        let queue = QUEUE.max(self.each * MIN_QUEUE_PACKETS as u64);
        if self.free_at.saturating_since(now) > queue {
            self.overflows += 1;
            return;
        }
        self.free_at = self.free_at.max(now) + self.each;
        self.under_way.push_back((self.free_at + self.config.delay, (packet, number)));
    }

    /// When the next packet arrives.
    pub(super) fn next(&self) -> Option<Instant> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// The next packet arrives.
    pub(super) fn pop(&mut self) -> Option<(Instant, Parcel)> {
        self.carried += u64::from(!self.under_way.is_empty());
        let next = self.under_way.pop_front()?;
        self.serve(next.0);
        Some(next)
    }

    /// Nothing comes out any more.
    pub(super) fn kill(&mut self) {
        self.is_dead = true;
        self.under_way.clear();
    }

    pub(super) fn take_carried(&mut self) -> u64 {
        std::mem::take(&mut self.carried)
    }

    pub(super) fn overflows(&self) -> u64 {
        self.overflows
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.under_way.capacity() * size_of::<(Instant, Parcel)>()
    }
}
