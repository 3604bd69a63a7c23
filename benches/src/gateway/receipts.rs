//! Receipts of the gateway's links: numbers on packets, what members write of them, and what that tells the proxy.
use super::RETURN;
use super::line::PACKET_BYTES;
use prismux_endpoint::{Endpoint as _, expire};
use prismux_receipts::{Arrived, LinkEstimate, LinkMeter, MeterEvent, Receipt, ReceiptWriter, WriterConfig};
use prismux_units::Instant;
use prismux_wire::{Ecn, SeqNumber};
use std::collections::VecDeque;

/// Nobody begins anew.
const EPOCH: u32 = 1;

/// Both ends of each link, by number, and receipts between them.
#[derive(Debug)]
pub(super) struct Receipts {
    ends: Vec<Ends>,
    /// On the way to the proxy, in order of time.
    under_way: VecDeque<(Instant, usize, Receipt)>,
}

/// The two ends of a link, and when they have something to do.
#[derive(Debug)]
struct Ends {
    meter: LinkMeter,
    writer: ReceiptWriter,
    meter_at: Instant,
    writer_at: Instant,
}

/// What a receipt, or its absence, has told of a link.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) link: usize,
    pub(super) estimate: LinkEstimate,
    /// Positions of packets that are lost.
    pub(super) lost: Vec<u32>,
}

impl Receipts {
    /// Of so many links.
    pub(super) fn new(links: usize) -> Self {
        let ends = || Ends {
            meter: LinkMeter::new(EPOCH),
            writer: ReceiptWriter::new(WriterConfig::default(), EPOCH, Instant::ZERO),
            meter_at: Instant::MAX,
            writer_at: Instant::MAX,
        };
        Self { ends: (0..links).map(|_| ends()).collect(), under_way: VecDeque::new() }
    }

    /// The number of a packet that leaves over a link, which the proxy calls `position`.
    pub(super) fn number(&mut self, now: Instant, link: usize, position: Option<u32>) -> SeqNumber {
        let ends = &mut self.ends[link];
        let number = ends.meter.send(now, PACKET_BYTES, position);
        ends.meter_at = deadline(&ends.meter);
        number
    }

    /// A packet has come out of a link.
    pub(super) fn arrived(&mut self, now: Instant, link: usize, number: SeqNumber) {
        let arrived = Arrived { number, bytes: PACKET_BYTES, ecn: Ecn::NotEct };
        self.ends[link].writer.handle_input(now, arrived);
        self.write(now, link);
    }

    fn write(&mut self, now: Instant, link: usize) {
        let Ends { writer, writer_at, .. } = &mut self.ends[link];
        while let Some(receipt) = writer.poll_transmit(now) {
            self.under_way.push_back((now + RETURN, link, receipt));
        }
        *writer_at = deadline(writer);
    }

    /// When [`Receipts::write_due`], [`Receipts::take`] or [`Receipts::expire`] has something to do.
    pub(super) fn next(&self) -> Instant {
        let ends = self.ends.iter().map(|ends| ends.meter_at.min(ends.writer_at));
        let arrives = self.under_way.front().map(|(at, ..)| *at);
        ends.chain(arrives).min().unwrap_or(Instant::MAX)
    }

    /// Members write what is due.
    pub(super) fn write_due(&mut self, now: Instant) {
        for link in 0..self.ends.len() {
            if self.ends[link].writer_at <= now {
                self.write(now, link);
            }
        }
    }

    /// The next receipt that has come.
    pub(super) fn take(&mut self, now: Instant) -> Option<(usize, Receipt)> {
        self.under_way.front().filter(|(at, ..)| *at <= now)?;
        self.under_way.pop_front().map(|(_, link, receipt)| (link, receipt))
    }

    /// What a receipt tells.
    pub(super) fn read(&mut self, now: Instant, link: usize, receipt: &Receipt) -> Told {
        let ends = &mut self.ends[link];
        ends.meter.handle_input(now, receipt);
        ends.tell(now, link)
    }

    /// What links tell of which nothing was heard for too long.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<Told> {
        let due = self.ends.iter_mut().enumerate().filter(|(_, ends)| ends.meter_at <= now);
        due.filter_map(|(link, ends)| expire(&mut ends.meter, now).then(|| ends.tell(now, link))).collect()
    }
}

impl Ends {
    fn tell(&mut self, now: Instant, link: usize) -> Told {
        let mut lost = Vec::new();
        while let Some(event) = self.meter.poll_event() {
            if let MeterEvent::Lost { tag: Some(position), .. } = event {
                lost.push(position);
            }
        }
        self.meter_at = deadline(&self.meter);
        Told { link, estimate: self.meter.estimate(now), lost }
    }
}

fn deadline(end: &impl prismux_endpoint::Endpoint) -> Instant {
    end.poll_timeout().map_or(Instant::MAX, |deadline| deadline.at)
}
