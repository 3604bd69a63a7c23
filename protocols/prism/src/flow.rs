//! What the proxy remembers of one TCP flow.
pub(crate) mod ack_queue;
pub(crate) mod backlog;
pub(crate) mod convictions;
pub(crate) mod copies;
pub(crate) mod evidence;
pub(crate) mod held;
pub(crate) mod history;
pub(crate) mod link_order;
pub(crate) mod receiver_model;
pub(crate) mod slow_start;
pub(crate) mod tail_probe;
pub(crate) mod window;

use crate::ids::LinkId;
use crate::link_table::FlowVariables;
use crate::micros::Micros;
use crate::reinjection::Copied;
use crate::status::ReverseState;
use ack_queue::AckQueue;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use backlog::Backlog;
use convictions::Convictions;
use copies::Copies;
use evidence::Evidence;
use held::HeldAcks;
use history::History;
use link_order::LinkOrders;
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, LossReport, SeqNumber, TcpFlags};
use receiver_model::{Range, ReceiverModel};
use slow_start::SlowStart;
use tail_probe::TailProbe;
use window::WindowEdge;

/// A report waiting for ACKs to carry it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingReport {
    pub(crate) report: LossReport,
    pub(crate) carried: u8,
}

/// One TCP flow, by the direction of its data.
#[derive(Debug)]
pub(crate) struct Flow<P> {
    pub(crate) key: FlowKey,
    /// Its place in the table of flows.
    pub(crate) number: u32,
    pub(crate) history: History,
    pub(crate) order: LinkOrders,
    /// Its own state of the links, where flows have one.
    pub(crate) variables: FlowVariables,
    /// Verdicts by order that may turn out false.
    pub(crate) convictions: Convictions,
    /// `None` until the first ACK after a pick-up in mid-stream.
    pub(crate) receiver: Option<ReceiverModel>,
    /// Ranges that never passed the proxy though later ones did; rare and short.
    pub(crate) unscheduled: Vec<Range>,
    pub(crate) held: HeldAcks<P>,
    /// Highest ACK number sent to the sender (`rel`).
    pub(crate) released: SeqNumber,
    /// One past the highest sequence number seen from the sender.
    pub(crate) sent_end: Option<SeqNumber>,
    pub(crate) state: ReverseState,
    /// While in LOSS: `receiver.cumulative()` must reach this.
    pub(crate) recover: SeqNumber,
    pub(crate) reports: VecDeque<PendingReport>,
    pub(crate) window: WindowEdge,
    pub(crate) tsval: Option<u32>,
    /// Largest TSecr of the receiver: its TS.Recent (RFC 7323 section 4.3).
    pub(crate) echoed: Option<u32>,
    /// ECE and CWR of ACKs that did not go out themselves.
    pub(crate) ecn: TcpFlags,
    /// Send time of the latest-sent packet that is known to have arrived.
    pub(crate) latest_delivered: Option<Micros>,
    /// When the receiver was last heard of.
    pub(crate) heard: Micros,
    pub(crate) tail_probe: TailProbe,
    pub(crate) sender_rtt: SenderRtt,
    pub(crate) slow_start: SlowStart,
    pub(crate) timer_at: Instant,
    /// When the flow is next checked for having ended.
    pub(crate) idle_at: Instant,
    pub(crate) last_activity: Instant,
    pub(crate) finished: Finished,
    pub(crate) evidence: Evidence,
    /// Copies for repair and probing.
    pub(crate) copies: Copies<P>,
    /// What went out once more because it was late.
    pub(crate) copied: Copied,
    /// Packets that wait for room on the links.
    pub(crate) backlog: Backlog,
    /// ACKs that wait for room on the links.
    pub(crate) acks: AckQueue<P>,
    /// The link whose packet holds ACKs up, and since when that was looked at.
    pub(crate) blocked_by: Option<(LinkId, Instant)>,
    /// Bytes in flight on all links.
    pub(crate) bytes_out: u64,
    /// Bytes from the sender that it holds no released ACK for.
    pub(crate) flight: u32,
    /// Highest right edge that the sender was shown.
    pub(crate) edge_sent: Option<SeqNumber>,
    /// How long the newest released ACK waited for room.
    pub(crate) ack_wait: Duration,
}

/// Progress of the connection's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Finished {
    /// A FIN has passed towards the receiver.
    pub(crate) forward: bool,
    /// A FIN has passed towards the sender.
    pub(crate) reverse: bool,
    /// When a RST ended the connection.
    pub(crate) reset: Option<Instant>,
}

impl<P: Clone> Flow<P> {
    pub(crate) fn new(now: Instant, key: FlowKey, number: u32) -> Self {
        Self {
            key,
            number,
            history: History::default(),
            order: LinkOrders::default(),
            variables: FlowVariables::default(),
            convictions: Convictions::default(),
            receiver: None,
            unscheduled: Vec::new(),
            held: HeldAcks::default(),
            released: SeqNumber::default(),
            sent_end: None,
            state: ReverseState::Normal,
            recover: SeqNumber::default(),
            reports: VecDeque::new(),
            window: WindowEdge::default(),
            tsval: None,
            echoed: None,
            ecn: TcpFlags::default(),
            latest_delivered: None,
            heard: Micros::at(now),
            tail_probe: TailProbe::default(),
            sender_rtt: SenderRtt::default(),
            slow_start: SlowStart::default(),
            timer_at: Instant::MAX,
            idle_at: Instant::MAX,
            last_activity: now,
            finished: Finished::default(),
            evidence: Evidence::default(),
            copies: Copies::default(),
            copied: Copied::default(),
            backlog: Backlog::default(),
            acks: AckQueue::default(),
            blocked_by: None,
            bytes_out: 0,
            flight: 0,
            edge_sent: None,
            ack_wait: Duration::ZERO,
        }
    }

    /// The same flow anew, known from the SYN of the sender, which has this sequence number.
    pub(crate) fn open(&mut self, seq: SeqNumber) {
        self.receiver = Some(ReceiverModel::new(seq));
        self.released = seq;
        self.sent_end = Some(seq);
    }

    /// Forgets the connection; timers and the place in the queue of those that wait are the flow's own.
    pub(crate) fn renew(&mut self, now: Instant) {
        let (queued, timers) = (self.acks.queued, (self.timer_at, self.idle_at));
        *self = Self::new(now, self.key, self.number);
        self.acks.queued = queued;
        (self.timer_at, self.idle_at) = timers;
    }

    /// True while the connection lives: both ends have shown that they know of it, and none has ended it.
    pub(crate) fn is_live(&self) -> bool {
        self.evidence.confirmed
            && self.finished.reset.is_none()
            && !(self.finished.forward && self.finished.reverse)
    }

    /// From a segment's leaving the sender to the ACK's arrival there, smoothed; `None` before it was measured.
    pub(crate) fn round_trip_of_sender(&self) -> Option<Duration> {
        Some(self.sender_rtt.smoothed()? + self.acks.upstream())
    }

    /// The highest ACK number on its way to the sender, waiting ones included.
    pub(crate) fn acknowledged(&self) -> SeqNumber {
        self.acks.highest().unwrap_or(self.released)
    }

    /// The packet at `seq` goes out as number `index` of `link`.
    pub(crate) fn note_order(&mut self, link: LinkId, seq: SeqNumber, index: u32) {
        let cumulative = self.receiver.as_ref().map_or(seq, |receiver| receiver.cumulative());
        self.order.push(link, seq, index, cumulative);
    }

    /// Notes that `[start, end)` did not pass the proxy.
    pub(crate) fn add_unscheduled(&mut self, start: SeqNumber, end: SeqNumber) {
        const MAX_GAPS: usize = 64;
        if self.unscheduled.len() < MAX_GAPS {
            self.unscheduled.push(Range { start, end });
        } else if let Some(last) = self.unscheduled.last_mut() {
            // A flow this broken needs no exact books: one wide gap has the same effect.
            last.end = last.end.max(end);
        }
    }

    /// Queues a report behind those that were carried as often: no repeat delays a first copy.
    pub(crate) fn queue_report(&mut self, pending: PendingReport) {
        let place = self.reports.partition_point(|other| other.carried <= pending.carried);
        self.reports.insert(place, pending);
    }

    /// Takes `[start, end)` off the list of ranges that did not pass.
    pub(crate) fn fill_unscheduled(&mut self, start: SeqNumber, end: SeqNumber) {
        let mut index = 0;
        while let Some(&gap) = self.unscheduled.get(index) {
            if !gap.start.before(end) || !start.before(gap.end) {
                index += 1;
                continue;
            }
            self.unscheduled.swap_remove(index);
            if gap.start.before(start) {
                self.unscheduled.push(Range { start: gap.start, end: start });
            }
            if end.before(gap.end) {
                self.unscheduled.push(Range { start: end, end: gap.end });
            }
        }
    }

    /// Largest TSval of the receiver so far, `tsval` included.
    pub(crate) fn latest_tsval(&mut self, tsval: Option<u32>) -> Option<u32> {
        let value = tsval?;
        self.tsval = Some(later(self.tsval, value));
        self.tsval
    }

    /// The receiver sent a packet with this TSecr.
    pub(crate) fn note_echo(&mut self, tsecr: Option<u32>) {
        if let Some(value) = tsecr {
            self.echoed = Some(later(self.echoed, value));
        }
    }

    /// Bytes of memory of this flow, packets that it holds apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.history.memory_bytes()
            + self.held.memory_bytes()
            + self.receiver.as_ref().map_or(0, ReceiverModel::memory_bytes)
            + self.order.memory_bytes()
            + self.variables.memory_bytes()
            + self.convictions.memory_bytes()
            + self.reports.capacity() * size_of::<PendingReport>()
            + self.unscheduled.capacity() * size_of::<Range>()
            + self.copies.memory_bytes()
            + self.backlog.memory_bytes()
            + self.acks.memory_bytes()
    }
}

/// The later of two TSvals, by RFC 7323's arithmetic.
fn later(latest: Option<u32>, value: u32) -> u32 {
    latest.filter(|&latest| (value.wrapping_sub(latest) as i32) < 0).unwrap_or(value)
}

/// The round-trip time as the sender must see it (holding included), estimated as in RFC 6298.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SenderRtt {
    smoothed_us: f32,
    deviation_us: f32,
}

/// Smallest retransmission timeout that today's senders use (Linux).
const SENDER_MIN_RTO_US: f32 = 200_000.0;

impl SenderRtt {
    /// Data sent this long ago is acknowledged to the sender now.
    pub(crate) fn sample(&mut self, time: Duration) {
        let sample = time.as_micros() as f32;
        if self.smoothed_us == 0.0 {
            (self.smoothed_us, self.deviation_us) = (sample.max(1.0), sample / 2.0);
        } else {
            let error = sample - self.smoothed_us;
            self.deviation_us += (error.abs() - self.deviation_us) / 4.0;
            self.smoothed_us = (self.smoothed_us + error / 8.0).max(1.0);
        }
    }

    /// The smoothed time; `None` without samples.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        (self.smoothed_us > 0.0).then(|| Duration::from_micros(self.smoothed_us as u64))
    }

    /// Estimated retransmission timeout; `None` without samples.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        (self.smoothed_us > 0.0).then(|| {
            Duration::from_micros(
                (self.smoothed_us + (4.0 * self.deviation_us).max(SENDER_MIN_RTO_US)) as u64,
            )
        })
    }
}
