//! Results over time as tables in long form.
use super::{Columns, birth};
use arrow_array::RecordBatch;
use prismux_trace::results::{FlowSeries, LinkSeries, RunResult};

/// The flows over time, one row for each flow and sample; empty unless the scenario says `measure.interval`.
///
/// `time_s` is the end of the sample: a rate covers the interval before it, a state is the one at that time.
pub fn flow_series(result: &RunResult) -> RecordBatch {
    let series = result.series.as_ref().map(|series| &series.flows);
    let rows = series.into_iter().flatten().map(|(name, flow)| (name.as_str(), flow.goodput_bps.len(), flow));
    let long = Long::new(result, rows);
    let mut columns = long.columns("flow", "name of the flow");
    let goodput = long.values(|flow: &FlowSeries, k| flow.goodput_bps.get(k).copied());
    columns.float("goodput_bps", "bit/s", "payload delivered in order in the interval", goodput);
    let cwnd = long.values(|flow, k| flow.cwnd_bytes.get(k).copied());
    columns.whole("cwnd_bytes", "B", "the sender's congestion window", cwnd);
    let held = long.values(|flow, k| flow.held_acks.get(k).copied());
    columns.whole("held_acks", "1", "ACKs that the proxy holds back", held);
    let srtt = long.values(|flow, k| flow.srtt_s.get(k).copied());
    columns.float("srtt_s", "s", "the sender's smoothed round-trip time", srtt);
    let delay = long.values(|flow, k| flow.delay_s.get(k).copied().flatten());
    columns.float(
        "delay_s",
        "s",
        "mean one-way delay of the data packets that arrived in the interval",
        delay,
    );
    columns.finish(birth(result))
}

/// The links over time, one row for each link and sample; empty unless the scenario says `measure.interval`.
pub fn link_series(result: &RunResult) -> RecordBatch {
    let series = result.series.as_ref().map(|series| &series.links);
    let rows =
        series.into_iter().flatten().map(|(name, link)| (name.as_str(), link.throughput_bps.len(), link));
    let long = Long::new(result, rows);
    let mut columns = long.columns("link", "name of the link");
    let throughput = long.values(|link: &LinkSeries, k| link.throughput_bps.get(k).copied());
    columns.float("throughput_bps", "bit/s", "bits delivered in the interval, headers included", throughput);
    let share = long.values(|link, k| link.share.get(k).copied());
    columns.float("share", "1", "share of what all shared links delivered in the interval", share);
    let queue = long.values(|link, k| link.queue_bytes.get(k).copied());
    columns.whole("queue_bytes", "B", "bytes waiting in the queue", queue);
    let dropped = long.values(|link, k| link.dropped_packets.get(k).copied());
    columns.whole("dropped_packets", "1", "packets lost or dropped in the interval", dropped);
    let marked = long.values(|link, k| link.marked_packets.get(k).copied());
    columns.whole("marked_packets", "1", "packets marked in the interval", marked);
    let throughput = long.values(|link, k| link.reverse_throughput_bps.get(k).copied());
    columns.float("reverse_throughput_bps", "bit/s", "of the other direction: bits delivered", throughput);
    let queue = long.values(|link, k| link.reverse_queue_bytes.get(k).copied());
    columns.whole("reverse_queue_bytes", "B", "of the other direction: bytes waiting", queue);
    let dropped = long.values(|link, k| link.reverse_dropped_packets.get(k).copied());
    columns.whole("reverse_dropped_packets", "1", "of the other direction: packets lost or dropped", dropped);
    columns.finish(birth(result))
}

/// A table in long form: one row for each name and sample.
struct Long<'a, T> {
    interval_s: f64,
    /// Name, samples, and where the samples are.
    rows: Vec<(&'a str, usize, &'a T)>,
}

impl<'a, T> Long<'a, T> {
    fn new(result: &RunResult, rows: impl Iterator<Item = (&'a str, usize, &'a T)>) -> Self {
        let interval_s = result.series.as_ref().map_or(0.0, |series| series.interval_s);
        Self { interval_s, rows: rows.collect() }
    }

    /// The values of one column; sample `k` of a row is `of(row, k)`.
    fn values<V>(&self, of: impl Fn(&T, usize) -> Option<V>) -> Vec<Option<V>> {
        let samples =
            |(_, count, row): &(&str, usize, &'a T)| (0..*count).map(|k| of(row, k)).collect::<Vec<_>>();
        self.rows.iter().flat_map(samples).collect()
    }

    fn columns(&self, key: &str, about: &str) -> Columns {
        let mut columns = Columns::default();
        let names = self.rows.iter().flat_map(|(name, count, _)| std::iter::repeat_n(Some(*name), *count));
        columns.text(key, about, names);
        let times = self.rows.iter().flat_map(|(_, count, _)| 1..=*count);
        columns.float("time_s", "s", "end of the sample", times.map(|k| Some(k as f64 * self.interval_s)));
        columns
    }
}
