//! The proxy: flows, links and verdicts.
mod endpoint;
mod look;
mod timing;

pub use endpoint::ProxyInput;

use crate::config::{LinkConfig, ProxyConfig};
use crate::flow::Flow;
use crate::flow_table::{FlowTable, fold};
use crate::forward::{self, Placement};
use crate::link_table::{LinkId, LinkTable};
use crate::parking;
use crate::reverse_path::{self, Context, Scratch, release, timers};
use crate::scheduler::Scheduler;
use crate::status::ProxyCounters;
use crate::verdict::{AckRewrite, DataRewrite, DropReason, Verdict};
use crate::window_control::Valve;
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use prismux_endpoint::Deadline;
use prismux_units::Instant;
use prismux_wire::{FlowKey, TcpFlags, TcpHeader};
use timing::{arm, expiry};

/// The PRISM inverse multiplexer. `P` is a packet as the host knows it: cheap to clone.
#[derive(Debug)]
pub struct Proxy<P> {
    config: ProxyConfig,
    links: LinkTable,
    scheduler: Box<dyn Scheduler>,
    flows: FlowTable<P>,
    verdicts: VecDeque<Verdict<P>>,
    counters: ProxyCounters,
    scratch: Scratch,
    valve: Valve,
    /// One entry per flow that wants to be looked at; entries that no longer match the flow are stale.
    timers: BinaryHeap<Reverse<(Instant, u32)>>,
    /// The same for flows that may have ended: apart, because these lie minutes ahead and would pile up stale.
    endings: BinaryHeap<Reverse<(Instant, u32)>>,
}

/// Runs `$body` with a flow and the context for it.
macro_rules! with_flow {
    ($proxy:expr, $now:expr, $number:expr, |$flow:ident, $context:ident| $body:expr) => {
        if let Some($flow) = $proxy.flows.get_mut($number) {
            let $context = &mut Context {
                now: $now,
                config: &$proxy.config,
                links: &mut $proxy.links,
                out: &mut $proxy.verdicts,
                counters: &mut $proxy.counters,
                scratch: &mut $proxy.scratch,
                scheduler: &mut *$proxy.scheduler,
                valve: &mut $proxy.valve,
                number: $number,
            };
            $body;
            arm($flow, $number, $context, &mut $proxy.timers, &mut $proxy.endings);
        }
    };
}

impl<P: Clone> Proxy<P> {
    /// A proxy without links.
    pub fn new(config: ProxyConfig) -> Self {
        Self {
            links: LinkTable::default(),
            scheduler: config.scheduler.build(config.seed),
            flows: FlowTable::new(config.seed.stream("prism/flow-hash").next_u64()),
            verdicts: VecDeque::new(),
            counters: ProxyCounters::default(),
            scratch: Scratch::default(),
            valve: Valve::default(),
            timers: BinaryHeap::new(),
            endings: BinaryHeap::new(),
            config,
        }
    }

    /// The settings.
    pub fn config(&self) -> &ProxyConfig {
        &self.config
    }

    /// Lets `scheduler` pick the links from now on, whatever the settings name.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
    }

    /// A member offers its link. Joining under a number that is in use replaces the name and rate.
    pub fn join(&mut self, now: Instant, link: LinkId, config: LinkConfig) {
        if self.links.get(link).is_some_and(|old| old.left_at().is_some()) {
            // It comes back before its old packets were settled.
            self.settle_departure(now, link);
        }
        self.links.join(now, link, config, &self.config);
    }

    /// A member goes away; unknown links are ignored. What it still carries may arrive for two more hRTT.
    pub fn leave(&mut self, now: Instant, link: LinkId) {
        if !self.links.leave(now, link, &self.config) {
            return;
        }
        let touched: Vec<u32> = self.flows.numbers().collect();
        for number in touched {
            // Their deadlines have changed; the packets themselves may still arrive.
            with_flow!(self, now, number, |flow, context| timers::handle(flow, context));
        }
    }

    fn settle_departure(&mut self, now: Instant, link: LinkId) {
        self.links.forget_departure(link);
        let numbers: Vec<u32> = self.flows.numbers().collect();
        for number in numbers {
            with_flow!(self, now, number, |flow, context| timers::give_up_link(flow, link, context));
        }
    }

    /// A TCP packet towards the receiver. `wire_bytes` is what it takes on a link.
    pub fn handle_data(
        &mut self,
        now: Instant,
        flow: FlowKey,
        header: &TcpHeader,
        payload_bytes: u32,
        wire_bytes: u32,
        packet: P,
    ) {
        let _ = wire_bytes;
        self.counters.data_packets += 1;
        let Some(number) = self.flow_for_data(now, flow, header, payload_bytes) else {
            let hash = crate::flow_table::hash(&flow, 0);
            return self.handle_opaque(now, hash, packet);
        };
        let clamp = self.config.mss_clamp;
        self.links.backlogged = !self.valve.waiting.is_empty();
        let mut recorded = true;
        with_flow!(self, now, number, |flow, context| {
            match forward::schedule(flow, header, payload_bytes, context) {
                Some(placement) => {
                    let syn = header.flags.contains(TcpFlags::SYN);
                    recorded = !matches!(placement, Placement::Unrecorded(_));
                    if recorded && placement != Placement::Needless {
                        keep_copy(flow, header, payload_bytes, &packet, context);
                    }
                    match placement {
                        Placement::Needless => {
                            context.counters.needless_retransmissions += 1;
                            let reason = DropReason::NeedlessRetransmission;
                            context.out.push_back(Verdict::Drop { packet, reason });
                        }
                        Placement::Waits => {
                            context.counters.waited_packets += 1;
                            reverse_path::wait_for_room(flow, context);
                        }
                        Placement::Over(link) | Placement::Unrecorded(link) => {
                            let rewrite =
                                DataRewrite { mss_clamp: clamp.filter(|_| syn), ..DataRewrite::default() };
                            context.out.push_back(Verdict::Forward { link, packet, rewrite });
                        }
                    }
                }
                None => {
                    context.counters.dropped_no_link += 1;
                    context.out.push_back(Verdict::Drop { packet, reason: DropReason::NoLink });
                }
            }
        });
        if recorded {
            self.review(now);
        }
    }

    /// The flow of a data packet, new if need be; `None` when the table is full or the packet opens nothing.
    fn flow_for_data(
        &mut self,
        now: Instant,
        key: FlowKey,
        header: &TcpHeader,
        payload_bytes: u32,
    ) -> Option<u32> {
        if let Some(number) = self.flows.find(&key) {
            return Some(number);
        }
        if header.sequence_length(payload_bytes) == 0 || header.flags.contains(TcpFlags::RST) {
            return None;
        }
        let number = self.new_flow(now, key)?;
        self.counters.midstream_flows += u64::from(!header.flags.contains(TcpFlags::SYN));
        Some(number)
    }

    fn new_flow(&mut self, now: Instant, key: FlowKey) -> Option<u32> {
        (self.flows.len() < self.config.max_flows as usize).then(|| self.flows.insert(now, key))
    }

    /// A TCP packet from the receiver towards the sender of `data_flow`.
    pub fn handle_reverse(
        &mut self,
        now: Instant,
        data_flow: FlowKey,
        header: &TcpHeader,
        payload_bytes: u32,
        packet: P,
    ) {
        self.counters.reverse_packets += 1;
        let syn = header.flags.contains(TcpFlags::SYN);
        let mut number = self.flows.find(&data_flow);
        if number.is_none() && syn && !header.flags.contains(TcpFlags::RST) {
            number = self.new_flow(now, data_flow);
        }
        let Some(number) = number else {
            let mss_clamp = self.config.mss_clamp.filter(|_| syn);
            let rewrite = AckRewrite { mss_clamp, ..AckRewrite::identity(header) };
            return self.verdicts.push_back(Verdict::Release { packet, rewrite });
        };
        let mut believed = false;
        with_flow!(self, now, number, |flow, context| {
            believed = reverse(flow, header, payload_bytes, packet, context);
        });
        if believed {
            self.serve_waiting(now);
            self.review(now);
        }
    }

    /// Flows whose ACKs wait for room get their turn.
    fn serve_waiting(&mut self, now: Instant) {
        if self.valve.serve_backlog_at <= now {
            self.valve.serve_backlog_at = Instant::MAX;
        }
        let mut turns = self.valve.waiting.len().min(2);
        if self.valve.pause_ends <= now {
            // It is not known whose pause it was; those that still make one say so again.
            self.valve.pause_ends = Instant::MAX;
            turns = self.valve.waiting.len();
        }
        for _ in 0..turns {
            let Some(number) = self.valve.waiting.pop_front() else { break };
            with_flow!(self, now, number, |flow, context| {
                flow.pool.queued = false;
                reverse_path::wait_for_room(flow, context)
            });
        }
        self.valve.plan_service(now);
    }

    /// Looks at the links from time to time: weights from learned rates, parking, the senders' limit.
    fn review(&mut self, now: Instant) {
        if !self.config.learn_rates || now.saturating_since(self.valve.reviewed) < parking::REVIEW_INTERVAL {
            return;
        }
        parking::review(now, &mut self.links, &mut self.valve, self.config.parking);
        self.links.assign_weights(&self.config);
    }

    /// A packet towards the receiver whose header says nothing to the proxy (UDP, QUIC, IPsec): all packets with one
    /// hash take one link, chosen by weight, and only the flows of a departed link move.
    pub fn handle_opaque(&mut self, now: Instant, flow_hash: u64, packet: P) {
        let _ = now;
        self.counters.opaque_packets += 1;
        // Weighted rendezvous: each link draws an exponential time of rate W from the hash; the earliest wins.
        let score = |id: LinkId, weight: f64| {
            let draw = fold(flow_hash ^ 0xA076_1D64_78BD_642F, u64::from(id.0) ^ 0xE703_7ED1_A0B4_28DB);
            let uniform = ((draw >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            -libm::log(uniform) / weight.max(1e-9)
        };
        let scored = self.links.usable().map(|(id, link)| (score(id, link.full_weight), id));
        let verdict = match scored.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, link)) => Verdict::Forward { link, packet, rewrite: DataRewrite::default() },
            None => {
                self.counters.dropped_no_link += 1;
                Verdict::Drop { packet, reason: DropReason::NoLink }
            }
        };
        self.verdicts.push_back(verdict);
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&Reverse((at, number))) = self.timers.peek() {
            if at > now {
                break;
            }
            self.timers.pop();
            let Some(flow) = self.flows.get_mut(number).filter(|flow| flow.timer_at == at) else { continue };
            flow.timer_at = Instant::MAX;
            with_flow!(self, now, number, |flow, context| timers::handle(flow, context));
        }
        self.end_flows(now);
        self.serve_waiting(now);
    }

    /// Forgets flows that have ended; looks again later at those that have not.
    fn end_flows(&mut self, now: Instant) {
        while let Some(&Reverse((at, number))) = self.endings.peek() {
            if at > now {
                return;
            }
            self.endings.pop();
            let Some(flow) = self.flows.get_mut(number).filter(|flow| flow.idle_at == at) else { continue };
            flow.idle_at = expiry(flow, self.config.flow_idle);
            if flow.idle_at <= now {
                self.forget(now, number);
            } else {
                self.endings.push(Reverse((flow.idle_at, number)));
            }
        }
    }

    /// Lets a flow go: what it holds goes out, what it has in flight is no longer counted.
    fn forget(&mut self, now: Instant, number: u32) {
        with_flow!(self, now, number, |flow, context| {
            release::held_in_original_form(flow, context);
            forward::settle(flow, context)
        });
        self.flows.remove(number);
    }

    /// When to call [`Proxy::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let next = |heap: &BinaryHeap<Reverse<(Instant, u32)>>, why| {
            heap.peek().map(|&Reverse((at, _))| Deadline { at, why })
        };
        let paced = self.valve.serve_at;
        let paced = (paced < Instant::MAX).then_some(Deadline { at: paced, why: "prism-pace" });
        let flows = Deadline::earliest(next(&self.timers, "prism"), next(&self.endings, "prism-flow-end"));
        Deadline::earliest(flows, paced)
    }

    /// The next verdict; call until `None` after every other call.
    pub fn poll_verdict(&mut self) -> Option<Verdict<P>> {
        self.verdicts.pop_front()
    }
}

/// Keeps a copy of a new data packet for repair and probing.
fn keep_copy<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: &P,
    context: &mut Context<'_, P>,
) {
    let budget = context.config.repair_budget_packets;
    let length = header.sequence_length(payload_bytes);
    if budget > 0 && length > 0 && length <= u32::from(u16::MAX) {
        flow.copies.keep(header.seq, length as u16, packet, &mut context.valve.copies, budget);
    }
}

/// A TCP packet from the receiver, by kind; says whether it was believed.
fn reverse<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: P,
    context: &mut Context<'_, P>,
) -> bool {
    let flags = header.flags;
    let mss_clamp = context.config.mss_clamp.filter(|_| flags.contains(TcpFlags::SYN));
    let rewrite = AckRewrite { mss_clamp, ..AckRewrite::identity(header) };
    if let Some(renewal) = flow.renewal(header).filter(|_| flow.is_live()) {
        forward::settle(flow, context);
        flow.renew(context.now);
        renewal.open(flow);
    }
    let believed = if flags.contains(TcpFlags::RST) {
        let resets = flow.finished.reset.is_none() && flow.is_reset_by_receiver(header);
        if resets {
            forward::reset(flow, context);
        }
        resets
    } else if flags.contains(TcpFlags::SYN) {
        reverse_syn(flow, header, context)
    } else if flow.finished.reset.is_none() && flow.believes_receiver(header) {
        heard(flow, header, payload_bytes, context);
        if flags.contains(TcpFlags::ACK) {
            reverse_path::handle_ack(flow, header, payload_bytes, packet, context);
            return true;
        }
        true
    } else {
        context.counters.implausible_acks += u64::from(flow.finished.reset.is_none());
        false
    };
    context.out.push_back(Verdict::Release { packet, rewrite });
    believed
}

/// The receiver's SYN or SYN-ACK; says whether it was believed.
fn reverse_syn<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, context: &mut Context<'_, P>) -> bool {
    let answers = header.flags.contains(TcpFlags::ACK);
    if flow.is_live() {
        flow.remember_receiver_syn(header);
        return false;
    }
    if !answers {
        // A new connection between the same ports.
        forward::settle(flow, context);
        flow.renew(context.now);
    }
    heard(flow, header, 0, context);
    flow.window.on_receiver_syn(header.options.window_scale);
    flow.latest_tsval(header.options.timestamps.map(|timestamps| timestamps.value));
    if answers {
        reverse_path::handle_syn_ack(flow, header, context);
    }
    true
}

/// A packet of the receiver that is believed.
fn heard<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, payload_bytes: u32, context: &Context<'_, P>) {
    flow.last_activity = context.now;
    flow.heard = context.micros();
    flow.tail_probe.on_heard();
    flow.evidence.note_receiver(header, payload_bytes);
    if header.flags.contains(TcpFlags::ACK) {
        flow.note_echo(header.options.timestamps.map(|timestamps| timestamps.echo));
    }
    flow.finished.reverse |= header.flags.contains(TcpFlags::FIN);
}
