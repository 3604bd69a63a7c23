//! The ACKs of a flow that wait for room on the links, and what its sender is expected to answer to those that left.
use super::held::HeldAck;
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A sender's answer may come this much later than the shortest round trip.
pub(crate) const UPSTREAM_SLACK: Duration = Duration::from_millis(2);
/// An answer is waited for this many times the shortest round trip to the sender.
const PATIENCE_ROUNDS: f64 = 1.25;
/// New data that a byte acknowledged may bring: two bytes, as in slow start.
pub(crate) const MAX_RESPONSE: f32 = 2.0;
/// An ACK that has waited this long may go whatever the books say of the links.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(1);
/// Round trip to the sender assumed before it is measured.
const UPSTREAM_RTT: Duration = Duration::from_millis(20);
/// A sender's response is estimated over at least this many bytes acknowledged.
const RESPONSE_BYTES: u32 = 30_000;
/// So many flows that wait look after their unanswered bytes at every span; with more, that would cost more than it
/// brings.
const FEW_FLOWS: usize = 8;
/// A sender's response is estimated over at least this many round trips to it: answers lag behind, and what is cut
/// off at one end of a short span looks like an extra answer in the next.
const RESPONSE_ROUNDS: u64 = 4;

/// Bytes of new data expected in answer to released ACKs and not come, by age: what a sender did not answer in time it
/// will not send, and must not pass for data on its way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExpectedResponse {
    /// The youngest first; each covers a span of a third of the sender's patience.
    spans: [u32; Self::SPANS],
    /// Bytes acknowledged by ACKs released in the same spans, answered or not.
    released: [u32; Self::SPANS],
    since: Instant,
}

impl ExpectedResponse {
    const SPANS: usize = 4;

    pub(crate) fn bytes(&self) -> u32 {
        self.spans.iter().sum()
    }

    /// Bytes acknowledged lately.
    pub(crate) fn released(&self) -> u32 {
        self.released.iter().sum()
    }

    /// Forgets what was expected more than `patience` ago; says how much that was.
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

    /// An ACK over `released` bytes leaves and brings `expected`.
    pub(crate) fn note(&mut self, expected: u32, released: u32) {
        self.spans[0] = self.spans[0].saturating_add(expected);
        self.released[0] = self.released[0].saturating_add(released);
    }

    /// Data came: the oldest ACK is answered first; says how much was expected.
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

/// ACKs that wait, and what is expected of their sender.
#[derive(Debug)]
pub(crate) struct AckQueue<P> {
    pub(crate) ready: VecDeque<HeldAck<P>>,
    /// In the pacer's queue of flows that wait.
    pub(crate) queued: bool,
    pub(crate) expected: ExpectedResponse,
    /// Bytes of new data per byte acknowledged: 2 in slow start, 1 later.
    pub(crate) response: f32,
    released_bytes: u32,
    pub(crate) answered_bytes: u32,
    response_since: Instant,
    /// When the present train of ACKs began, and when its last one left.
    train_since: Instant,
    pub(crate) last_release: Instant,
    /// TSval of a released ACK and when it left, until data echoes it.
    pub(crate) echo: Option<(u32, Instant)>,
    newest_tsval: Option<u32>,
    pub(crate) upstream_rtt: Option<Duration>,
}

impl<P> Default for AckQueue<P> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: false,
            expected: ExpectedResponse::default(),
            response: MAX_RESPONSE,
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

impl<P: Clone> AckQueue<P> {
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

    /// When unanswered ACKs stop counting, or one has waited too long. (When the next may go by its pace is the
    /// pacer's affair.)
    pub(crate) fn deadline(&self, now: Instant, waiting_flows: usize) -> Option<Instant> {
        // While ACKs wait, every byte that is no longer expected makes room; otherwise, and where many flows make
        // room for each other, it only matters in the end.
        let alone = !self.is_empty() && waiting_flows <= FEW_FLOWS;
        let spans = if alone { 1 } else { ExpectedResponse::SPANS as u64 };
        let span = self.patience() / (ExpectedResponse::SPANS as u64 - 1);
        let unanswered = (self.expected.bytes() > 0).then(|| self.expected.since + span * spans);
        // Also when the books are wrong: nothing waits for ever.
        let overdue = self.ready.front().map(|_| now + MAX_WAIT);
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
        self.upstream().mul_f64(PATIENCE_ROUNDS) + UPSTREAM_SLACK
    }

    /// How much new data each acknowledged byte brings, measured over a span of released bytes.
    pub(crate) fn measure_response(&mut self, now: Instant, released: u32) {
        self.released_bytes = self.released_bytes.saturating_add(released);
        let long = now.saturating_since(self.response_since) >= self.upstream() * RESPONSE_ROUNDS;
        if self.released_bytes >= RESPONSE_BYTES && long {
            self.response_since = now;
            let ratio = self.answered_bytes as f32 / self.released_bytes as f32;
            self.response = (0.5 * (self.response + ratio)).clamp(1.0, MAX_RESPONSE);
            (self.released_bytes, self.answered_bytes) = (0, 0);
        }
    }

    /// An ACK leaves; the first after `gap` begins a train.
    pub(crate) fn note_train(&mut self, now: Instant, gap: Duration) {
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
    pub(crate) fn train(&self, now: Instant) -> Duration {
        now.saturating_since(self.train_since)
    }

    /// An ACK leaves with this TSval. The first ACK with a value starts a measurement: data that echoes a value that
    /// earlier ACKs carried too may answer one of those.
    pub(crate) fn note_tsval(&mut self, now: Instant, tsval: Option<u32>) {
        let Some(value) = tsval else { return };
        let new = self.newest_tsval.is_none_or(|newest| value.wrapping_sub(newest) as i32 > 0);
        if new && self.echo.is_none() {
            self.echo = Some((value, now));
        }
        if new {
            self.newest_tsval = Some(value);
        }
    }

    pub(crate) fn settle_expected(&mut self, total: &mut u64, bytes: u32) {
        *total = total.saturating_sub(u64::from(self.expected.settle(bytes)));
    }

    pub(crate) fn expire_expected(&mut self, now: Instant, total: &mut u64) {
        let gone = self.expected.expire(now, self.patience());
        *total = total.saturating_sub(u64::from(gone));
    }

    /// The flow goes.
    pub(crate) fn close(&mut self, total: &mut u64) {
        self.settle_expected(total, u32::MAX);
    }
}
