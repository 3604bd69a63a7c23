//! What all flows of a proxy share: settings, links, books, and what has been decided and not been carried out yet.
//!
//! Plain data. What is done with it lies above, in functions that take one flow and this.
use crate::config::{LinkStateKept, ProxyConfig};
use crate::flow::copies::CopyCounts;
use crate::flow::receiver_model::Range;
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use crate::scheduler::Scheduler;
use crate::status::ProxyCounters;
use crate::verdict::Verdict;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// Over how long the largest flight counts.
const FLIGHT_WINDOW: Duration = Duration::from_secs(1);
/// A segment as senders count them when a duplicate ACK tells that one has left the network.
pub(crate) const SEGMENT_BYTES: i32 = 1460;
/// With more flows waiting than this, room goes to them in turn and to no other.
pub(crate) const MANY_WAITING: usize = 64;

/// Everything but the flows themselves.
#[derive(Debug)]
pub(crate) struct Shared<P> {
    pub(crate) config: ProxyConfig,
    pub(crate) links: LinkTable,
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) totals: Totals,
    pub(crate) pacer: AckPacer,
    pub(crate) selection: Selection,
    pub(crate) counters: ProxyCounters,
    /// What the host is to do, oldest first.
    pub(crate) verdicts: VecDeque<Verdict<P>>,
    pub(crate) buffers: Buffers,
}

impl<P> Shared<P> {
    /// Tells schedulers how busy the links are.
    pub(crate) fn note_backlog(&mut self) {
        let senders = self.pacer.waiting.len() as u64;
        self.links.backlogged = senders > 0;
        let share_bytes = self.links.in_flight_bytes().checked_div(senders).unwrap_or(0);
        // Where not all can have a packet under way, one that has none asks for no less than others.
        let tells = share_bytes >= SEGMENT_BYTES as u64 || !self.pacer.serves_many();
        self.links.share_bytes = if tells { share_bytes } else { 0 };
    }

    /// Each flow keeps its own state of the links.
    pub(crate) fn has_state_per_flow(&self) -> bool {
        self.config.link_state == LinkStateKept::Flow && !self.config.link_state_contradicts()
    }

    /// Nothing yet, under these settings.
    pub(crate) fn new(config: ProxyConfig) -> Self {
        Self {
            links: LinkTable::default(),
            scheduler: config.scheduler.build(config.seed),
            totals: Totals::default(),
            pacer: AckPacer::default(),
            selection: Selection::default(),
            counters: ProxyCounters::default(),
            verdicts: VecDeque::new(),
            buffers: Buffers::default(),
            config,
        }
    }
}

/// Sums over all flows.
#[derive(Debug)]
pub(crate) struct Totals {
    /// Bytes between released ACK and highest sequence number.
    pub(crate) flight: u64,
    /// Flows that have any.
    pub(crate) senders: u32,
    /// Bytes of new data expected in answer to released ACKs, and not come yet.
    pub(crate) expected: u64,
    /// Packets on record.
    pub(crate) recorded_packets: usize,
    /// Bytes of packets that wait for room on the links.
    pub(crate) backlog_bytes: u64,
    /// Copies kept for repair and probing.
    pub(crate) copies: CopyCounts,
    /// Largest flight in this span and in the one before.
    peak: [u64; 2],
    peak_since: Instant,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            flight: 0,
            senders: 0,
            expected: 0,
            recorded_packets: 0,
            backlog_bytes: 0,
            copies: CopyCounts::default(),
            peak: [0; 2],
            peak_since: Instant::ZERO,
        }
    }
}

impl Totals {
    /// New data of `bytes` came from a sender.
    pub(crate) fn on_new_data(&mut self, now: Instant, bytes: u64) {
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

/// When ACKs may leave, all flows together.
#[derive(Debug)]
pub(crate) struct AckPacer {
    /// Flows whose ACKs wait, by number, in turn.
    pub(crate) waiting: VecDeque<u32>,
    /// Those of which packets wait, in turn: where many flows wait, these come before ACKs.
    pub(crate) with_backlog: VecDeque<u32>,
    /// When an ACK last left.
    pub(crate) moved_at: Instant,
    /// The next ACK may go at this time, but for a small burst.
    pub(crate) next_release: Instant,
    /// When flows that wait are to be served; [`Instant::MAX`] when only room can help them.
    pub(crate) serve_at: Instant,
    /// When some of them were.
    pub(crate) served_at: Instant,
    /// When the first pause of the ACKs to a sender in slow start ends; [`Instant::MAX`] for none.
    pub(crate) pause_ends: Instant,
    /// When packets that wait for the pace of a link are looked at; [`Instant::MAX`] when none do.
    pub(crate) backlog_at: Instant,
    /// When the first packet is looked at that waits on the scheduler's word; [`Instant::MAX`] when none does.
    pub(crate) wait_ends: Instant,
    /// The flow whose turn it is, and whether it found that the links have no room.
    pub(crate) turn_of: Option<u32>,
    pub(crate) turn_lacks_room: bool,
    /// The first flow of many that wait does so for room: what there is, is its own.
    pub(crate) first_lacks_room: bool,
    /// Flows that are to get a turn whatever they wait for, and when the next of them do.
    pub(crate) unvisited: usize,
    pub(crate) visit_at: Instant,
    /// What the usable links carry, bytes per second.
    pub(crate) rate: f64,
}

impl Default for AckPacer {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            with_backlog: VecDeque::new(),
            moved_at: Instant::ZERO,
            next_release: Instant::ZERO,
            serve_at: Instant::MAX,
            served_at: Instant::ZERO,
            pause_ends: Instant::MAX,
            backlog_at: Instant::MAX,
            wait_ends: Instant::MAX,
            turn_of: None,
            turn_lacks_room: false,
            first_lacks_room: false,
            unvisited: 0,
            visit_at: Instant::ZERO,
            rate: 0.0,
        }
    }
}

impl AckPacer {
    /// True while many flows wait for room.
    pub(crate) fn serves_many(&self) -> bool {
        self.waiting.len() > MANY_WAITING
    }
}

/// Which links take new data, and how much senders may have under way over them.
#[derive(Debug)]
pub(crate) struct Selection {
    /// What senders may have in flight together: `None` for no limit.
    pub(crate) flight_limit: Option<u64>,
    /// When it was last decided.
    pub(crate) reviewed: Instant,
    /// Some link is to be measured with copies.
    pub(crate) wants_probes: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self { flight_limit: None, reviewed: Instant::ZERO, wants_probes: false }
    }
}

/// A loss found now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub(crate) start: SeqNumber,
    pub(crate) end: SeqNumber,
    /// The link that lost it; `None` for a loss before the proxy ("No Data") or with a departed member.
    pub(crate) link: Option<LinkId>,
}

/// Buffers reused from packet to packet.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Ranges that newly arrived.
    pub(crate) new: Vec<Range>,
    /// Packets newly delivered: link and index.
    pub(crate) delivered: Vec<(LinkId, u32)>,
    /// Losses newly found.
    pub(crate) lost: Vec<Loss>,
}
