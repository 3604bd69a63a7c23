//! Beyond the paper: ACKs as a valve, so that no queue on a link ever overflows.
//!
//! The links' caps say how much may be in flight on them. ACKs that are ready to go wait here while the links are full;
//! they leave as room appears. A sender that pushes harder than the links carry thus fills this *pool of ACKs* instead of
//! the links' queues: its data is delivered at full rate, its round-trip time grows smoothly, its window keeps growing, and
//! nothing is lost. The size of the pool says how much delay the sender can already cover, that is, which slower link may join
//! without stalling the ACK clock ([`crate::parking`]). Beyond what the links can use, the advertised window stops it.
mod pool;

pub(crate) use pool::AckPool;

use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::reverse_path::Context;
use crate::reverse_path::release::{self, Outgoing};
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A sender's answer may come this much later than the shortest round trip.
const UPSTREAM_SLACK: Duration = Duration::from_millis(2);
/// ACKs go out at most this much faster than the links carry data, ...
const PACING_GAIN: f64 = 1.25;
/// ... in bursts of this length at most.
const PACING_QUANTUM: Duration = Duration::from_millis(2);
/// ACKs to a sender in slow start come in trains no longer than this, ...
const LONGEST_TRAIN: Duration = Duration::from_millis(7);
/// ... with so much between them, see [`pause_end`].
const TRAIN_GAP: Duration = Duration::from_millis(3);
/// A sender that answers an acknowledged byte with more new ones than this is in slow start.
const SLOW_START_RESPONSE: f32 = 1.2;
/// Timers for the pace are at least this far ahead: ACKs go in small groups, not one by one.
const LEAST_WAIT: Duration = Duration::from_micros(100);
/// Bytes that the right edge may always lead what is expected by, so that a growing window is not stopped, ...
const EDGE_SLACK: u64 = 24_000;
/// ... and what the links carry in this time.
const EDGE_SLACK_TIME: Duration = Duration::from_millis(4);
/// New data that a byte acknowledged may call up: two bytes, as in slow start.
const MOST_RESPONSE: f32 = 2.0;
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
    /// When flows that wait are to be served by the pace; [`Instant::MAX`] when only room can help them.
    pub(crate) serve_at: Instant,
    /// When the first pause of [`pause_end`] ends; [`Instant::MAX`] for none.
    pub(crate) pause_ends: Instant,
    /// When packets that wait for the pace of a link are to be looked at; [`Instant::MAX`] when none do.
    pub(crate) serve_backlog_at: Instant,
    /// Some link is to be measured with copies.
    pub(crate) wants_probes: bool,
    /// What the usable links carry, bytes per second.
    rate: f64,
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
            serve_at: Instant::MAX,
            pause_ends: Instant::MAX,
            serve_backlog_at: Instant::MAX,
            wants_probes: false,
            rate: 0.0,
        }
    }
}

impl Valve {
    /// Those whose turn it was have been served: one timer for all who wait on.
    pub(crate) fn plan_service(&mut self, now: Instant) {
        let at = self.next_release - PACING_QUANTUM;
        let paced = if at > now { at } else { Instant::MAX };
        let next = paced.min(self.serve_backlog_at).min(self.pause_ends);
        let next = if self.waiting.is_empty() { Instant::MAX } else { next };
        self.serve_at = if next < Instant::MAX { next.max(now + LEAST_WAIT) } else { next };
    }

    /// New data of `bytes` came from a sender.
    fn on_new_data(&mut self, now: Instant, bytes: u64) {
        self.flight += bytes;
        if now.saturating_since(self.peak_since) > FLIGHT_WINDOW {
            self.peak = [0, self.peak[0]];
            self.peak_since = now;
        }
        self.peak[0] = self.peak[0].max(self.flight);
    }

    /// The largest flight of the last second: what senders are able to keep under way.
    pub(crate) fn peak_flight(&self) -> u64 {
        self.peak[0].max(self.peak[1])
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
    context.valve.flight = context.valve.flight.saturating_sub(u64::from(bytes));
    if !context.config.window_control {
        return;
    }
    flow.pool.measure_response(context.now, bytes);
    let expected = called_up(flow, u64::from(bytes)).min(u64::from(u32::MAX)) as u32;
    let valve = &mut *context.valve;
    flow.pool.expire_pending(context.now, valve);
    flow.pool.asked.note(expected, bytes);
    valve.pending += u64::from(expected);
    let rate: f64 = context.links.usable().filter_map(|(_, link)| link.model.planning_rate()).sum();
    valve.rate = rate;
    if rate > 0.0 {
        // No sender is let to send more at once than the links hold, whatever a single ACK covers.
        let cap: u64 =
            context.links.usable().map(|(_, link)| link.model.cap_bytes()).fold(0, u64::saturating_add);
        let bytes = u64::from(expected).min(cap);
        let time = Duration::from_secs_f64(bytes as f64 / (rate * PACING_GAIN));
        valve.next_release = valve.next_release.max(context.now) + time;
    }
    flow.pool.note_train(context.now, TRAIN_GAP);
    flow.pool.note_tsval(context.now, tsval);
}

/// Lets ACKs of this flow go while there is room; says whether some had to stay.
pub(crate) fn pump<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) -> bool {
    flow.pool.expire_pending(context.now, context.valve);
    while let Some(front) = flow.pool.ready.front() {
        if let Some(end) = pause_end(flow, context) {
            context.valve.pause_ends = context.valve.pause_ends.min(end);
            return true;
        }
        // A duplicate calls up a packet as well: it tells that one has left the network.
        let bytes = front.number.distance_from(flow.released).max(1460) as u64;
        let called_up = called_up(flow, bytes);
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

/// When the pause ends that the ACKs of this flow make, if they make one.
///
/// Linux's CUBIC ends slow start when a round's ACKs, none more than 2 ms after the other, come for longer than half of the
/// shortest round trip (HyStart): on one link the window then covers it, over several it covers the nearest. One
/// pause in the first half of a round, and the train is none; a rise of the round-trip time still ends slow start.
fn pause_end<P: Clone>(flow: &Flow<P>, context: &Context<'_, P>) -> Option<Instant> {
    let in_slow_start = context.config.window_control && flow.pool.response > SLOW_START_RESPONSE;
    if !in_slow_start || flow.pool.train(context.now) < LONGEST_TRAIN {
        return None;
    }
    Some(flow.pool.last_release + TRAIN_GAP).filter(|end| *end > context.now)
}

/// An ACK that has waited this long goes if the sender has nothing left to answer, whatever the books say of the links.
fn waits_too_long<P: Clone>(flow: &Flow<P>, ack: &HeldAck<P>, context: &Context<'_, P>) -> bool {
    let longest = context.links.largest_hrtt().unwrap_or(MOST_WAIT) * 4;
    flow.pool.asked.bytes() == 0 && context.micros().since(ack.arrived) > longest.max(MOST_WAIT)
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
    flows > 1 && flow.bytes_out + u64::from(flow.pool.asked.bytes()) + bytes.min(cap / flows) <= cap / flows
}

/// The right edge up to which the sender of `flow` may send, seen from an ACK with `number`; `None` for no limit of ours.
///
/// Two limits: what the links can use altogether, and twice what was acknowledged lately. The second matters to a sender whose
/// congestion window is larger than what we let it send: when the receiver's own edge jumps because a hole fills, or when
/// more links join, a single ACK would let out a burst that no queue holds.
pub(crate) fn edge_limit<P: Clone>(
    flow: &Flow<P>,
    number: SeqNumber,
    context: &Context<'_, P>,
) -> Option<SeqNumber> {
    let total = context.valve.flight_limit?;
    if flow.history.len() as u32 >= context.config.max_packets_per_flow / 4 * 3 {
        // What is not on record cannot be re-sequenced.
        return flow.edge_sent;
    }
    let flows = (context.valve.waiting.len() as u64).max(1);
    let share = (total / flows).clamp(20 * 1460, MOST_FLIGHT) as u32;
    let mut edge = number + share;
    if let (Some(sent_end), Some(shown)) = (flow.sent_end, flow.edge_sent) {
        let advance = number.distance_from(flow.released).max(0) as u64;
        // What is under way may grow as fast as in slow start (the window field is rounded down to its unit), ...
        let unit = 1 << flow.window.shift().unwrap_or(0);
        let grown = (MOST_RESPONSE * advance as f32) as u64 + unit;
        // ... but the sender never has more to answer at once than it was just asked for.
        let slack = EDGE_SLACK + (context.valve.rate * EDGE_SLACK_TIME.as_secs_f64()) as u64;
        let unanswered =
            (MOST_RESPONSE * (flow.pool.asked.released() as f32 + advance as f32)) as u64 + slack;
        let next = shown.max(sent_end) + grown.min(MOST_FLIGHT) as u32;
        edge = edge
            .min(next.max(sent_end + EDGE_SLACK as u32))
            .min(sent_end + unanswered.min(MOST_FLIGHT) as u32);
    }
    Some(flow.edge_sent.map_or(edge, |sent| edge.max(sent)))
}

/// New data expected in answer to an ACK over `bytes`.
fn called_up<P>(flow: &Flow<P>, bytes: u64) -> u64 {
    (bytes as f64 * f64::from(flow.pool.response)) as u64
}
