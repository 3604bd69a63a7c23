//! Results as notebooks show them.

use prismux_study::compare::Outcome;
use prismux_study::number::{bytes, or_dash, percent, rate, seconds};
use prismux_trace::results::RunResult;
use std::fmt::Write;

/// Rows that a table shows at most.
const SHOWN: usize = 40;

/// What a run measured: a line, its flows and its links.
pub(crate) fn run(result: &RunResult) -> String {
    let efficiency =
        result.total.efficiency.map(|share| format!(" ({} of what the links allow)", percent(share)));
    let mut html = format!(
        "<p><b>{}</b> ({}, seed {}, {}): {}{}</p>\n",
        escaped(&result.scenario),
        result.backend,
        result.seed,
        seconds(result.duration_s),
        rate(result.total.goodput_bps),
        efficiency.unwrap_or_default()
    );
    let flows = result.flows.iter().map(|(name, flow)| {
        vec![
            name.clone(),
            flow.transport.clone(),
            rate(flow.goodput_bps),
            bytes(flow.bytes),
            or_dash(flow.completion_s, seconds),
            flow.retransmitted_segments.to_string(),
            flow.timeouts.to_string(),
        ]
    });
    table(&mut html, &["flow", "transport", "goodput", "bytes", "complete", "resent", "timeouts"], flows);
    let links = result.links.iter().map(|(name, link)| {
        vec![
            name.clone(),
            or_dash(link.rate_bps, |bps| rate(bps as f64)),
            bytes(link.delivered_bytes),
            link.dropped_packets.to_string(),
            or_dash(link.utilization, percent),
            or_dash(link.share, percent),
        ]
    });
    table(&mut html, &["link", "rate", "delivered", "dropped", "use", "share"], links);
    html
}

/// Variants side by side.
pub(crate) fn comparison(outcomes: &[Outcome]) -> String {
    let mut html = String::new();
    let rows = outcomes.iter().map(|outcome| match &outcome.failure {
        Some(reason) => vec![outcome.name.clone(), reason.clone(), "-".to_string()],
        None => {
            vec![outcome.name.clone(), rate(outcome.mean_goodput_bps()), outcome.results.len().to_string()]
        }
    });
    table(&mut html, &["variant", "goodput", "runs"], rows);
    html
}

/// Adds a table; one without rows is left out, and what is beyond [`SHOWN`] is counted.
fn table(html: &mut String, columns: &[&str], rows: impl ExactSizeIterator<Item = Vec<String>>) {
    let hidden = rows.len().saturating_sub(SHOWN);
    if rows.len() == 0 {
        return;
    }
    let line = |cells: &mut dyn Iterator<Item = &str>, tag: &str| -> String {
        let cells = cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    html.push_str("<table>\n<thead>\n");
    html.push_str(&line(&mut columns.iter().copied(), "th"));
    html.push_str("</thead>\n<tbody>\n");
    for row in rows.take(SHOWN) {
        html.push_str(&line(&mut row.iter().map(String::as_str), "td"));
    }
    html.push_str("</tbody>\n</table>\n");
    if hidden > 0 {
        // Writing to a text does not fail.
        let _ = writeln!(html, "<p>... and {hidden} more</p>");
    }
}

/// A text that means nothing to a browser.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
