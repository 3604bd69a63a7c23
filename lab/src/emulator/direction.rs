//! One direction of a link at work.
use super::{DirectionReport, Offered};
use crate::packets::Labelled;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{Link, LinkConfig};
use prismux_linux::packet::PacketBuf;
use prismux_units::{Instant, Rate};

/// A link model and what is counted around it.
pub(super) struct Direction {
    pub link: Link<Labelled>,
    /// The instant for which an entry lies in the agenda, so that later entries can be told from stale ones.
    pub scheduled: Option<Instant>,
    pub damage: RandomStream,
    pub refused_packets: u64,
    /// Bytes delivered, packets dropped and packets marked by the last sample.
    before: [u64; 3],
    offered: Offered,
    /// At which rate the link offers more now.
    offered_rate: Option<Rate>,
    pub in_use: bool,
    delivered_bytes: Vec<u64>,
    queue_bytes: Vec<u64>,
    dropped_packets: Vec<u64>,
    marked_packets: Vec<u64>,
}

impl Direction {
    /// The direction called `name`, without packets or history.
    pub fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let link = Link::new(config, seed, name);
        Self {
            offered_rate: link.rate(),
            in_use: true,
            link,
            scheduled: None,
            damage: seed.stream(&format!("link/{name}/damage")),
            refused_packets: 0,
            before: [0; 3],
            offered: Offered::default(),
            delivered_bytes: Vec::new(),
            queue_bytes: Vec::new(),
            dropped_packets: Vec::new(),
            marked_packets: Vec::new(),
        }
    }

    /// What the link offers now; `None` without a limit.
    fn current_offer(&self) -> Option<Rate> {
        self.link.rate().map(|rate| if self.link.is_up() && self.in_use { rate } else { Rate::ZERO })
    }

    /// Notices a change of what the link offers and closes the time before it.
    pub fn account_offer(&mut self, now: Instant) {
        if self.current_offer() != self.offered_rate {
            self.offered.account(now, self.offered_rate);
            self.offered_rate = self.current_offer();
        }
    }

    /// Notes what was delivered in the interval that ends now, and what waits.
    pub fn sample(&mut self, now: Instant) {
        let stats = self.link.stats();
        let counts = [stats.delivered_bytes, stats.dropped_packets(), stats.marked_packets];
        let [delivered, dropped, marked] = std::mem::replace(&mut self.before, counts);
        self.delivered_bytes.push(counts[0] - delivered);
        self.dropped_packets.push(counts[1] - dropped);
        self.marked_packets.push(counts[2] - marked);
        self.queue_bytes.push(self.link.queue(now).1.as_u64());
    }

    /// What it did until `now`.
    pub fn report(&mut self, now: Instant) -> DirectionReport {
        self.offered.account(now, self.offered_rate);
        let mean = self.offered.until(now) / now.as_secs_f64().max(1e-9);
        DirectionReport {
            stats: self.link.stats(),
            is_managed: self.link.is_managed(),
            refused_packets: self.refused_packets,
            mean_rate_bps: self.offered_rate.map(|_| mean.round() as u64),
            offered: std::mem::take(&mut self.offered),
            delivered_bytes: std::mem::take(&mut self.delivered_bytes),
            queue_bytes: std::mem::take(&mut self.queue_bytes),
            dropped_packets: std::mem::take(&mut self.dropped_packets),
            marked_packets: std::mem::take(&mut self.marked_packets),
        }
    }
}

/// Flips one bit behind the IP header, where only the transport's checksum can notice.
pub(super) fn damage(packet: &mut PacketBuf, stream: &mut RandomStream) {
    let length = packet.len();
    let header_bytes = packet.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    if length > header_bytes {
        let at = header_bytes + stream.below((length - header_bytes) as u64) as usize;
        packet.buffer_mut()[at] ^= 1 << stream.below(8);
    }
}
