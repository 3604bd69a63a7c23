//! Delays, losses, responses, fairness and managed queues of a run, for people; and how it went over time.
use prismux_study::number::{bytes, milliseconds, or_dash, percent, rate, seconds};
use prismux_study::text_table::Table;
use prismux_trace::results::{DirectionResult, FlowResult, LinkResult, RunResult, TimeSeries};

/// Delays, losses and responses of the flows that have any; `None` where none has.
pub(crate) fn latency(result: &RunResult) -> Option<Table> {
    let measured =
        |flow: &FlowResult| flow.packets.is_some() || flow.delay.is_some() || flow.response.is_some();
    let flows: Vec<_> = result.flows.iter().filter(|(_, flow)| measured(flow)).collect();
    let mut table = Table::new(&[
        "flow",
        "what",
        "count",
        "mean",
        "p50",
        "p95",
        "p99",
        "jitter",
        "variation p99",
        "lost",
    ]);
    for (name, flow) in &flows {
        let lost = || or_dash(flow.packets, |packets| percent(packets.loss));
        if let Some(delay) = &flow.delay {
            let times = [delay.mean_s, delay.p50_s, delay.p95_s, delay.p99_s];
            let variation = [delay.jitter_s, delay.variation_p99_s].map(milliseconds);
            let head = [(*name).clone(), "one-way delay".to_string(), delay.samples.to_string()];
            table.row(head.into_iter().chain(times.map(milliseconds)).chain(variation).chain([lost()]));
        } else if let Some(packets) = &flow.packets {
            let head = [(*name).clone(), "datagrams".to_string(), packets.sent.to_string()];
            table.row(head.into_iter().chain(std::iter::repeat_n("-".to_string(), 6)).chain([lost()]));
        }
        if let Some(response) = &flow.response {
            let times = [response.mean_s, response.p50_s, response.p95_s, response.p99_s];
            let head = [(*name).clone(), "response".to_string(), response.count.to_string()];
            table.row(
                head.into_iter().chain(times.map(milliseconds)).chain(["-", "-", "-"].map(String::from)),
            );
        }
    }
    (!flows.is_empty()).then_some(table)
}

/// Groups of several flows; `None` without any.
pub(crate) fn groups(result: &RunResult) -> Option<Table> {
    let mut table = Table::new(&["group", "flows", "goodput", "Jain's index"]);
    for (name, group) in &result.groups {
        let jain = or_dash(group.jain, |jain| format!("{jain:.3}"));
        table.row([name.clone(), group.flows.to_string(), rate(group.goodput_bps), jain]);
    }
    (!result.groups.is_empty()).then_some(table)
}

/// What managed queues dropped and marked; `None` without any.
pub(crate) fn managed_queues(result: &RunResult) -> Option<Table> {
    let mut table = Table::new(&["managed queue", "dropped early", "marked", "dropped otherwise"]);
    let mut row = |name: String, early: Option<u64>, marked: Option<u64>, dropped: u64| {
        early.zip(marked).map(|(early, marked)| {
            table.row([name, early.to_string(), marked.to_string(), (dropped - early).to_string()]);
        })
    };
    let mut rows = 0;
    for (name, link) in &result.links {
        let LinkResult { early_drops, marked_packets, dropped_packets, reverse, .. } = link;
        rows += usize::from(row(name.clone(), *early_drops, *marked_packets, *dropped_packets).is_some());
        if let Some(DirectionResult { early_drops, marked_packets, dropped_packets, .. }) = reverse {
            let name = format!("{name}, back");
            rows += usize::from(row(name, *early_drops, *marked_packets, *dropped_packets).is_some());
        }
    }
    (rows > 0).then_some(table)
}

/// What a link has at each sample: name of the column, values, and their form.
type State<'a> = (String, &'a [u64], fn(u64) -> String);

/// Goodputs of the flows, and queues and drops of the links that had any, one row for each sample.
pub(crate) fn over_time(series: &TimeSeries) -> Table {
    let mut columns = vec!["time".to_string()];
    columns.extend(series.flows.keys().cloned());
    let delayed: Vec<_> = series.flows.iter().filter(|(_, flow)| !flow.delay_s.is_empty()).collect();
    columns.extend(delayed.iter().map(|(name, _)| format!("{name} delay")));
    let any = |values: &[u64]| values.iter().any(|&value| value > 0);
    let mut states: Vec<State<'_>> = Vec::new();
    for (name, link) in &series.links {
        let whole = |value: u64| value.to_string();
        states.extend([
            (format!("{name} queue"), &link.queue_bytes[..], bytes as fn(u64) -> String),
            (format!("{name} dropped"), &link.dropped_packets[..], whole),
            (format!("{name} marked"), &link.marked_packets[..], whole),
            (format!("{name} back queue"), &link.reverse_queue_bytes[..], bytes),
            (format!("{name} back dropped"), &link.reverse_dropped_packets[..], whole),
        ]);
    }
    states.retain(|(_, values, _)| any(values));
    columns.extend(states.iter().map(|(name, ..)| name.clone()));
    let mut table = Table::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for k in 0..series.len() {
        let mut row = vec![seconds((k + 1) as f64 * series.interval_s)];
        row.extend(series.flows.values().map(|flow| or_dash(flow.goodput_bps.get(k).copied(), rate)));
        row.extend(
            delayed.iter().map(|(_, flow)| or_dash(flow.delay_s.get(k).copied().flatten(), milliseconds)),
        );
        row.extend(states.iter().map(|(_, values, text)| or_dash(values.get(k).copied(), text)));
        table.row(row);
    }
    table
}
