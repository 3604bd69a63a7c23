//! The proxy: flows, links and verdicts.
mod endpoint;
mod opaque;
mod status;
#[cfg(test)]
mod tests;
mod timers;
mod unconfirmed;

pub use endpoint::ProxyInput;

use crate::config::{LinkConfig, ProxyConfig};
use crate::data_path::Passed;
use crate::flow::Flow;
use crate::flow_table::FlowTable;
use crate::ids::LinkId;
use crate::reverse_path::timers as flow_timers;
use crate::scheduler::Scheduler;
use crate::shared::{AckPacer, Shared};
use crate::verdict::{AckRewrite, Verdict};
use crate::{data_path, dispatch, ending, link_selection, pacing, reverse_path};
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_endpoint::Deadline;
use prismux_receipts::LinkEstimate;
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, TcpFlags, TcpHeader};
use timers::Timers;
use unconfirmed::Unconfirmed;

/// So many flows that wait get their turn for each packet of a receiver.
const TURNS: usize = 2;
/// And so many at once when it is not known which of them can go on; where more wait, the next of them after
/// [`TURNS_PAUSE`]: of 20,000 each would cost all others a turn every few milliseconds.
const MAX_TURNS: usize = 256;
/// See [`MAX_TURNS`].
const TURNS_PAUSE: Duration = Duration::from_millis(1);

/// The PRISM inverse multiplexer. `P` is a packet as the host knows it: cheap to clone.
#[derive(Debug)]
pub struct Proxy<P> {
    flows: FlowTable<P>,
    shared: Shared<P>,
    timers: Timers,
    unconfirmed: Unconfirmed,
}

impl<P: Clone> Proxy<P> {
    /// A proxy without links.
    pub fn new(config: ProxyConfig) -> Self {
        Self {
            flows: FlowTable::new(config.seed.stream("prism/flow-hash").next_u64()),
            shared: Shared::new(config),
            timers: Timers::default(),
            unconfirmed: Unconfirmed::default(),
        }
    }

    /// The settings.
    pub fn config(&self) -> &ProxyConfig {
        &self.shared.config
    }

    /// Lets `scheduler` pick the links from now on, whatever the settings name.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.shared.scheduler = scheduler;
    }

    /// A member offers its link. Joining under a number that is in use replaces the name and rate.
    pub fn join(&mut self, now: Instant, link: LinkId, config: LinkConfig) {
        if self.shared.links.get(link).is_some_and(|old| old.left_at().is_some()) {
            // It comes back before its old packets were settled.
            self.shared.links.forget_departure(link);
            self.with_all(now, |flow, shared| flow_timers::give_up_link(flow, link, shared, now));
        }
        let joined = self.shared.links.get(link).is_none_or(|old| !old.up).then_some(link);
        self.shared.links.join(now, link, config, &self.shared.config);
        self.tell_flows(joined);
    }

    /// A member goes away; unknown links are ignored. What it still carries may arrive for two more hRTT.
    pub fn leave(&mut self, now: Instant, link: LinkId) {
        if self.shared.links.leave(now, link, &self.shared.config) {
            self.tell_flows(None);
            // Deadlines have changed; the packets themselves may still arrive.
            self.with_all(now, |flow, shared| flow_timers::handle(flow, shared, now));
        }
    }

    /// Links have come or gone: where flows have their own state of them, it follows.
    fn tell_flows(&mut self, joined: Option<LinkId>) {
        if self.shared.has_state_per_flow() {
            let Shared { links, config, .. } = &self.shared;
            self.flows.iter_mut().for_each(|flow| links.tell(&mut flow.variables, joined, config));
        }
    }

    /// Does something with one flow, and makes sure that it is looked at when it next needs to be; `None` for a
    /// number that no flow has.
    fn with_flow<R>(
        &mut self,
        now: Instant,
        number: u32,
        act: impl FnOnce(&mut Flow<P>, &mut Shared<P>) -> R,
    ) -> Option<R> {
        self.with_flow_unless(now, number, act, |_| false)
    }

    /// As [`Proxy::with_flow`]; what was done needs no sooner look if `brings_nothing_nearer` says so of its result.
    fn with_flow_unless<R>(
        &mut self,
        now: Instant,
        number: u32,
        act: impl FnOnce(&mut Flow<P>, &mut Shared<P>) -> R,
        brings_nothing_nearer: impl FnOnce(&R) -> bool,
    ) -> Option<R> {
        let flow = self.flows.get_mut(number)?;
        let before = flow.history.len();
        let mut own = self.shared.has_state_per_flow().then(|| core::mem::take(&mut flow.variables));
        if let Some(own) = &mut own {
            self.shared.links.exchange(own);
        }
        let result = act(flow, &mut self.shared);
        let recorded = &mut self.shared.totals.recorded_packets;
        *recorded = recorded.saturating_sub(before) + flow.history.len();
        if !brings_nothing_nearer(&result) || flow.timer_at == Instant::MAX {
            self.timers.arm(flow, &self.shared, now);
        }
        self.timers.arm_ending(flow, &self.shared);
        if let Some(mut own) = own {
            self.shared.links.exchange(&mut own);
            flow.variables = own;
        }
        Some(result)
    }

    fn with_all(&mut self, now: Instant, mut act: impl FnMut(&mut Flow<P>, &mut Shared<P>)) {
        let numbers: Vec<u32> = self.flows.numbers().collect();
        for number in numbers {
            self.with_flow(now, number, &mut act);
        }
    }

    /// A TCP packet towards the receiver.
    pub fn handle_data(
        &mut self,
        now: Instant,
        flow: FlowKey,
        header: &TcpHeader,
        payload_bytes: u32,
        packet: P,
    ) {
        self.shared.counters.data_packets += 1;
        let Some(number) = self.flow_for_data(now, flow, header, payload_bytes) else {
            let hash = crate::flow_table::hash(&flow, 0);
            return self.handle_opaque(hash, packet);
        };
        self.shared.note_backlog();
        let pass = |flow: &mut Flow<P>, shared: &mut Shared<P>| {
            data_path::handle(flow, header, payload_bytes, packet, shared, now)
        };
        let passed = self.with_flow_unless(now, number, pass, |&passed| passed == Passed::BehindOthers);
        if passed.is_some_and(|passed| passed != Passed::Unrecorded) {
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
        self.shared.counters.midstream_flows += u64::from(!header.flags.contains(TcpFlags::SYN));
        Some(number)
    }

    fn new_flow(&mut self, now: Instant, key: FlowKey) -> Option<u32> {
        let max_flows = self.shared.config.max_flows as usize;
        if self.flows.len() >= max_flows {
            let oldest = self.unconfirmed.oldest(&self.flows)?;
            self.forget(now, oldest);
        }
        let number = self.flows.insert(now, key);
        self.unconfirmed.note(number, key, &self.flows, max_flows);
        Some(number)
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
        self.shared.counters.reverse_packets += 1;
        let syn = header.flags.contains(TcpFlags::SYN);
        let mut number = self.flows.find(&data_flow);
        if number.is_none() && syn && !header.flags.contains(TcpFlags::RST) {
            number = self.new_flow(now, data_flow);
        }
        let Some(number) = number else {
            let mss_clamp = self.shared.config.mss_clamp.filter(|_| syn);
            let rewrite = AckRewrite { mss_clamp, ..AckRewrite::identity(header) };
            return self.shared.verdicts.push_back(Verdict::Release { packet, rewrite });
        };
        let believed = self.with_flow(now, number, |flow, shared| {
            reverse_path::handle(flow, header, payload_bytes, packet, shared, now)
        });
        if believed == Some(true) {
            self.serve_waiting(now);
            self.review(now);
        }
    }

    /// Flows whose ACKs wait for room get their turn.
    fn serve_waiting(&mut self, now: Instant) {
        let pacer = &mut self.shared.pacer;
        pacer.served_at = now;
        if pacer.backlog_at <= now {
            pacer.backlog_at = Instant::MAX;
        }
        if pacer.serves_many() {
            self.serve_backlogs(now);
        }
        let pacer = &mut self.shared.pacer;
        let mut turns = pacer.waiting.len().min(TURNS);
        if pacer.pause_ends <= now {
            // It is not known whose pause it was; flows that still make one say so again.
            pacer.pause_ends = Instant::MAX;
            pacer.unvisited = pacer.waiting.len();
        }
        if pacer.wait_ends <= now {
            // Nor whose packet waited.
            pacer.wait_ends = Instant::MAX;
            pacer.unvisited = pacer.waiting.len();
        }
        let visits = pacer.unvisited > 0 && pacer.visit_at <= now;
        if visits {
            turns = pacer.unvisited.min(MAX_TURNS);
            pacer.unvisited -= turns;
            pacer.visit_at = if pacer.unvisited > 0 { now + TURNS_PAUSE } else { now };
        }
        let mut first_stays = false;
        for _ in 0..turns {
            let pacer = &mut self.shared.pacer;
            let Some(number) = pacer.waiting.remove(usize::from(first_stays)) else { break };
            pacer.turn_of = (!first_stays).then_some(number);
            pacer.turn_lacks_room = false;
            self.with_flow(now, number, |flow, shared| {
                flow.acks.queued = false;
                pacing::send_or_wait(flow, shared, now);
            });
            first_stays |= pacing::end_turn(&mut self.shared.pacer);
            if first_stays && !visits {
                // The room that there is, is the first one's: the next would find none.
                break;
            }
        }
        pacing::plan_service(&mut self.shared.pacer, now);
    }

    /// Packets that wait at the proxy leave while there is room, of each flow in turn.
    fn serve_backlogs(&mut self, now: Instant) {
        for _ in 0..MAX_TURNS {
            let Some(number) = self.shared.pacer.with_backlog.pop_front() else { return };
            let turn = self.with_flow(now, number, |flow, shared| {
                let before = flow.backlog.len();
                dispatch::send(flow, shared, now);
                flow.backlog.queued = !flow.backlog.is_empty();
                (flow.backlog.queued, flow.backlog.len() < before)
            });
            let Some((waits, moved)) = turn else { continue };
            if waits {
                self.shared.pacer.with_backlog.push_back(number);
            }
            if !moved {
                return;
            }
        }
    }

    /// Reviews the links from time to time: weights from learned rates, links set aside, the senders' limit.
    fn review(&mut self, now: Instant) {
        let Shared { config, links, selection, totals, .. } = &mut self.shared;
        if config.learn_rates && now.saturating_since(selection.reviewed) >= link_selection::REVIEW_INTERVAL {
            link_selection::review(now, links, selection, totals.peak_flight(), config.standby);
            links.share_out(config);
        }
    }

    /// Receipts say this of a link now, whose tunnel adds `tunnel_bytes` to a packet. Only where links are learned does
    /// it change anything.
    pub fn handle_estimate(
        &mut self,
        now: Instant,
        link: LinkId,
        estimate: &LinkEstimate,
        tunnel_bytes: u32,
    ) {
        if let Some(measured) = self.shared.links.get_mut(link).filter(|link| link.up) {
            measured.model.on_estimate(now, estimate, tunnel_bytes);
            self.shared.links.note_receipt(now, link, estimate.in_flight_bytes);
            self.serve_waiting(now);
        }
    }

    /// Receipts show that the packet at `position` did not come out of `link`; see [`Verdict::Forward`].
    pub fn handle_lost(&mut self, now: Instant, link: LinkId, position: u32) {
        let known = self.shared.links.get(link).and_then(|link| link.packet_at(position));
        if let Some((flow, seq)) = known {
            self.with_flow(now, flow, |flow, shared| {
                flow_timers::reported_lost(flow, link, position, seq, shared, now);
            });
        }
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, number)) = self.timers.next_due(now) {
            let Some(flow) = self.flows.get_mut(number).filter(|flow| flow.timer_at == at) else { continue };
            flow.timer_at = Instant::MAX;
            self.with_flow(now, number, |flow, shared| flow_timers::handle(flow, shared, now));
        }
        if self.shared.links.expire_answers(now) {
            self.shared.selection.reviewed = Instant::ZERO;
            self.review(now);
            self.with_all(now, |flow, shared| flow_timers::handle(flow, shared, now));
        }
        self.end_flows(now);
        // A deadline of one flow among many that wait makes little room for the others.
        let AckPacer { serve_at, served_at, .. } = self.shared.pacer;
        if serve_at <= now || !self.shared.pacer.serves_many() || served_at + TURNS_PAUSE <= now {
            self.serve_waiting(now);
        } else {
            pacing::plan_service(&mut self.shared.pacer, now);
        }
    }

    /// Forgets flows that have ended; looks again later at those that have not.
    fn end_flows(&mut self, now: Instant) {
        while let Some((at, number)) = self.timers.next_ending(now) {
            let Some(flow) = self.flows.get_mut(number).filter(|flow| flow.idle_at == at) else { continue };
            flow.idle_at = timers::expiry(flow, self.shared.config.flow_idle);
            if flow.idle_at <= now {
                self.forget(now, number);
            } else {
                self.timers.await_ending(flow.idle_at, number);
            }
        }
    }

    /// Lets a flow go: what it holds goes out, what it has in flight is no longer counted.
    fn forget(&mut self, now: Instant, number: u32) {
        self.with_flow(now, number, |flow, shared| {
            reverse_path::release::held_in_original_form(flow, shared, now);
            ending::settle(flow, shared);
        });
        let gone = self.flows.get(number).map_or(0, |flow| flow.history.len());
        self.shared.totals.recorded_packets = self.shared.totals.recorded_packets.saturating_sub(gone);
        self.flows.remove(number);
    }

    /// When to call [`Proxy::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let paced = self.shared.pacer.serve_at;
        let paced = (paced < Instant::MAX).then_some(Deadline { at: paced, why: "prism-pace" });
        let answers = self.shared.links.answers_due.map(|at| Deadline { at, why: "prism-receipts" });
        let paced = Deadline::earliest(paced, answers);
        Deadline::earliest(self.timers.deadline(), paced)
    }

    /// The next verdict; call until `None` after every other call.
    pub fn poll_verdict(&mut self) -> Option<Verdict<P>> {
        self.shared.verdicts.pop_front()
    }
}
