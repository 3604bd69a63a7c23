//! A download played to the proxy packet by packet: links that keep the order and lose some, a receiver that
//! acknowledges every packet with SACK, and a sender with a fixed window that knows of losses from reports alone. Where
//! nothing is under way that could carry one, its timer runs out.

use super::rules::flow;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{SackBlock, SeqNumber, TcpFlags, TcpHeader};
use std::collections::{BTreeMap, BTreeSet};

const SEGMENT_BYTES: u32 = 1000;
/// Rate in kbit/s and delay in ms of each link.
const LINKS: [(u64, u64); 3] = [(600, 30), (900, 60), (1200, 45)];
/// Of the packets on every link.
const LOSS: f64 = 0.01;
const WAY_BACK: Duration = Duration::from_millis(30);
/// The sender's, in segments: somewhat more than the links hold.
const WINDOW: u32 = 60;
/// So many segments must be acknowledged. More are sent, so that no loss is the last packet of its link, which only a
/// timeout would tell.
const SEGMENTS: u32 = 4000;
/// The sender's, of which a download needs few.
const TIMEOUT: Duration = Duration::from_secs(1);
const MOST_TIMEOUTS: u32 = 20;
const SACK_BLOCKS: usize = 3;

/// What the papers' table has of a link (section IV-C) when a packet is scheduled; NIP follows from N and W.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub in_flight: u32,
    pub weight: f64,
    pub hrtt: Duration,
}

/// A packet, what the table was, and the link (its place in the table) that the proxy took.
#[derive(Debug)]
pub(super) struct Scheduled {
    pub table: Vec<Entry>,
    pub retransmission: bool,
    pub link: usize,
}

/// An ACK as it reaches the sender; segments by number.
#[derive(Debug)]
pub(super) struct Acked {
    /// All below have arrived.
    pub below: u32,
    pub sacked: Vec<std::ops::Range<u32>>,
    pub reported: Option<u32>,
}

/// What happened.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub scheduled: Vec<Scheduled>,
    pub acked: Vec<Acked>,
    /// All that was wanted has been acknowledged.
    pub complete: bool,
}

/// What is under way.
#[derive(Debug)]
enum Arrival {
    Data(u32),
    Ack(TcpHeader),
}

struct Play {
    now: Instant,
    proxy: Proxy<TcpHeader>,
    random: RandomStream,
    under_way: BTreeMap<(Instant, u64), Arrival>,
    /// When each link is free again.
    free_at: [Instant; LINKS.len()],
    /// What the receiver has beyond `below`.
    beyond: BTreeSet<u32>,
    /// The receiver's next expected segment.
    below: u32,
    /// The sender's next new segment.
    next: u32,
    /// The sender's first segment without an ACK.
    unacked: u32,
    resend: Vec<u32>,
    log: Log,
}

/// A whole download through a proxy with `config`.
pub(super) fn play(config: ProxyConfig, seed: u64) -> Log {
    let mut proxy = Proxy::new(config);
    for (index, (kbps, _)) in LINKS.into_iter().enumerate() {
        let rate = Some(Rate::from_kbps(kbps));
        let link = LinkConfig { name: format!("link{}", index + 1), advertised_rate: rate, round_trip: None };
        proxy.join(Instant::ZERO, LinkId(index as u8), link);
    }
    let mut play = Play {
        now: Instant::ZERO,
        proxy,
        random: Seed(seed).stream("reproduce/played-download"),
        under_way: BTreeMap::new(),
        free_at: [Instant::ZERO; LINKS.len()],
        beyond: BTreeSet::new(),
        below: 0,
        next: 0,
        unacked: 0,
        resend: Vec::new(),
        log: Log::default(),
    };
    play.send_what_fits(Instant::ZERO);
    let mut timeouts = 0;
    while play.unacked < SEGMENTS && timeouts < MOST_TIMEOUTS {
        if !play.step() {
            timeouts += 1;
            let resent = play.unacked;
            play.now += TIMEOUT;
            play.send(play.now, resent);
        }
    }
    play.log.complete = play.unacked >= SEGMENTS;
    play.log
}

fn header() -> TcpHeader {
    TcpHeader { flags: TcpFlags::ACK, window: 60_000, ..TcpHeader::default() }
}

impl Play {
    /// The next thing that happens; false when nothing more does.
    fn step(&mut self) -> bool {
        let arrival = self.under_way.keys().next().map(|(at, _)| *at);
        let timer = self.proxy.poll_timeout().map(|deadline| deadline.at);
        let Some(now) = arrival.into_iter().chain(timer).min() else { return false };
        self.now = now;
        if arrival == Some(now) {
            match self.under_way.pop_first() {
                Some((_, Arrival::Data(segment))) => self.receive(now, segment),
                Some((_, Arrival::Ack(ack))) => self.proxy.handle_reverse(now, flow(), &ack, 0, ack),
                None => return false,
            }
        } else {
            self.proxy.handle_timeout(now);
        }
        self.drain(now);
        while let Some(segment) = self.resend.pop() {
            self.send(now, segment);
        }
        self.send_what_fits(now);
        true
    }

    fn send_what_fits(&mut self, now: Instant) {
        while self.next < self.unacked + WINDOW {
            self.send(now, self.next);
            self.next += 1;
        }
    }

    /// The sender sends `segment`, new or not.
    fn send(&mut self, now: Instant, segment: u32) {
        let entry = |link: &prismux_prism::link_table::Link| Entry {
            in_flight: link.variables.in_flight_packets,
            weight: link.variables.weight,
            hrtt: link.hrtt(now),
        };
        let table = self.proxy.links().up().map(|(_, link)| entry(link)).collect();
        let retransmission = segment < self.next;
        self.log.scheduled.push(Scheduled { table, retransmission, link: usize::MAX });
        let packet = TcpHeader { seq: SeqNumber(segment * SEGMENT_BYTES), ..header() };
        self.proxy.handle_data(now, flow(), &packet, SEGMENT_BYTES, packet);
        self.drain(now);
    }

    /// Carries out what the proxy says.
    fn drain(&mut self, now: Instant) {
        while let Some(mut verdict) = self.proxy.poll_verdict() {
            verdict.rewrite(|header| Some(header));
            match verdict {
                Verdict::Forward { packet, link, .. } => {
                    let link = usize::from(link.0);
                    if let Some(last) = self.log.scheduled.last_mut() {
                        last.link = link;
                    }
                    self.carry(now, packet.seq.0 / SEGMENT_BYTES, link);
                }
                Verdict::Release { packet, .. } => self.acknowledge(&packet),
                Verdict::Drop { .. } => {}
            }
        }
    }

    /// A link carries a segment, or loses it at its end.
    fn carry(&mut self, now: Instant, segment: u32, link: usize) {
        let (kbps, delay_ms) = LINKS[link];
        let sent =
            self.free_at[link].max(now) + Duration::from_micros(u64::from(SEGMENT_BYTES) * 8000 / kbps);
        self.free_at[link] = sent;
        if !self.random.chance(LOSS) {
            self.put(sent + Duration::from_millis(delay_ms), Arrival::Data(segment));
        }
    }

    fn put(&mut self, at: Instant, arrival: Arrival) {
        let order = self.random.next_u64();
        self.under_way.insert((at, order), arrival);
    }

    /// The receiver acknowledges a segment; the block with the newest comes first (RFC 2018).
    fn receive(&mut self, now: Instant, segment: u32) {
        if segment >= self.below {
            self.beyond.insert(segment);
        }
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
        let mut ack = TcpHeader { ack: SeqNumber(self.below * SEGMENT_BYTES), ..header() };
        let mut runs: Vec<std::ops::Range<u32>> = Vec::new();
        for &number in &self.beyond {
            match runs.last_mut() {
                Some(run) if run.end == number => run.end += 1,
                _ => runs.push(number..number + 1),
            }
        }
        runs.sort_by_key(|run| (!run.contains(&segment), std::cmp::Reverse(run.start)));
        for run in runs.into_iter().take(SACK_BLOCKS) {
            let [start, end] = [run.start, run.end].map(|number| SeqNumber(number * SEGMENT_BYTES));
            ack.options.sack.push(SackBlock { start, end });
        }
        self.put(now + WAY_BACK, Arrival::Ack(ack));
    }

    /// An ACK reaches the sender.
    fn acknowledge(&mut self, ack: &TcpHeader) {
        let number = |seq: SeqNumber| seq.0 / SEGMENT_BYTES;
        self.unacked = self.unacked.max(number(ack.ack));
        let blocks = ack.options.sack.as_slice().iter();
        let sacked = blocks.map(|block| number(block.start)..number(block.end)).collect();
        // A repeated report has been acted upon: nothing is lost on the way back.
        let report = ack.options.loss_report.filter(|report| report.flags & 1 == 0);
        let reported = report.map(|report| number(report.lost)).filter(|lost| *lost >= self.unacked);
        self.resend.extend(reported);
        self.log.acked.push(Acked { below: self.unacked, sacked, reported });
    }
}
