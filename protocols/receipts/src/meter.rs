//! The near end of a link: what was sent, and what receipts say became of it.
use crate::estimate::{LinkEstimate, MeterCounters, UnderWay};
use crate::ranges::Ranges;
use crate::receipt::{MAX_RANGES, Receipt};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::RangeInclusive;
use delay::{DelayMeter, MIN_WINDOW};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use protected::Protected;
use rate::{Point, RateMeter};
use records::{Fate, Records};
use reordering::Reordering;
use round_trip::RoundTrip;

mod delay;
mod passages;
mod protected;
mod rate;
mod records;
mod reordering;
mod round_trip;
mod trust;

pub use passages::Passage;
use passages::Passages;
use trust::Believed;
pub use trust::Refusal;

/// A packet in flight of which no receipt speaks is lost after so long, round trips aside: longer than a receipt
/// may wait.
const MIN_AGE: Duration = Duration::from_secs(1);
/// Time after which a block and its repairs should have come, if they come at all.
const MAX_BLOCK_AGE: Duration = Duration::from_millis(50);
/// When so many fates have been counted, the counts are halved.
const LOSS_FADES_AT: u32 = 2048;

/// What a meter has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterEvent {
    /// A packet is taken for lost.
    Lost {
        /// Its number.
        number: SeqNumber,
        /// Its bytes.
        bytes: u32,
        /// What the host calls it.
        tag: Option<u32>,
    },
    /// A packet that was taken for lost came after all.
    LossUndone {
        /// Its number.
        number: SeqNumber,
        /// Its bytes.
        bytes: u32,
    },
    /// A receipt was refused.
    Refused(Refusal),
}

/// The near end of a link.
///
/// It numbers packets, and judges them by receipts. A packet has one fate at a time, and at last one for good.
#[derive(Debug)]
pub struct LinkMeter {
    epoch: u32,
    records: Records,
    /// Positions that receipts have named.
    reported: Ranges,
    /// Below this they have been forgotten.
    reported_from: u64,
    /// The highest of them.
    highest: Option<u64>,
    /// The highest whose arrival was told, and its delay in nanoseconds but for a constant.
    frontier: Option<(u64, i64)>,
    /// Bytes that had come when that one did.
    came: u64,
    /// The latest receipt: its number, and when it was written.
    latest: Option<(u64, Duration)>,
    reordering: Reordering,
    delay: DelayMeter,
    round_trip: RoundTrip,
    rate: RateMeter,
    /// Packets that repairs may give back.
    protected: Protected,
    /// Fates of the latest packets: lost, and all.
    recent: (u32, u32),
    /// Of the latest packets, how many were lost and are no loss: repairs gave them back, or were themselves lost.
    recent_recovered: u32,
    /// Positions and bytes that the present receipt names for the first time.
    fresh: Vec<(u64, u32)>,
    /// Room for what a range adds.
    new_parts: Vec<RangeInclusive<u64>>,
    counters: MeterCounters,
    /// Packets whose arrival was told and that nobody has asked for yet.
    passages: Passages,
    events: VecDeque<MeterEvent>,
}

impl LinkMeter {
    /// A link of which nothing is known, in `epoch`.
    pub fn new(epoch: u32) -> Self {
        Self {
            epoch,
            records: Records::default(),
            reported: Ranges::default(),
            reported_from: 0,
            highest: None,
            frontier: None,
            came: 0,
            latest: None,
            reordering: Reordering::new(),
            delay: DelayMeter::new(),
            round_trip: RoundTrip::new(MIN_WINDOW),
            rate: RateMeter::default(),
            protected: Protected::default(),
            recent: (0, 0),
            recent_recovered: 0,
            fresh: Vec::new(),
            new_parts: Vec::new(),
            counters: MeterCounters::default(),
            passages: Passages::default(),
            events: VecDeque::new(),
        }
    }

    /// The far end begins anew: with another clock, and without knowledge of what was sent before. Numbers go on.
    pub fn begin(&mut self, epoch: u32) {
        let (mut records, mut counters) = (core::mem::take(&mut self.records), self.counters);
        counters.forgotten_packets += records.forget_all();
        *self = Self { records, counters, ..Self::new(epoch) };
    }

    /// The agreement that receipts must name.
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A packet of `bytes` is sent, which the host calls `tag`; returns the number it carries.
    pub fn send(&mut self, now: Instant, bytes: u32, tag: Option<u32>) -> SeqNumber {
        let (position, forgotten) = self.records.push(now, bytes, tag);
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.counters.forgotten_packets += u64::from(forgotten);
        SeqNumber(position as u32)
    }

    /// The packet that was sent last begins a block of which repairs will be sent: no packet of it
    /// is lost before these should have come.
    pub fn begin_block(&mut self) {
        self.protected.open(self.records.next().saturating_sub(1));
    }

    /// The block that was begun last is complete: the latest packets that were sent, so many, are its repairs.
    pub fn end_block(&mut self, repairs: u64) {
        self.protected.close(repairs, self.records.next());
    }

    /// What no receipt has told of, and what receipts have; `None` while nothing is under way.
    pub fn under_way(&self) -> Option<UnderWay> {
        let first = self.records.first_in_flight()?;
        Some(UnderWay {
            since: first.sent_at,
            packets: self.records.in_flight_packets,
            bytes: self.records.in_flight_bytes,
            delivered_bytes: self.counters.delivered_bytes,
        })
    }

    /// What has been counted.
    pub const fn counters(&self) -> &MeterCounters {
        &self.counters
    }

    /// What is known of the link.
    pub fn estimate(&self, now: Instant) -> LinkEstimate {
        let (lost, all) = self.recent;
        let share = |part: u32| if all == 0 { 0.0 } else { f64::from(part) / f64::from(all) };
        LinkEstimate {
            in_flight_packets: self.records.in_flight_packets,
            in_flight_bytes: self.records.in_flight_bytes,
            loss: share(lost),
            loss_before_repair: share(lost + self.recent_recovered.min(all - lost.min(all))),
            delivery_rate: self.rate.latest(),
            offered_rate: self.rate.offered(),
            queue_growth: self.rate.queue_growth(),
            intervals: self.rate.intervals(),
            capacity: self.rate.capacity(),
            busy_rate: self.rate.busy(),
            burst_rate: self.rate.burst(),
            is_busy: self.delay.is_busy(now),
            queueing_delay: self.delay.queueing(now),
            jitter_p50: self.delay.jitter(0.5),
            jitter_p95: self.delay.jitter(0.95),
            rtt: self.round_trip.smoothed().map(|(mean, _)| mean),
            min_rtt: self.round_trip.least(now),
            reordering_packets: self.reordering.packets(now),
            reordering_time: self.reordering.time(now),
        }
    }

    fn receipt(&mut self, now: Instant, receipt: &Receipt) {
        let believed = match trust::judge(receipt, self.epoch, self.latest, &self.records, now) {
            Ok(believed) => believed,
            Err(refusal) => {
                self.counters.refused_receipts += 1;
                self.events.push_back(MeterEvent::Refused(refusal));
                return;
            }
        };
        self.counters.receipts += 1;
        self.deliver(&believed);
        if believed.is_news {
            self.latest = Some((receipt.number, receipt.written_at));
            let ce = receipt.ecn.map_or(0, |ecn| ecn.ce);
            self.counters.ce_packets = self.counters.ce_packets.max(ce);
            self.recovered(receipt.recovered_packets);
            self.round_trip(now, receipt.written_at, &believed);
            self.arrivals(now, &believed);
            self.detect(now, receipt.written_at);
        }
        self.forget(now);
    }

    /// Books what the receipt names for the first time.
    fn deliver(&mut self, believed: &Believed) {
        self.fresh.clear();
        for range in believed.ranges.iter().rev() {
            let mut new = core::mem::take(&mut self.new_parts);
            let first = (*range.start()).max(self.reported_from);
            self.reported.insert(first..=*range.end(), |part| new.push(part));
            for position in new.drain(..).flatten() {
                self.delivered(position);
            }
            self.new_parts = new;
        }
        self.reported_from = self.reported.trim(self.reported_from, 2 * MAX_RANGES);
        self.highest = self.highest.max(believed.ranges.first().map(|range| *range.end()));
    }

    fn delivered(&mut self, position: u64) {
        let Some(before) = self.records.settle(position, Fate::Delivered) else { return };
        let bytes = before.bytes;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(bytes);
        self.fresh.push((position, bytes));
        if before.fate == Fate::Lost {
            self.counters.lost_packets -= 1;
            self.counters.spurious_losses += 1;
            self.recent.0 = self.recent.0.saturating_sub(1);
            self.events.push_back(MeterEvent::LossUndone { number: SeqNumber(position as u32), bytes });
        } else {
            self.note_fate(false);
        }
    }

    fn lost(&mut self, position: u64) {
        let Some(before) = self.records.settle(position, Fate::Lost) else { return };
        self.counters.lost_packets += 1;
        // What is left out when a repair is lost is nothing; that the link loses is to be known all the same.
        let is_repair = self.protected.is_repair(position);
        self.recent_recovered = self.recent_recovered.saturating_add(u32::from(is_repair));
        self.note_fate(!is_repair);
        let (number, bytes, tag) = (SeqNumber(position as u32), before.bytes, before.tag);
        self.events.push_back(MeterEvent::Lost { number, bytes, tag });
    }

    fn note_fate(&mut self, is_lost: bool) {
        self.recent = (self.recent.0 + u32::from(is_lost), self.recent.1 + 1);
        if self.recent.1 >= LOSS_FADES_AT {
            self.recent = (self.recent.0 / 2, self.recent.1 / 2);
            self.recent_recovered /= 2;
        }
    }

    /// Repairs have given back so many packets since the epoch began. Some came after all: then there are fewer.
    fn recovered(&mut self, packets: u64) {
        let packets = packets.min(self.counters.delivered_packets);
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let before = self.counters.recovered_packets;
        let (more, fewer) = (packets.saturating_sub(before), before.saturating_sub(packets));
        self.recent_recovered =
            self.recent_recovered.saturating_add(narrow(more)).saturating_sub(narrow(fewer));
        self.counters.recovered_packets = packets;
    }

    /// The latest packet's way there, and the receipt's way back.
    fn round_trip(&mut self, now: Instant, written_at: Duration, believed: &Believed) {
        self.delay.backward(now, now.as_nanos() as i64 - written_at.as_nanos() as i64);
        let Some((position, at)) = believed.arrivals.first() else { return };
        let Some(record) = self.records.get(*position) else { return };
        let waited = written_at.saturating_sub(*at);
        self.round_trip.add(now, now.saturating_since(record.sent_at).saturating_sub(waited));
    }

    /// Books when packets came, the earliest first.
    fn arrivals(&mut self, now: Instant, believed: &Believed) {
        let jitter = self.delay.jitter(0.95).unwrap_or_default();
        let intervals = RateMeter::intervals_of(self.round_trip.least(now).unwrap_or_default(), jitter);
        let mut told = 0;
        for &(position, at) in believed.arrivals.iter().rev() {
            let Some(record) = self.records.get(position).copied() else { continue };
            let delay = at.as_nanos() as i64 - record.sent_at.as_nanos() as i64;
            let sent = (record.sent_at, record.sent_before);
            let (corrected_nanos, queueing) = self.delay.forward(now, sent, delay, self.rate.best_known());
            if let Some((frontier, reference)) = self.frontier.filter(|(frontier, _)| position < *frontier) {
                let late = u64::try_from(delay.saturating_sub(reference)).unwrap_or(0);
                self.reordering.displaced(now, frontier - position, Duration::from_nanos(late));
                self.counters.reordered_packets += 1;
                continue;
            }
            self.frontier = Some((position, delay));
            self.passages.add(&record, corrected_nanos, queueing);
            while let Some((_, bytes)) = self.fresh.get(told).filter(|(fresh, _)| *fresh <= position) {
                self.came += u64::from(*bytes);
                told += 1;
            }
            let (sent_at, sent_before) = (record.sent_at, record.sent_before);
            let point = Point { at, delivered: self.came, sent_at, sent_before };
            self.rate.add(point, intervals, self.delay.is_busy(now));
        }
        self.came += self.fresh.iter().skip(told).map(|(_, bytes)| u64::from(*bytes)).sum::<u64>();
    }

    /// Takes for lost what should have come before the receipt was written.
    fn detect(&mut self, now: Instant, written_at: Duration) {
        let (Some(highest), Some((_, delay))) = (self.highest, self.frontier) else { return };
        let (packets, time) = (self.reordering.packets(now), self.reordering.time(now));
        let alone = self.reordering.time_alone(now, self.round_trip.least(now).unwrap_or_default());
        for position in self.records.lowest_in_flight()..highest {
            let Some(record) = self.records.get(position).filter(|record| record.fate == Fate::InFlight)
            else {
                continue;
            };
            let should_come = record.sent_at.as_nanos() as i64 + delay;
            let overdue = u64::try_from(written_at.as_nanos() as i64 - should_come);
            let Ok(overdue) = overdue.map(Duration::from_nanos) else { continue };
            // What repairs may give back is lost when these should have come and did not.
            let judged_from = self.protected.judged_from(position);
            let proven = judged_from.is_some_and(|from| highest >= from + packets);
            let alone = if judged_from == Some(position) { alone } else { alone.max(MAX_BLOCK_AGE) };
            if proven && overdue >= time || overdue >= alone {
                self.lost(position);
            }
        }
    }

    /// A packet of which nothing is heard for so long is lost.
    fn age(&self) -> Duration {
        let (mean, variation) = self.round_trip.smoothed().unwrap_or_default();
        MIN_AGE + mean * 2 + variation * 4
    }

    fn forget(&mut self, now: Instant) {
        self.records.advance();
        self.records.trim(now, self.age() * 2);
        self.protected.forget(self.records.lowest_in_flight());
    }
}

impl Endpoint for LinkMeter {
    type Input<'a> = &'a Receipt;
    type Transmit = Infallible;
    type Event = MeterEvent;

    fn handle_input(&mut self, now: Instant, receipt: &Receipt) {
        self.receipt(now, receipt);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let age = self.age();
        self.records.advance();
        while self.records.first_in_flight().is_some_and(|record| record.sent_at + age <= now) {
            self.lost(self.records.lowest_in_flight());
            self.records.advance();
        }
        self.forget(now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Infallible> {
        None
    }

    fn poll_event(&mut self) -> Option<MeterEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let first = self.records.first_in_flight()?;
        Some(Deadline { at: first.sent_at + self.age(), why: "receipt overdue" })
    }
}
