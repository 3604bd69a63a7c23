//! What is remembered of packets that were sent.
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};

/// Most packets that are remembered: about a second of 700 Mbit/s.
pub(super) const MAX_RECORDS: usize = 1 << 16;

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing is known.
    InFlight,
    /// It came.
    Delivered,
    /// It is taken for lost.
    Lost,
}

/// A packet that was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub sent_at: Instant,
    /// Bytes sent before it.
    pub sent_before: u64,
    pub bytes: u32,
    pub tag: Option<u32>,
    pub fate: Fate,
}

/// The latest packets, by position: numbers that do not wrap around.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: VecDeque<Record>,
    /// Position of the first one.
    base: u64,
    /// No packet below this is in flight.
    lowest_in_flight: u64,
    sent_bytes: u64,
    pub in_flight_packets: u64,
    pub in_flight_bytes: u64,
}

impl Records {
    /// The position of the next packet.
    pub fn next(&self) -> u64 {
        self.base + self.records.len() as u64
    }

    /// A packet is sent; returns its position, and whether one in flight had to be forgotten for it.
    pub fn push(&mut self, now: Instant, bytes: u32, tag: Option<u32>) -> (u64, bool) {
        let forgotten = self.records.len() >= MAX_RECORDS && self.pop();
        let position = self.next();
        let record = Record { sent_at: now, sent_before: self.sent_bytes, bytes, tag, fate: Fate::InFlight };
        self.records.push_back(record);
        self.sent_bytes += u64::from(bytes);
        self.in_flight_packets += 1;
        self.in_flight_bytes += u64::from(bytes);
        (position, forgotten)
    }

    /// Forgets the first one; says whether it was in flight.
    fn pop(&mut self) -> bool {
        let Some(record) = self.records.pop_front() else { return false };
        self.base += 1;
        self.lowest_in_flight = self.lowest_in_flight.max(self.base);
        let was_in_flight = record.fate == Fate::InFlight;
        if was_in_flight {
            self.in_flight_packets -= 1;
            self.in_flight_bytes -= u64::from(record.bytes);
        }
        was_in_flight
    }

    /// Forgets all; returns how many were in flight.
    pub fn forget_all(&mut self) -> u64 {
        let in_flight = self.in_flight_packets;
        self.base = self.next();
        self.lowest_in_flight = self.base;
        self.records.clear();
        (self.in_flight_packets, self.in_flight_bytes) = (0, 0);
        in_flight
    }

    /// Forgets what came, and what was lost more than `keep_lost` ago.
    pub fn trim(&mut self, now: Instant, keep_lost: Duration) {
        while let Some(first) = self.records.front() {
            let is_over = match first.fate {
                Fate::InFlight => false,
                Fate::Delivered => true,
                Fate::Lost => first.sent_at + keep_lost <= now,
            };
            if !is_over {
                return;
            }
            self.pop();
        }
    }

    /// The packet at `position`, if it is remembered.
    pub fn get(&self, position: u64) -> Option<&Record> {
        self.records.get(usize::try_from(position.checked_sub(self.base)?).ok()?)
    }

    /// The fate of the packet at `position` is known now; returns its record as it was before.
    pub fn settle(&mut self, position: u64, fate: Fate) -> Option<Record> {
        let index = usize::try_from(position.checked_sub(self.base)?).ok()?;
        let record = self.records.get_mut(index)?;
        let before = *record;
        record.fate = fate;
        if before.fate == Fate::InFlight {
            self.in_flight_packets -= 1;
            self.in_flight_bytes -= u64::from(before.bytes);
        }
        Some(before)
    }

    /// The first packet in flight.
    pub fn first_in_flight(&self) -> Option<&Record> {
        self.get(self.lowest_in_flight).filter(|record| record.fate == Fate::InFlight)
    }

    /// Position of the first packet in flight, or of the next to be sent.
    pub fn lowest_in_flight(&self) -> u64 {
        self.lowest_in_flight
    }

    /// Passes over packets whose fate is known.
    pub fn advance(&mut self) {
        self.lowest_in_flight = self.lowest_in_flight.max(self.base);
        while self.get(self.lowest_in_flight).is_some_and(|record| record.fate != Fate::InFlight) {
            self.lowest_in_flight += 1;
        }
    }
}
