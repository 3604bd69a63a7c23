//! One frame of `prismux top`, as lines of pieces: pure, for any width and height.
use prismux_daemons::explain::{self, Use};
use prismux_daemons::figures::{LinkName, LinkSample, Sample, links_of, name_of};
use prismux_study::number;
use prismux_trace::event::Line;
use serde::Deserialize;
use serde_json::Value;

/// A daemon's status page, and its figures of late, the newest last.
#[derive(Debug)]
pub(super) struct Seen {
    pub status: Value,
    pub samples: Vec<Sample>,
}

/// Whether lines have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

/// How a piece looks, as the number that ECMA-48 gives it (section 8.3.117, "select graphic rendition").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Usual = 0,
    Bold = 1,
    Faint = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
}

/// A line: what stands in it, and how it looks.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<(Look, String)>);

/// Columns of a link's figures: the name's, what becomes of it, down, up, round trip, queues, lost.
const WIDTHS: [usize; 7] = [14, 8, 12, 12, 10, 8, 7];
const TITLES: [&str; 7] = ["link", "", "down", "up", "round trip", "queues", "lost"];
/// Busiest connections in sight.
const MAX_BUSY: usize = 5;
/// Of a small line.
const SPARK_COLUMNS: usize = 24;
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What there is to see on a screen of so many columns and lines; `trouble` is why it is old.
pub(super) fn frame(seen: &[Seen], trouble: Option<&str>, (width, height): (usize, usize)) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(trouble) = trouble {
        rows.push(Row::of(Look::Red, &format!("No answer; what stands here is old. {trouble}")));
    }
    for (index, daemon) in seen.iter().enumerate() {
        if index > 0 || trouble.is_some() {
            rows.push(Row::default());
        }
        daemon_rows(daemon, &mut rows);
    }
    let room = height.saturating_sub(rows.len() + 2) / seen.len().max(1);
    for daemon in seen {
        decision_rows(daemon, room, &mut rows);
    }
    rows.truncate(height);
    rows.iter_mut().for_each(|row| row.cut(width));
    rows
}

/// Rows as one text.
pub(super) fn text(rows: &[Row], style: Style) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.text(style)).collect();
    lines.join("\n")
}

fn daemon_rows(daemon: &Seen, rows: &mut Vec<Row>) {
    let status = &daemon.status;
    let text = |key: &str| status[key].as_str().unwrap_or("");
    // A gateway is a proxy whose links are homes'.
    let is_gateway = links_of(status).iter().any(|link| link["home"].is_string());
    let role = if is_gateway { "gateway" } else { text("role") };
    let mut head = Row::of(Look::Bold, &format!("prismux {role} {}", text("name")));
    let up_for = duration(status["uptime_s"].as_f64().unwrap_or(0.0));
    head.add(Look::Faint, &format!("  version {}, up for {up_for}", text("version")));
    rows.push(head);
    let newest = daemon.samples.last();
    let sum = |of: fn(&LinkSample) -> f32| newest.map_or(0.0, |sample| sample.links.iter().map(of).sum());
    let connections =
        status["flow_count"].as_u64().map_or(String::new(), |count| format!("   connections {count}"));
    let total =
        format!("down {}   up {}{connections}", rate(sum(|l| l.forward_bps)), rate(sum(|l| l.return_bps)));
    rows.push(Row::of(Look::Usual, &total));
    rows.push(Row::default());
    rows.push(Row::of(Look::Faint, &columns(TITLES.map(str::to_owned))));
    for link in links_of(status) {
        link_rows(link, &daemon.samples, rows);
    }
    busy_rows(status, rows);
}

/// The connections that carried most in the last seconds: down, up, protocol, ends.
fn busy_rows(status: &Value, rows: &mut Vec<Row>) {
    let busiest = status["busiest"].as_array().map_or(&[][..], Vec::as_slice);
    if busiest.is_empty() {
        return;
    }
    rows.extend([Row::default(), Row::of(Look::Faint, "busiest connections")]);
    for flow in busiest.iter().take(MAX_BUSY) {
        let of = |key: &str| rate(flow[key].as_f64().unwrap_or(0.0) as f32);
        let text = |key: &str| flow[key].as_str().unwrap_or("");
        let (down, up) = (of("forward_bps"), of("return_bps"));
        let line = format!("{down:>12} {up:>12}  {:<5} {}", text("protocol"), text("flow"));
        rows.push(Row::of(Look::Usual, &line));
    }
}

fn link_rows(link: &Value, samples: &[Sample], rows: &mut Vec<Row>) {
    let name = name_of(link);
    let figures = samples.last().and_then(|sample| of_link(sample, &name));
    let explained = explain::link(link);
    let known = |of: fn(&LinkSample) -> Option<f32>| figures.and_then(of);
    let [first, rest] = [0, 2].map(|from| {
        let cells = [
            name.name.clone(),
            explained.used.name().to_owned(),
            rate(figures.map_or(0.0, |f| f.forward_bps)),
            rate(figures.map_or(0.0, |f| f.return_bps)),
            number::or_dash(known(|f| f.rtt_s), delay),
            number::or_dash(known(|f| f.queueing_delay_s), delay),
            number::or_dash(known(|f| f.loss), |share| number::percent(share.into())),
        ];
        let line = columns(cells);
        let start: usize = WIDTHS.iter().take(from).map(|width| width + 1).sum();
        line.chars().skip(start).collect::<String>()
    });
    let mut row = Row::of(Look::Bold, &first.chars().take(WIDTHS[0] + 1).collect::<String>());
    row.add(look(explained.used), &first.chars().skip(WIDTHS[0] + 1).take(WIDTHS[1] + 1).collect::<String>());
    row.add(Look::Usual, &rest);
    rows.push(row);
    let carried =
        samples.iter().map(|sample| of_link(sample, &name).map_or(0.0, |f| f.forward_bps + f.return_bps));
    let mut row = Row::of(Look::Usual, &format!("  {} ", spark(&carried.collect::<Vec<_>>())));
    row.add(Look::Faint, &explained.why);
    rows.push(row);
}

fn of_link<'a>(sample: &'a Sample, name: &LinkName) -> Option<&'a LinkSample> {
    sample.links.iter().find(|link| *link.link == *name)
}

const fn look(used: Use) -> Look {
    match used {
        Use::Used => Look::Green,
        Use::Resting => Look::Yellow,
        Use::Silent | Use::Down => Look::Red,
    }
}

/// The newest decisions, the newest first, in at most `room` rows with their title.
fn decision_rows(daemon: &Seen, room: usize, rows: &mut Vec<Row>) {
    let events = daemon.status["events"].as_array().map_or(&[][..], Vec::as_slice);
    let now_s = daemon.status["uptime_s"].as_f64().unwrap_or(0.0);
    // An event of a later version cannot be told in words.
    let told = events.iter().rev().filter_map(|event| Line::deserialize(event).ok());
    let mut lines = told.take(room.saturating_sub(2)).peekable();
    if lines.peek().is_none() {
        return;
    }
    rows.extend([Row::default(), Row::of(Look::Faint, "what was decided")]);
    for line in lines {
        let ago = duration(now_s - line.time_ns as f64 / 1e9);
        rows.push(Row::of(Look::Usual, &format!("{:>12} ago  {line}", ago)));
    }
}

/// Cells in their columns: the first two to the left, numbers to the right.
fn columns(cells: [String; 7]) -> String {
    let place = |(index, (cell, width)): (usize, (String, usize))| {
        let cell: String = cell.chars().take(width).collect();
        if index < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    cells.into_iter().zip(WIDTHS).enumerate().map(place).collect::<Vec<_>>().join(" ")
}

/// The newest values as small bars.
fn spark(values: &[f32]) -> String {
    let values = values.get(values.len().saturating_sub(SPARK_COLUMNS)..).unwrap_or_default();
    let most = values.iter().copied().fold(1.0, f32::max);
    let bar = |&value: &f32| match value > 0.0 {
        true => SPARKS.get((value / most * 7.0).round() as usize).copied().unwrap_or('█'),
        false => ' ',
    };
    let bars: String = values.iter().map(bar).collect();
    format!("{bars:>SPARK_COLUMNS$}")
}

fn rate(bps: f32) -> String {
    if bps > 0.0 { number::rate(bps.into()) } else { "0 bit/s".to_owned() }
}

fn delay(seconds: f32) -> String {
    if seconds >= 1.0 { number::seconds(seconds.into()) } else { number::milliseconds(seconds.into()) }
}

fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {} h", whole / 86_400, whole / 3600 % 24),
    }
}

impl Row {
    fn of(look: Look, text: &str) -> Self {
        let mut row = Self::default();
        row.add(look, text);
        row
    }

    /// Names come from elsewhere: no control character reaches the terminal.
    fn add(&mut self, look: Look, text: &str) {
        self.0.push((
            look,
            text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect(),
        ));
    }

    /// Leaves out what does not fit.
    fn cut(&mut self, width: usize) {
        let mut left = width;
        for (_, text) in &mut self.0 {
            *text = text.chars().take(left).collect();
            left -= text.chars().count();
        }
    }

    fn text(&self, style: Style) -> String {
        let piece = |(look, text): &(Look, String)| match style {
            Style::Coloured if *look != Look::Usual => format!("\x1b[{}m{text}\x1b[0m", *look as u8),
            _ => text.clone(),
        };
        self.0.iter().map(piece).collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prismux_daemons::figures::Sampler;
    use prismux_units::Instant;
    use serde_json::json;

    fn seen() -> Seen {
        let status = |second: u64| {
            json!({ "role": "home", "name": "house", "version": "1", "uptime_s": 3700.0, "flow_count": 2,
                "links": [
                    { "name": "wan0", "up": true, "state": "active", "reason": "carries traffic", "loss": 0.002,
                      "forward_bytes": second * second * 250_000, "return_bytes": 0 },
                    { "name": "evil\u{1b}[2J", "up": true, "state": "standby", "reason": "loses too many packets",
                      "forward_bytes": 0, "return_bytes": 0 },
                ],
                "busiest": [{ "flow": "203.0.113.1:443 > 10.77.0.2:5", "protocol": "TCP",
                    "forward_bps": 13_500_000, "return_bps": 240_000 }],
                "receipts": [{ "name": "wan0", "rtt_s": 0.03, "queueing_delay_s": 0.004 }],
                "events": [{ "number": 0, "time_ns": 3_690_000_000_000_u64, "event": "link_state_changed",
                    "node": "house", "member": "wan1", "state": "silent" }] })
        };
        let mut sampler = Sampler::default();
        let samples =
            (0..5).map(|second| sampler.sample(Instant::from_secs(second), &status(second))).collect();
        Seen { status: status(4), samples }
    }

    #[test]
    fn a_frame_says_what_each_link_carries_and_why_it_is_not_used() {
        let expected = "\
prismux home house  version 1, up for 1 h 1 min
down 14.0 Mbit/s   up 0 bit/s   connections 2

link                            down           up round trip   queues    lost
wan0           used      14.0 Mbit/s      0 bit/s    30.0 ms  4.00 ms   0.2 %
                      ▂▄▆█ carries traffic
evil?[2J       resting       0 bit/s      0 bit/s          -        -       -
                           loses too many packets

busiest connections
 13.5 Mbit/s   240 kbit/s  TCP   203.0.113.1:443 > 10.77.0.2:5

what was decided
        10 s ago  house: the link of member wan1 is silent";
        assert_eq!(text(&frame(&[seen()], None, (80, 24)), Style::Plain), expected);
    }

    #[test]
    fn a_frame_fits_every_terminal_and_tells_it_nothing_from_elsewhere() {
        for width in (0..100).step_by(9) {
            for height in (0..30).step_by(4) {
                let rows = frame(&[seen(), seen()], Some("the daemon\n\u{1b}]0;is gone"), (width, height));
                let plain = text(&rows, Style::Plain);
                assert!(rows.len() <= height && !plain.contains('\u{1b}'));
                assert!(plain.lines().all(|line| line.chars().count() <= width), "{width}: {plain}");
                // Colours are the only codes.
                let coloured = text(&rows, Style::Coloured);
                assert!(
                    coloured.split('\u{1b}').skip(1).all(|code| code.starts_with('[') && code.contains('m'))
                );
            }
        }
    }
}
