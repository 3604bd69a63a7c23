//! Results as Arrow tables.
//!
//! Each column says its unit and meaning in the metadata of its field (`unit`, `about`), each table where it comes
//! from in the metadata of its schema (`scenario`, `scenario_hash`, `backend`, `seed`, `version`). A value that a
//! backend cannot know is null.

mod columns;

pub use columns::Columns;

use arrow_array::RecordBatch;
use prismux_trace::results::{FlowResult, LinkResult, Named, RunResult};
use std::collections::HashMap;

/// Where a table comes from, for the metadata of its schema.
pub fn birth(result: &RunResult) -> HashMap<String, String> {
    let mut metadata = HashMap::from([
        ("scenario".to_string(), result.scenario.clone()),
        ("scenario_hash".to_string(), result.scenario_hash.clone()),
        ("backend".to_string(), result.backend.to_string()),
        ("seed".to_string(), result.seed.to_string()),
        ("version".to_string(), result.version.clone()),
        ("duration_s".to_string(), result.duration_s.to_string()),
    ]);
    if let Some(series) = &result.series {
        metadata.insert("interval_s".to_string(), series.interval_s.to_string());
    }
    metadata
}

/// The flows, one row each.
pub fn flows(result: &RunResult) -> RecordBatch {
    let mut columns = Columns::default();
    let all = || result.flows.values();
    columns.text("flow", "name of the flow", result.flows.keys().map(|name| Some(name.as_str())));
    columns.text("transport", "how the ends talk", all().map(|flow| Some(flow.transport.as_str())));
    for quantity in FLOW_QUANTITIES {
        columns.quantity(quantity, quantity.name, all());
    }
    columns.finish(birth(result))
}

/// The links, one row each; a link is measured in its download direction.
pub fn links(result: &RunResult) -> RecordBatch {
    let mut columns = Columns::default();
    let all = || result.links.values();
    columns.text("link", "name of the link", result.links.keys().map(|name| Some(name.as_str())));
    columns.flag("shared", "its rate counts as capacity", all().map(|link| Some(link.shared)));
    for quantity in LINK_QUANTITIES {
        columns.quantity(quantity, quantity.name, all());
    }
    columns.finish(birth(result))
}

/// The flows over time, one row for each flow and sample; empty unless the scenario says `measure.interval`.
///
/// `time_s` is the end of the sample: a rate covers the interval before it, a state is the one at that time.
pub fn flow_series(result: &RunResult) -> RecordBatch {
    let mut long = Long::new(result);
    let (mut goodput, mut cwnd, mut held, mut srtt) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, flow) in result.series.iter().flat_map(|series| &series.flows) {
        let samples = flow.goodput_bps.len();
        long.add(name, samples);
        goodput.extend((0..samples).map(|k| flow.goodput_bps.get(k).copied()));
        cwnd.extend((0..samples).map(|k| flow.cwnd_bytes.get(k).copied()));
        held.extend((0..samples).map(|k| flow.held_acks.get(k).copied()));
        srtt.extend((0..samples).map(|k| flow.srtt_s.get(k).copied()));
    }
    let mut columns = long.columns("flow", "name of the flow");
    columns.float("goodput_bps", "bit/s", "payload delivered in order in the interval", goodput);
    columns.whole("cwnd_bytes", "B", "the sender's congestion window", cwnd);
    columns.whole("held_acks", "1", "ACKs that the proxy holds back", held);
    columns.float("srtt_s", "s", "the sender's smoothed round-trip time", srtt);
    columns.finish(birth(result))
}

/// The links over time, one row for each link and sample; empty unless the scenario says `measure.interval`.
pub fn link_series(result: &RunResult) -> RecordBatch {
    let mut long = Long::new(result);
    let (mut throughput, mut share, mut queue) = (Vec::new(), Vec::new(), Vec::new());
    for (name, link) in result.series.iter().flat_map(|series| &series.links) {
        let samples = link.throughput_bps.len();
        long.add(name, samples);
        throughput.extend((0..samples).map(|k| link.throughput_bps.get(k).copied()));
        share.extend((0..samples).map(|k| link.share.get(k).copied()));
        queue.extend((0..samples).map(|k| link.queue_bytes.get(k).copied()));
    }
    let mut columns = long.columns("link", "name of the link");
    columns.float("throughput_bps", "bit/s", "bits delivered in the interval, headers included", throughput);
    columns.float("share", "1", "share of what all shared links delivered in the interval", share);
    columns.whole("queue_bytes", "B", "bytes waiting in the queue", queue);
    columns.finish(birth(result))
}

/// Keys of a table in long form: who, and when.
struct Long<'a> {
    interval_s: f64,
    names: Vec<&'a str>,
    times_s: Vec<f64>,
}

impl<'a> Long<'a> {
    fn new(result: &RunResult) -> Self {
        let interval_s = result.series.as_ref().map_or(0.0, |series| series.interval_s);
        Self { interval_s, names: Vec::new(), times_s: Vec::new() }
    }

    fn add(&mut self, name: &'a str, samples: usize) {
        self.names.extend(std::iter::repeat_n(name, samples));
        self.times_s.extend((0..samples).map(|k| (k + 1) as f64 * self.interval_s));
    }

    fn columns(&self, key: &str, about: &str) -> Columns {
        let mut columns = Columns::default();
        columns.text(key, about, self.names.iter().map(|name| Some(*name)));
        columns.float("time_s", "s", "end of the sample", self.times_s.iter().map(|time| Some(*time)));
        columns
    }
}

/// One measured quantity of a `T`: how its column is called, counted and read.
#[derive(Debug)]
pub struct Quantity<T: 'static> {
    /// Name of the column, as in the JSON form of a result.
    pub name: &'static str,
    /// Unit in the notation of the SI, "1" for counts and fractions.
    pub unit: &'static str,
    /// What it means.
    pub about: &'static str,
    /// The value; `None` where it is unknown.
    pub of: Reader<T>,
}

/// How a quantity is read, by the type of its column.
#[derive(Debug)]
pub enum Reader<T: 'static> {
    /// A column of doubles.
    Float(fn(&T) -> Option<f64>),
    /// A column of whole numbers.
    Whole(fn(&T) -> Option<u64>),
}

const fn float<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<f64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Float(of) }
}

const fn whole<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<u64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Whole(of) }
}

/// What is measured of a flow.
pub static FLOW_QUANTITIES: &[Quantity<FlowResult>] = &[
    float("goodput_bps", "bit/s", "payload delivered once and in order, over the flow's life", |f| {
        Some(f.goodput_bps)
    }),
    float("steady_goodput_bps", "bit/s", "the same in steady state", |f| f.steady_goodput_bps),
    whole("bytes", "B", "bytes that reached the application", |f| Some(f.bytes)),
    float("completion_s", "s", "time until all bytes had arrived; null when they did not", |f| {
        f.completion_s
    }),
    whole("retransmitted_segments", "1", "segments sent again", |f| Some(f.retransmitted_segments)),
    whole("spurious_retransmissions", "1", "of these, segments that had not been lost", |f| {
        f.spurious_retransmissions
    }),
    whole("timeouts", "1", "retransmission timeouts", |f| Some(f.timeouts)),
];

/// What is measured of a link.
pub static LINK_QUANTITIES: &[Quantity<LinkResult>] = &[
    whole("rate_bps", "bit/s", "configured rate, averaged over the run; null without a limit", |l| {
        l.rate_bps
    }),
    whole("delivered_bytes", "B", "bytes delivered, headers included", |l| Some(l.delivered_bytes)),
    whole("dropped_packets", "1", "packets lost to the channel or dropped by the queue", |l| {
        Some(l.dropped_packets)
    }),
    float("utilization", "1", "delivered bits over the bits the rate allows", |l| l.utilization),
    float("share", "1", "share of what all shared links delivered", |l| l.share),
];

/// What is measured of a whole run.
pub static TOTAL_QUANTITIES: &[Quantity<RunResult>] = &[
    float("goodput_bps", "bit/s", "goodput of all flows", |r| Some(r.total.goodput_bps)),
    float("capacity_bps", "bit/s", "the best goodput physics allows", |r| Some(r.total.capacity_bps)),
    float("efficiency", "1", "goodput over capacity", |r| r.total.efficiency),
    float("steady_goodput_bps", "bit/s", "goodput of all flows in steady state", |r| {
        r.total.steady_goodput_bps
    }),
    float("steady_efficiency", "1", "the same over capacity", |r| r.total.steady_efficiency),
];

/// The time at which the last of the flows with a size was complete; `None` when one was not, or none has a size.
pub fn completion_s(flows: &Named<FlowResult>) -> Option<f64> {
    let times: Option<Vec<f64>> =
        flows.values().filter(|flow| flow.transport.contains("tcp")).map(|flow| flow.completion_s).collect();
    times?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests;
