//! A flow's side of the valve: the ACKs that wait, and what its sender is expected to answer to those that left.
use super::{MOST_RESPONSE, MOST_WAIT, UPSTREAM_SLACK, Valve};
use crate::flow::held::HeldAck;
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// Round trip to the sender assumed before it is measured.
const UPSTREAM_RTT: Duration = Duration::from_millis(20);
/// A sender's response is estimated over at least this many bytes acknowledged, ...
const RESPONSE_BYTES: u32 = 30_000;
/// So many flows that wait look after their unanswered bytes at every span; with more, that would cost more than it brings.
const FEW_FLOWS: usize = 8;
/// ... and this many round trips to it: answers lag behind, and what is cut off at one end of a short span looks like an
/// extra answer in the next.
const RESPONSE_ROUNDS: u64 = 4;

/// Bytes of new data that released ACKs call up and that have not come, by age: what a sender did not answer in time it
/// will not send, and must not pass for data on its way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    /// The youngest first; each covers a span of a third of the sender's patience.
    spans: [u32; Self::SPANS],
    /// Bytes acknowledged by ACKs released in the same spans, answered or not.
    released: [u32; Self::SPANS],
    since: Instant,
}

impl Asked {
    const SPANS: usize = 4;

    pub(super) fn bytes(&self) -> u32 {
        self.spans.iter().sum()
    }

    /// Bytes acknowledged lately.
    pub(super) fn released(&self) -> u32 {
        self.released.iter().sum()
    }

    /// Forgets what was asked more than `patience` ago; says how much that was.
    fn expire(&mut self, now: Instant, patience: Duration) -> u32 {
        let span = patience / (Self::SPANS as u64 - 1);
        let mut gone = 0;
        for _ in 0..Self::SPANS {
            if now.saturating_since(self.since) < span {
                return gone;
            }
            gone += self.spans[Self::SPANS - 1];
            self.spans.rotate_right(1);
            self.released.rotate_right(1);
            (self.spans[0], self.released[0]) = (0, 0);
            self.since += span;
        }
        self.since = now;
        gone
    }

    /// An ACK over `released` bytes leaves and calls up `expected`.
    pub(super) fn note(&mut self, expected: u32, released: u32) {
        self.spans[0] = self.spans[0].saturating_add(expected);
        self.released[0] = self.released[0].saturating_add(released);
    }

    /// Data came: the oldest question is answered first; says how much was asked for.
    fn settle(&mut self, bytes: u32) -> u32 {
        let mut left = bytes;
        for span in self.spans.iter_mut().rev() {
            let settled = left.min(*span);
            *span -= settled;
            left -= settled;
        }
        bytes - left
    }
}

/// A flow's side of the valve.
#[derive(Debug)]
pub(crate) struct AckPool<P> {
    pub(super) ready: VecDeque<HeldAck<P>>,
    /// In [`Valve::waiting`].
    pub(crate) queued: bool,
    pub(super) asked: Asked,
    /// Bytes of new data per byte acknowledged: 2 in slow start, 1 later.
    pub(super) response: f32,
    released_bytes: u32,
    pub(super) answered_bytes: u32,
    response_since: Instant,
    /// When the present train of ACKs began, and when its last one left.
    train_since: Instant,
    pub(super) last_release: Instant,
    /// TSval of a released ACK and when it left, until data echoes it.
    pub(super) echo: Option<(u32, Instant)>,
    newest_tsval: Option<u32>,
    pub(super) upstream_rtt: Option<Duration>,
}

impl<P> Default for AckPool<P> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: false,
            asked: Asked::default(),
            response: MOST_RESPONSE,
            released_bytes: 0,
            answered_bytes: 0,
            response_since: Instant::ZERO,
            train_since: Instant::ZERO,
            last_release: Instant::ZERO,
            echo: None,
            newest_tsval: None,
            upstream_rtt: None,
        }
    }
}

impl<P: Clone> AckPool<P> {
    /// Number of ACKs that wait.
    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    /// True when no ACK waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The highest number among the ACKs that wait.
    pub(crate) fn highest(&self) -> Option<SeqNumber> {
        self.ready.back().map(|ack| ack.number)
    }

    /// The ACK that has waited longest.
    pub(crate) fn oldest(&self) -> Option<&HeldAck<P>> {
        self.ready.front()
    }

    /// Raises the last ACK that waits to `number`.
    pub(crate) fn raise_last(&mut self, number: SeqNumber) {
        if let Some(last) = self.ready.back_mut() {
            last.number = last.number.max(number);
        }
    }

    /// Bytes of memory, packets apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ready.capacity() * size_of::<HeldAck<P>>()
    }

    /// When unanswered ACKs stop counting, or one has waited too long. (When the next may go by its pace is the valve's affair.)
    pub(crate) fn deadline(&self, now: Instant, valve: &Valve) -> Option<Instant> {
        // While ACKs wait, every byte that is no longer expected makes room; otherwise, and where many flows make room for
        // each other, it only matters in the end.
        let alone = !self.is_empty() && valve.waiting.len() <= FEW_FLOWS;
        let spans = if alone { 1 } else { Asked::SPANS as u64 };
        let span = self.patience() / (Asked::SPANS as u64 - 1);
        let unanswered = (self.asked.bytes() > 0).then(|| self.asked.since + span * spans);
        // Also when the books are wrong: nothing waits for ever.
        let overdue = self.ready.front().map(|_| now + MOST_WAIT);
        [unanswered, overdue].into_iter().flatten().min()
    }

    pub(crate) fn push(&mut self, ack: HeldAck<P>) {
        self.ready.push_back(ack);
    }

    pub(crate) fn pop(&mut self) -> Option<HeldAck<P>> {
        self.ready.pop_front()
    }

    /// The round trip to the sender and back; a guess before it was measured.
    pub(crate) fn upstream(&self) -> Duration {
        self.upstream_rtt.unwrap_or(UPSTREAM_RTT)
    }

    /// How long a sender may take to answer.
    fn patience(&self) -> Duration {
        self.upstream().mul_f64(1.25) + UPSTREAM_SLACK
    }

    /// How much new data each acknowledged byte calls up, measured over a span of released bytes.
    pub(super) fn measure_response(&mut self, now: Instant, released: u32) {
        self.released_bytes = self.released_bytes.saturating_add(released);
        let long = now.saturating_since(self.response_since) >= self.upstream() * RESPONSE_ROUNDS;
        if self.released_bytes >= RESPONSE_BYTES && long {
            self.response_since = now;
            let ratio = self.answered_bytes as f32 / self.released_bytes as f32;
            self.response = (0.5 * (self.response + ratio)).clamp(1.0, MOST_RESPONSE);
            (self.released_bytes, self.answered_bytes) = (0, 0);
        }
    }

    /// An ACK leaves; the first after `gap` begins a train.
    pub(super) fn note_train(&mut self, now: Instant, gap: Duration) {
        if now.saturating_since(self.last_release) >= gap {
            self.train_since = now;
        }
        self.last_release = now;
    }

    /// When an ACK with a new number last left; the beginning of time where ACKs are not paced.
    pub(crate) fn last_release(&self) -> Instant {
        self.last_release
    }

    /// How long the present train of ACKs has lasted.
    pub(super) fn train(&self, now: Instant) -> Duration {
        now.saturating_since(self.train_since)
    }

    /// An ACK leaves with this TSval. The first ACK with a value starts a measurement: data that echoes a value that earlier
    /// ACKs carried too may answer one of those.
    pub(super) fn note_tsval(&mut self, now: Instant, tsval: Option<u32>) {
        let Some(value) = tsval else { return };
        let new = self.newest_tsval.is_none_or(|newest| value.wrapping_sub(newest) as i32 > 0);
        if new && self.echo.is_none() {
            self.echo = Some((value, now));
        }
        if new {
            self.newest_tsval = Some(value);
        }
    }

    pub(super) fn settle_pending(&mut self, valve: &mut Valve, bytes: u32) {
        valve.pending = valve.pending.saturating_sub(u64::from(self.asked.settle(bytes)));
    }

    pub(super) fn expire_pending(&mut self, now: Instant, valve: &mut Valve) {
        let gone = self.asked.expire(now, self.patience());
        valve.pending = valve.pending.saturating_sub(u64::from(gone));
    }

    /// The flow goes.
    pub(crate) fn close(&mut self, valve: &mut Valve) {
        self.settle_pending(valve, u32::MAX);
    }
}
