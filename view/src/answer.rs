//! Everything the page draws for one stretch of time of one run.
use crate::air::{Attachments, Hops, States, Track};
use crate::rates::Rates;
use crate::run::{FlowRecord, Note, Run};
use crate::sample::{Bucket, Buckets, Cell, Levels, Marks};
use serde::Serialize;

/// What the page wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Start of the stretch in nanoseconds.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Width of a panel in pixels.
    pub width: usize,
    /// Height of the time-sequence panel in pixels.
    pub height: usize,
    /// Number of the flow.
    pub flow: usize,
}

/// No record lasts longer: 36 years, with room behind for the width of a bucket.
const MAX_TIME_NS: u64 = 1 << 60;
/// No screen is wider or higher.
const MAX_PIXELS: usize = 16_384;

/// Answers are columns: the `k`-th numbers of a group belong together. Times count from [`Answer::from`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Start of the stretch in nanoseconds.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// The flow that `sequence`, `windows` and `buffers` are about.
    pub flow: usize,
    /// Segments and ACKs by time and offset in the stream.
    pub sequence: Sequence,
    /// What each link delivered.
    pub rates: Rates,
    /// The sender's windows in bytes, and its smoothed round-trip time in nanoseconds.
    pub windows: Windows,
    /// What waits at the receiver (bytes) and at proxies (ACKs).
    pub buffers: Buffers,
    /// Bytes in the queues of the flow's links, in the order of the flow's list of them.
    pub queues: Vec<Steps>,
    /// What went over the air.
    pub air: Hops,
}

/// The time-sequence diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sequence {
    /// Least and greatest offset in sight; `None` without any mark.
    pub range: Option<(u64, u64)>,
    /// By path: sent, sent again, lost, arrived.
    pub paths: Vec<[Cells; 4]>,
    /// Lost on links that are no path.
    pub lost_elsewhere: Cells,
    /// ACKs held by a proxy, by the time they came.
    pub held: Cells,
    /// ACKs with which a proxy let held ones go.
    pub released: Cells,
    /// Acknowledged to the sender.
    pub acknowledged: Steps,
}

/// Cells of marks.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cells {
    /// Time of the first mark of each cell.
    pub t: Vec<u64>,
    /// From there to its last mark.
    pub d: Vec<u64>,
    /// Least offset.
    pub y: Vec<u64>,
    /// From there to the greatest.
    pub h: Vec<u64>,
    /// Number of marks.
    pub n: Vec<u64>,
}

/// A quantity over time, in as many buckets as the panel has pixels, run-length coded: one entry for each bucket in
/// which the value changed. Before the first entry there is no value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Steps {
    /// Number of buckets.
    pub count: usize,
    /// Numbers of the buckets told.
    pub k: Vec<usize>,
    /// Least value of each.
    pub min: Vec<u64>,
    /// Greatest value of each.
    pub max: Vec<u64>,
    /// Value at the end of each.
    pub last: Vec<u64>,
}

/// A sender's state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Windows {
    /// Congestion window in bytes.
    pub cwnd: Steps,
    /// Slow-start threshold in bytes.
    pub ssthresh: Steps,
    /// Bytes in flight.
    pub in_flight: Steps,
    /// Smoothed round-trip time in nanoseconds.
    pub srtt: Steps,
}

/// What waits for something before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Buffers {
    /// Bytes at the receiver beyond a gap.
    pub waiting: Steps,
    /// ACKs held back by proxies.
    pub held: Steps,
}

/// What is known of a run as a whole, told once.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    pub label: &'a str,
    pub run: &'a prismux_trace::event::RunDescription<'static>,
    pub end_ns: u64,
    pub events: u64,
    pub paths: &'a [usize],
    pub notes: &'a [Note],
    pub warnings: &'a [String],
    /// By flow: bytes that arrived, segments sent and sent again, lost.
    pub flows: Vec<FlowTotals>,
    /// By link: bytes delivered forward.
    pub delivered: Vec<u64>,
    /// Flows whose rates are told, the busiest ones.
    pub busiest: &'a [usize],
    /// Links that dropped packets, those with the most of them.
    pub lossy: &'a [usize],
    /// By number of the proxy's node.
    pub decisions: &'a std::collections::BTreeMap<usize, crate::decisions::Decisions>,
    /// By number of the node: where hosts of radio media were.
    pub tracks: &'a std::collections::BTreeMap<usize, Track>,
    /// Whether ways of single packets are known.
    pub knows_packets: bool,
    /// By number of the node: what waited there, and its energy.
    pub states: &'a std::collections::BTreeMap<usize, States>,
    /// By station: whom it belonged to, or went over.
    pub attachments: &'a std::collections::BTreeMap<usize, Attachments>,
}

/// What a flow did in the whole run.
#[derive(Debug, Serialize)]
pub(crate) struct FlowTotals {
    pub arrived_bytes: u64,
    /// Bytes of packets at its receiver, headers included.
    pub delivered_bytes: u64,
    pub sent: usize,
    pub sent_again: usize,
    pub lost: usize,
    pub acks_held: usize,
    /// The paths that it used: places in the run's list.
    pub paths: Vec<usize>,
    /// By path of its own: whether its data go from the first end of the link to the second.
    pub forward: Vec<bool>,
    /// Links with a queue worth a look: number and direction (0 forward).
    pub queues: Vec<(usize, usize)>,
    /// Panels that have nothing to show of it.
    pub absent: Vec<&'static str>,
}

impl Question {
    /// The question with a stretch and a size that make sense.
    pub(crate) fn bounded(self) -> Self {
        let from_ns = self.from_ns.min(MAX_TIME_NS - 1);
        Self {
            from_ns,
            to_ns: self.to_ns.clamp(from_ns + 1, MAX_TIME_NS),
            width: self.width.clamp(1, MAX_PIXELS),
            height: self.height.clamp(1, MAX_PIXELS),
            ..self
        }
    }
}

impl Run {
    /// Everything to draw for `question`; nothing for a flow that is not there.
    pub fn answer(&self, question: Question) -> Option<Answer> {
        let question = question.bounded();
        let flow = self.flows.get(question.flow)?;
        let buckets = Buckets::new(question.from_ns, question.to_ns, question.width);
        let steps = |levels: &Levels| Steps::of(levels, &buckets);
        Some(Answer {
            from: question.from_ns,
            to: question.to_ns,
            flow: question.flow,
            sequence: sequence(flow, &buckets, question.height),
            rates: self.rates(&question, flow),
            windows: Windows {
                cwnd: steps(&flow.cwnd),
                ssthresh: steps(&flow.ssthresh),
                in_flight: steps(&flow.in_flight),
                srtt: steps(&flow.srtt),
            },
            buffers: Buffers { waiting: steps(&flow.waiting), held: steps(&flow.held) },
            queues: flow.queues.iter().map(|&(link, way)| steps(&self.links[link].queue[way])).collect(),
            air: self.air.hops(question.from_ns, question.to_ns),
        })
    }

    /// The run as a whole, under a label.
    pub(crate) fn summary<'a>(&'a self, label: &'a str) -> Summary<'a> {
        let count = |flow: &FlowRecord, of: fn(&crate::run::PathMarks) -> &Marks| {
            flow.paths.iter().map(|path| of(path).len()).sum::<usize>()
        };
        let totals = |flow: &FlowRecord| FlowTotals {
            arrived_bytes: flow.arrived_bytes,
            delivered_bytes: flow.arrived.total(),
            sent: count(flow, |path| &path.sent),
            sent_again: count(flow, |path| &path.sent_again),
            lost: count(flow, |path| &path.lost) + flow.lost_elsewhere.len(),
            acks_held: flow.acks_held.len(),
            paths: flow.path_numbers.clone(),
            forward: flow.path_directions.iter().map(|&way| way == 0).collect(),
            queues: flow.queues.clone(),
            absent: self.absent_panels(flow),
        };
        Summary {
            label,
            run: &self.description,
            end_ns: self.end_ns,
            events: self.events,
            paths: &self.paths,
            notes: &self.notes,
            warnings: &self.warnings,
            flows: self.flows.iter().map(totals).collect(),
            delivered: self.links.iter().map(|link| link.delivered[0].total()).collect(),
            busiest: &self.busiest,
            lossy: &self.lossy,
            decisions: &self.decisions,
            tracks: self.air.tracks(),
            knows_packets: !self.packets.is_empty(),
            states: self.air.states(),
            attachments: self.air.attachments(),
        }
    }

    /// Names of the panels about what the run does not have, or the record does not tell of a flow.
    fn absent_panels(&self, flow: &FlowRecord) -> Vec<&'static str> {
        let levels =
            [("windows", &flow.cwnd), ("rtt", &flow.srtt), ("buffer", &flow.waiting), ("held", &flow.held)];
        let silent = levels.into_iter().filter(|(_, levels)| levels.is_empty()).map(|(name, _)| name);
        let (wired, radio) = (!self.links.is_empty(), !self.air.is_empty());
        // A run of nodes alone has its network to show.
        let parts = [
            ("topology", wired || !radio),
            ("sequence", !flow.is_without_segments()),
            ("rates", wired),
            // A flow that is alone on the air has no other panel with its rate.
            ("flows", self.busiest.len() > usize::from(wired)),
            ("queues", !flow.queues.is_empty()),
            ("drops", !self.lossy.is_empty()),
            ("air", radio),
            ("traffic", radio),
            ("waiting", radio && self.air.has_queues()),
            ("energy", radio && self.air.has_energy()),
        ];
        let parts = parts.into_iter();
        silent.chain(parts.filter(|(_, is_there)| !is_there).map(|(name, _)| name)).collect()
    }
}

fn sequence(flow: &FlowRecord, buckets: &Buckets, height: usize) -> Sequence {
    let marks = flow.paths.iter().flat_map(|path| [&path.sent, &path.sent_again, &path.lost, &path.arrived]);
    let all = marks.chain([&flow.lost_elsewhere, &flow.acks_held, &flow.acks_released]);
    let join = |a: (u64, u64), b: (u64, u64)| (a.0.min(b.0), a.1.max(b.1));
    let range = all.filter_map(|marks| marks.heights(buckets.from, buckets.to)).reduce(join);
    let row = range.map_or(1, |(low, high)| (high - low) / height as u64).max(1);
    let cells = |marks: &Marks| Cells::of(&marks.sample(buckets, row), buckets.from);
    Sequence {
        range,
        paths: flow
            .paths
            .iter()
            .map(|path| [&path.sent, &path.sent_again, &path.lost, &path.arrived].map(cells))
            .collect(),
        lost_elsewhere: cells(&flow.lost_elsewhere),
        held: cells(&flow.acks_held),
        released: cells(&flow.acks_released),
        acknowledged: Steps::of(&flow.acknowledged, buckets),
    }
}

impl Cells {
    fn of(cells: &[Cell], from: u64) -> Self {
        let column = |of: &dyn Fn(&Cell) -> u64| cells.iter().map(of).collect();
        Self {
            t: column(&|cell| cell.first - from),
            d: column(&|cell| cell.last - cell.first),
            y: column(&|cell| cell.low),
            h: column(&|cell| cell.high - cell.low),
            n: column(&|cell| cell.count),
        }
    }
}

impl Steps {
    fn of(levels: &Levels, buckets: &Buckets) -> Self {
        let mut steps = Self { count: buckets.count, ..Self::default() };
        for (k, bucket) in levels.sample(buckets).into_iter().enumerate() {
            let Some(Bucket { min, max, last, .. }) = bucket else { continue };
            if steps.last.last() == Some(&min) && min == max {
                continue;
            }
            steps.k.push(k);
            steps.min.push(min);
            steps.max.push(max);
            steps.last.push(last);
        }
        steps
    }

    /// The value at the end of bucket `k`.
    pub fn at(&self, k: usize) -> Option<u64> {
        let told = self.k.partition_point(|&known| known <= k);
        told.checked_sub(1).map(|index| self.last[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stretch_is_too_long_to_answer() {
        for (from_ns, to_ns) in [(0, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX, 0), (7, 7)] {
            let asked = Question { flow: 0, from_ns, to_ns, width: 1, height: 1 }.bounded();
            assert!(asked.from_ns < asked.to_ns && asked.to_ns <= MAX_TIME_NS, "{asked:?}");
        }
    }
}
