//! The far end of a link: what came, and when that is worth a receipt.
use crate::ranges::Ranges;
use crate::receipt::{Arrival, EcnCounts, MAX_ARRIVALS, MAX_RANGES, NumberRange, Receipt};
use alloc::collections::VecDeque;
use core::convert::Infallible;
use core::ops::RangeInclusive;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};

mod numbering;
use numbering::Numbering;

/// Numbers so far below the highest are not remembered: a packet that comes later than that comes for nothing.
const WINDOW: u64 = 1 << 16;
/// Receipts that may be saved up while little comes, and are there at the beginning.
const MAX_SAVED_RECEIPTS: u64 = 8;
/// What is new is told in so many receipts, of which all but one may get lost: this often as long as there are few
/// gaps,
const REPEATS: usize = 12;
/// and this often always.
const MIN_REPEATS: usize = 4;
/// Few gaps.
const FEW_RANGES: usize = 24;
/// Arrivals at gaps are told as long as there are no more than this.
const MAX_GAP_ARRIVALS: usize = 16;
/// After so long without news the last receipt is repeated once: it may have been lost.
const REPEAT_AFTER: Duration = Duration::from_millis(200);

/// When receipts are written, and what they may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriterConfig {
    /// A receipt is due after so many packets.
    pub max_packets: u32,
    /// And so long after the first packet that no receipt tells of.
    pub max_delay: Duration,
    /// The arrival of every packet so many after another is told; those at gaps and the last always are.
    pub time_every: u32,
    /// Receipts take at most this share of the bytes that came. One that is due waits until it is paid for, but no
    /// longer than `max_wait`.
    pub max_share: f64,
    /// The longest wait of a receipt that is not paid for.
    pub max_wait: Duration,
    /// Bytes on the link around a receipt: headers and tags.
    pub around_bytes: u32,
}

impl Default for WriterConfig {
    fn default() -> Self {
        Self {
            max_packets: 16,
            max_delay: Duration::from_millis(10),
            time_every: 4,
            max_share: 0.005,
            max_wait: Duration::from_millis(500),
            around_bytes: 54,
        }
    }
}

/// A numbered packet that came out of the tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Its number.
    pub number: SeqNumber,
    /// Its bytes on the link.
    pub bytes: u32,
    /// The congestion codepoint of its outer header.
    pub ecn: Ecn,
}

/// What a writer has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriterCounters {
    /// Packets that came for the first time.
    pub packets: u64,
    /// Packets that had come before, or so late that nobody knows.
    pub duplicates: u64,
    /// Packets whose number is far from all others.
    pub implausible: u64,
    /// Packets that did not come, or have not yet, and that repairs gave back.
    pub recovered_packets: u64,
    /// Receipts written.
    pub receipts: u64,
    /// Bytes of these, with what is around them.
    pub receipt_bytes: u64,
    /// Bytes of packets that came.
    pub bytes: u64,
}

/// The far end of a link.
///
/// Duplicates, reordering, and numbers that wrap around are all the same to it. When the near end numbers anew
/// there is a new epoch, and a new writer.
#[derive(Debug)]
pub struct ReceiptWriter {
    config: WriterConfig,
    epoch: u32,
    began: Instant,
    numbering: Numbering,
    received: Ranges,
    /// Below this, what was received has been forgotten.
    floor: u64,
    /// The lowest number that was new in each of the latest receipts, and in the one to come.
    lowest_new: [u64; REPEATS + 1],
    ecn: EcnCounts,
    /// Arrivals to be told, the earliest first, by unwrapped number.
    arrivals: VecDeque<(u64, Instant)>,
    /// The last packet that came, and when.
    latest: Option<(u64, Instant)>,
    /// Packets that no receipt tells of.
    untold: u32,
    since_time: u32,
    /// When the next receipt is wanted.
    due: Option<Instant>,
    /// What receipts may cost, in bytes times 2^16.
    saved: u64,
    written_at: Instant,
    number: u64,
    /// The last receipt has been repeated.
    repeated: bool,
    counters: WriterCounters,
}

impl ReceiptWriter {
    /// A writer that begins `epoch` at `now`.
    pub fn new(config: WriterConfig, epoch: u32, now: Instant) -> Self {
        Self {
            config,
            epoch,
            began: now,
            numbering: Numbering::default(),
            received: Ranges::default(),
            floor: 0,
            lowest_new: [u64::MAX; REPEATS + 1],
            ecn: EcnCounts::default(),
            arrivals: VecDeque::with_capacity(MAX_ARRIVALS),
            latest: None,
            untold: 0,
            since_time: 0,
            due: None,
            saved: max_saved(&config),
            written_at: now,
            number: 0,
            repeated: true,
            counters: WriterCounters::default(),
        }
    }

    /// The agreement that this writer writes receipts in.
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What has been counted.
    pub const fn counters(&self) -> &WriterCounters {
        &self.counters
    }

    /// The ranges that the next receipt tells, the highest first.
    fn told(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        let lowest = |receipts: usize| {
            let latest = self.lowest_new.iter().rev().take(receipts + 1);
            latest.copied().min().unwrap_or(0)
        };
        let (few, all) = (lowest(REPEATS), lowest(MIN_REPEATS));
        let is_told =
            move |index: usize, end: u64| index == 0 || index < FEW_RANGES && end >= few || end >= all;
        let ranges = self.received.descending().enumerate();
        ranges.take_while(move |(index, range)| is_told(*index, *range.end())).map(|(_, range)| range)
    }

    /// A rough size of the next receipt, in bytes times 2^16.
    fn cost(&self) -> u64 {
        let (ranges, arrivals) = (self.told().count() as u64, self.arrivals.len() as u64);
        (u64::from(self.config.around_bytes) + 18 + 2 * ranges + 3 * arrivals) << 16
    }

    /// The packet with `number` did not come, but repairs gave it back: to the near end it has been received.
    pub fn recovered(&mut self, now: Instant, number: SeqNumber) {
        if self.note(number).is_some() {
            self.counters.recovered_packets += 1;
            let due = now + self.config.max_delay;
            self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        }
    }

    /// A packet that repairs gave back before has come after all: it was late, and not lost.
    pub fn came_after_all(&mut self) {
        self.counters.duplicates += 1;
        self.counters.recovered_packets = self.counters.recovered_packets.saturating_sub(1);
    }

    /// Notes that a number came; its position, or `None` if it came before or is implausible.
    fn note(&mut self, number: SeqNumber) -> Option<u64> {
        let Some(number) = self.numbering.unwrap(number) else {
            self.counters.implausible += 1;
            return None;
        };
        let mut is_new = false;
        if number >= self.floor {
            self.received.insert(number..=number, |_| is_new = true);
        }
        if !is_new {
            self.counters.duplicates += 1;
            return None;
        }
        self.floor = self.received.trim(self.floor.max(number.saturating_sub(WINDOW)), MAX_RANGES);
        let [.., next] = &mut self.lowest_new;
        *next = number.min(*next);
        Some(number)
    }

    fn arrived(&mut self, now: Instant, arrived: Arrived) {
        let highest = self.received.descending().next().map(|range| *range.end());
        let Some(number) = self.note(arrived.number) else { return };
        self.count(&arrived);
        let gap = highest.is_some_and(|highest| number > highest + 1);
        let is_late = highest.is_some_and(|highest| number < highest);
        let is_odd = (gap || is_late) && self.arrivals.len() < MAX_GAP_ARRIVALS;
        if let Some(before) = self.latest.filter(|_| self.untold > 0 && is_odd) {
            self.tell_arrival(before);
        }
        self.latest = Some((number, now));
        self.since_time += 1;
        if is_odd || self.since_time >= self.config.time_every {
            self.tell_arrival((number, now));
        }
        self.untold += 1;
        let soon = gap || self.untold >= self.config.max_packets;
        let due = if soon { now } else { now + self.config.max_delay };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn count(&mut self, arrived: &Arrived) {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(arrived.bytes);
        let earned = f64::from(arrived.bytes) * self.config.max_share * 65_536.0;
        self.saved = (self.saved + earned as u64).min(max_saved(&self.config));
        match arrived.ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ecn.ect0 += 1,
            Ecn::Ect1 => self.ecn.ect1 += 1,
            Ecn::Ce => self.ecn.ce += 1,
        }
    }

    /// The arrival of the latest packet but one, or of the latest, will be told if there is room.
    fn tell_arrival(&mut self, arrival: (u64, Instant)) {
        if self.arrivals.len() < MAX_ARRIVALS - 1 && self.arrivals.back() != Some(&arrival) {
            self.arrivals.push_back(arrival);
            self.since_time = 0;
        }
    }

    /// When the next receipt goes out if nothing comes.
    fn next(&self) -> Option<Instant> {
        let Some(due) = self.due else {
            return (!self.repeated).then(|| self.written_at + REPEAT_AFTER);
        };
        if self.saved >= self.cost() {
            return Some(due);
        }
        Some(due.max(self.written_at + self.config.max_wait))
    }

    fn write(&mut self, now: Instant) -> Option<Receipt> {
        if let Some(latest) = self.latest.filter(|_| self.untold > 0) {
            self.tell_last(latest);
        }
        let since = |at: Instant| Duration::from_micros(at.saturating_since(self.began).as_micros());
        let ranges = self.told().map(|range| NumberRange {
            first: Numbering::wire(*range.start()),
            last: Numbering::wire(*range.end()),
        });
        // What came has been forgotten when there are too many gaps above it.
        let arrivals = self.arrivals.iter().rev().filter(|(number, _)| *number >= self.floor);
        let receipt = Receipt {
            epoch: self.epoch,
            number: self.number,
            written_at: since(now),
            ecn: (self.ecn != EcnCounts::default()).then_some(self.ecn),
            recovered_packets: self.counters.recovered_packets,
            ranges: ranges.collect(),
            arrivals: arrivals
                .map(|(number, at)| Arrival { number: Numbering::wire(*number), at: since(*at) })
                .collect(),
        };
        let cost = self.cost();
        self.saved = self.saved.saturating_sub(cost);
        self.repeated = self.due.is_none();
        self.arrivals.clear();
        self.lowest_new.rotate_left(1);
        let [.., next] = &mut self.lowest_new;
        *next = u64::MAX;
        (self.untold, self.since_time, self.due) = (0, 0, None);
        self.written_at = now;
        self.number += 1;
        self.counters.receipts += 1;
        self.counters.receipt_bytes += cost >> 16;
        (!receipt.ranges.is_empty()).then_some(receipt)
    }

    /// The last packet's arrival is always told.
    fn tell_last(&mut self, latest: (u64, Instant)) {
        if self.arrivals.back() != Some(&latest) {
            self.arrivals.push_back(latest);
        }
    }
}

/// What receipts may cost after a quiet time.
fn max_saved(config: &WriterConfig) -> u64 {
    (MAX_SAVED_RECEIPTS * (u64::from(config.around_bytes) + 40)) << 16
}

impl Endpoint for ReceiptWriter {
    type Input<'a> = Arrived;
    type Transmit = Receipt;
    type Event = Infallible;

    fn handle_input(&mut self, now: Instant, arrived: Arrived) {
        self.arrived(now, arrived);
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Receipt> {
        if self.next().is_none_or(|at| at > now) {
            return None;
        }
        self.write(now)
    }

    fn poll_event(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.next().map(|at| Deadline { at, why: "receipt" })
    }
}
