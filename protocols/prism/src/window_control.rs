//! Beyond the paper: ACKs as a valve, so that no queue on a link ever overflows.
//!
//! The links' caps say how much may be in flight on them. ACKs that are ready to go wait here while the links are full;
//! they leave as room appears. A sender that pushes harder than the links carry thus fills this *pool of ACKs* instead of
//! the links' queues: its data is delivered at full rate, its round-trip time grows smoothly, its window keeps growing, and
//! nothing is lost. The size of the pool says how much delay the sender can already cover, that is, which slower link may join
//! without stalling the ACK clock ([`crate::parking`]). Beyond what the links can use, the advertised window stops it.
use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::reverse_path::Context;
use crate::reverse_path::release::{self, Outgoing};
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// Round trip to the sender assumed before it is measured.
const UPSTREAM_RTT: Duration = Duration::from_millis(20);
/// A sender's answer may come this much later than the shortest round trip.
const UPSTREAM_SLACK: Duration = Duration::from_millis(2);
/// ACKs go out at most this much faster than the links carry data, ...
const PACING_GAIN: f64 = 1.25;
/// ... in bursts of this length at most.
const PACING_QUANTUM: Duration = Duration::from_millis(2);
/// Bytes acknowledged between two estimates of a sender's response.
const RESPONSE_SPAN: u32 = 30_000;
/// Bytes that the right edge may always lead what is expected by, so that a growing window is not stopped.
const EDGE_SLACK: u64 = 24_000;
/// No flight is ever allowed beyond this, far below half the sequence space.
const MOST_FLIGHT: u64 = 1 << 29;
/// See [`waits_too_long`].
const MOST_WAIT: Duration = Duration::from_secs(1);
/// Over how long the largest flight counts.
const FLIGHT_WINDOW: Duration = Duration::from_millis(1000);

/// What all flows share.
#[derive(Debug)]
pub(crate) struct Valve {
    /// Bytes between released ACK and highest sequence number, all flows.
    pub(crate) flight: u64,
    /// Bytes acknowledged to senders and not answered by new data yet, all flows.
    pub(crate) pending: u64,
    /// Flows whose ACKs wait, in turn.
    pub(crate) waiting: VecDeque<u32>,
    /// Bytes of packets that wait for room on the links, all flows.
    pub(crate) kept: u64,
    /// Copies kept for repair, all flows.
    pub(crate) copies: u32,
    /// Largest flight in this span and in the one before.
    peak: [u64; 2],
    peak_since: Instant,
    /// What senders may have in flight together: `None` for no limit.
    pub(crate) flight_limit: Option<u64>,
    pub(crate) reviewed: Instant,
    /// ACKs are paced: the next one may go at this time.
    next_release: Instant,
    /// The largest receive window offered, in bytes.
    pub(crate) largest_window: u64,
    /// Some link is to be measured with copies.
    pub(crate) wants_probes: bool,
}

impl Default for Valve {
    fn default() -> Self {
        Self {
            flight: 0,
            pending: 0,
            waiting: VecDeque::new(),
            kept: 0,
            copies: 0,
            peak: [0; 2],
            peak_since: Instant::ZERO,
            flight_limit: None,
            reviewed: Instant::ZERO,
            next_release: Instant::ZERO,
            largest_window: 0,
            wants_probes: false,
        }
    }
}

impl Valve {
    /// New data of `bytes` came from a sender.
    fn on_new_data(&mut self, now: Instant, bytes: u64) {
        self.flight += bytes;
        if now.saturating_since(self.peak_since) > FLIGHT_WINDOW {
            self.peak = [0, self.peak[0]];
            self.peak_since = now;
        }
        self.peak[0] = self.peak[0].max(self.flight);
    }

    /// A receiver offers this window; `None` for the shift when it is unknown.
    pub(crate) fn on_window(&mut self, shift: Option<u8>, field: u16) {
        const UNKNOWN: u64 = 16 << 20;
        let window = shift.map_or(UNKNOWN, |shift| u64::from(field) << shift);
        self.largest_window = self.largest_window.max(window);
    }

    /// The largest flight of the last second: what senders are able to keep under way.
    pub(crate) fn peak_flight(&self) -> u64 {
        self.peak[0].max(self.peak[1])
    }
}

/// A flow's side of the valve.
#[derive(Debug)]
pub(crate) struct AckPool<P> {
    ready: VecDeque<HeldAck<P>>,
    /// In [`Valve::waiting`].
    pub(crate) queued: bool,
    pending: u32,
    /// Bytes of new data per byte acknowledged: 2 in slow start, 1 later.
    response: f32,
    released_bytes: u32,
    answered_bytes: u32,
    pending_until: Instant,
    /// TSval of a released ACK and when it left, until data echoes it.
    echo: Option<(u32, Instant)>,
    upstream_rtt: Option<Duration>,
}

impl<P> Default for AckPool<P> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: false,
            pending: 0,
            response: 2.0,
            released_bytes: 0,
            answered_bytes: 0,
            pending_until: Instant::ZERO,
            echo: None,
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

    /// When unanswered ACKs stop counting, or the next ACK may go.
    pub(crate) fn deadline(&self, now: Instant, valve: &Valve) -> Option<Instant> {
        let unanswered = (self.pending > 0).then_some(self.pending_until);
        // Also when the books are wrong: nothing waits for ever.
        let paced = (!self.is_empty()).then(|| valve.next_release - PACING_QUANTUM).filter(|&at| at > now);
        let overdue = self.ready.front().map(|_| now + MOST_WAIT);
        [unanswered, paced, overdue].into_iter().flatten().min()
    }

    pub(crate) fn push(&mut self, ack: HeldAck<P>) {
        self.ready.push_back(ack);
    }

    pub(crate) fn pop(&mut self) -> Option<HeldAck<P>> {
        self.ready.pop_front()
    }

    fn upstream(&self) -> Duration {
        self.upstream_rtt.unwrap_or(UPSTREAM_RTT)
    }

    /// How much new data each acknowledged byte calls up, measured over a span of released bytes.
    fn measure_response(&mut self, released: u32) {
        self.released_bytes += released;
        if self.released_bytes >= RESPONSE_SPAN {
            let ratio = self.answered_bytes as f32 / self.released_bytes as f32;
            self.response = (0.5 * (self.response + ratio)).clamp(1.0, 2.0);
            (self.released_bytes, self.answered_bytes) = (0, 0);
        }
    }

    fn settle_pending(&mut self, valve: &mut Valve, bytes: u32) {
        let settled = self.pending.min(bytes);
        self.pending -= settled;
        valve.pending = valve.pending.saturating_sub(u64::from(settled));
    }

    /// The flow goes.
    pub(crate) fn close(&mut self, valve: &mut Valve) {
        self.settle_pending(valve, u32::MAX);
    }
}

/// New data came from the sender, with this TSecr.
pub(crate) fn on_new_data<P: Clone>(
    flow: &mut Flow<P>,
    bytes: u32,
    echo: Option<u32>,
    context: &mut Context<'_, P>,
) {
    flow.flight += bytes;
    context.valve.on_new_data(context.now, u64::from(bytes));
    flow.pool.answered_bytes = flow.pool.answered_bytes.saturating_add(bytes);
    flow.pool.settle_pending(context.valve, bytes);
    if let (Some((value, left)), Some(echo)) = (flow.pool.echo, echo)
        && echo.wrapping_sub(value) as i32 >= 0
    {
        flow.pool.echo = None;
        let sample = context.now.saturating_since(left);
        // The shortest counts; it drifts up slowly so that a longer path is noticed.
        let old = flow.pool.upstream_rtt.unwrap_or(sample);
        flow.pool.upstream_rtt = Some(sample.min(old + Duration::from_nanos(old.as_nanos() / 64)));
    }
}

/// An ACK with a new number has left for the sender.
pub(crate) fn on_released<P: Clone>(
    flow: &mut Flow<P>,
    bytes: u32,
    tsval: Option<u32>,
    context: &mut Context<'_, P>,
) {
    let valve = &mut *context.valve;
    valve.flight = valve.flight.saturating_sub(u64::from(bytes));
    if !context.config.window_control {
        return;
    }
    flow.pool.measure_response(bytes);
    let expected = (bytes as f32 * flow.pool.response) as u32;
    flow.pool.pending = flow.pool.pending.saturating_add(expected);
    valve.pending += u64::from(expected);
    let rate: f64 = context.links.usable().filter_map(|(_, link)| link.model.planning_rate()).sum();
    if rate > 0.0 {
        let time = Duration::from_secs_f64(f64::from(expected) / (rate * PACING_GAIN));
        valve.next_release = valve.next_release.max(context.now) + time;
    }
    flow.pool.pending_until = context.now + flow.pool.upstream().mul_f64(1.25) + UPSTREAM_SLACK;
    if flow.pool.echo.is_none() {
        flow.pool.echo = tsval.map(|value| (value, context.now));
    }
}

/// Lets ACKs of this flow go while there is room; says whether some had to stay.
pub(crate) fn pump<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) -> bool {
    if flow.pool.pending > 0 && context.now >= flow.pool.pending_until {
        // The sender has had its time: whatever it has not sent, it will not send for these ACKs.
        flow.pool.settle_pending(context.valve, u32::MAX);
    }
    while let Some(front) = flow.pool.ready.front() {
        // A duplicate calls up a packet as well: it tells that one has left the network.
        let bytes = front.number.distance_from(flow.released).max(1460) as u64;
        let called_up = (bytes as f32 * flow.pool.response) as u64;
        let paced = context.valve.next_release > context.now + PACING_QUANTUM;
        if paced || !(has_room(flow, called_up, context) || waits_too_long(flow, front, context)) {
            return true;
        }
        if let Some(ack) = flow.pool.pop() {
            flow.pool_wait = context.micros().since(ack.arrived);
            let outgoing = Outgoing::held(&ack, ack.number, ack.keeps_sack());
            release::send(flow, ack.packet, &outgoing, context);
        }
    }
    false
}

/// An ACK that has waited this long goes if the sender has nothing left to answer, whatever the books say of the links.
fn waits_too_long<P: Clone>(flow: &Flow<P>, ack: &HeldAck<P>, context: &Context<'_, P>) -> bool {
    let longest = context.links.largest_hrtt().unwrap_or(MOST_WAIT) * 4;
    flow.pool.pending == 0 && context.micros().since(ack.arrived) > longest.max(MOST_WAIT)
}

/// What may be under way to and on the links, and what is on them.
fn capacity<P: Clone>(flow: &Flow<P>, context: &Context<'_, P>) -> (u64, u64) {
    // What waits for room will be on the links first.
    let (mut cap, mut in_flight) = (0_u64, context.valve.kept);
    for (_, link) in context.links.up() {
        in_flight += link.in_flight_bytes;
        if link.usable {
            cap = cap.saturating_add(link.model.cap_bytes());
        }
    }
    // What is called up now arrives one upstream round trip later, when the links have drained that much.
    let rate: f64 = context.links.usable().filter_map(|(_, link)| link.model.planning_rate()).sum();
    let drained = (rate * (flow.pool.upstream() + UPSTREAM_SLACK).as_secs_f64()) as u64;
    (cap.saturating_add(drained), in_flight)
}

/// True when the data that an ACK over `bytes` calls up fits the links.
fn has_room<P: Clone>(flow: &Flow<P>, bytes: u64, context: &Context<'_, P>) -> bool {
    let (cap, in_flight) = capacity(flow, context);
    // An ACK may stand for more than the links hold; it goes when they are half empty.
    let bytes = bytes.min(cap / 2);
    if in_flight + context.valve.pending + bytes <= cap {
        return true;
    }
    // A flow below its fair share of what is under way goes first; those above it wait.
    let flows = context.valve.waiting.len() as u64 + u64::from(!flow.pool.queued);
    flows > 1 && flow.bytes_out + u64::from(flow.pool.pending) + bytes.min(cap / flows) <= cap / flows
}

/// The right edge up to which the sender of `flow` may send, seen from an ACK with `number`; `None` for no limit of ours.
///
/// Two limits: what the links can use altogether, and what fits them now. The second matters when a hole fills and the
/// receiver's own edge jumps: a single ACK would let out everything that was held up.
pub(crate) fn edge_limit<P: Clone>(
    flow: &Flow<P>,
    number: SeqNumber,
    context: &Context<'_, P>,
) -> Option<SeqNumber> {
    let total = context.valve.flight_limit?;
    let flows = (context.valve.waiting.len() as u64).max(1);
    let share = (total / flows).clamp(20 * 1460, MOST_FLIGHT) as u32;
    let mut edge = number + share;
    if let Some(sent_end) = flow.sent_end {
        let (cap, in_flight) = capacity(flow, context);
        let advance = number.distance_from(flow.released).max(0) as u64;
        let room = cap.saturating_sub(in_flight) / flows + 2 * advance + EDGE_SLACK;
        edge = edge.min(sent_end.max(number) + room.min(MOST_FLIGHT) as u32);
    }
    Some(flow.edge_sent.map_or(edge, |sent| edge.max(sent)))
}
