//! The recorded days as one picture: lines over hours, one panel each, as SVG.
use super::hour::Hour;
use std::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
/// Above each panel, for its title.
const HEAD: f64 = 34.0;
/// Below the last one, for the days.
const FOOT: f64 = 30.0;
const COLOUR: &str = "#0072B2";
/// Megabits per second that one byte in an hour is.
const MBIT_S: f64 = 8.0 / 3600.0 / 1e6;

/// One quantity over all hours.
struct Panel {
    title: &'static str,
    values: Vec<f64>,
}

/// The picture of these hours, as SVG text.
pub fn draw(title: &str, hours: &[Hour]) -> String {
    let panel = |title, of: fn(&Hour) -> f64| Panel { title, values: hours.iter().map(of).collect() };
    let panels = [
        panel("live heap, MB", |hour| hour.heap_bytes as f64 / 1e6),
        panel("flows that the proxy knows", |hour| hour.proxy_flows as f64),
        panel("flow tables of the proxy, kB", |hour| hour.proxy_flow_bytes as f64 / 1e3),
        panel("pending events", |hour| hour.pending_events as f64),
        panel("goodput, Mbit/s", |hour| hour.connections.delivered_bytes as f64 * MBIT_S),
        panel("CPU time of a packet, us", Hour::packet_us),
    ];
    let height = panels.len() as f64 * (HEAD + HEIGHT) + HEAD + FOOT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut out, (16.0, 24.0), "font-size=\"17\" font-weight=\"bold\"", title);
    for (panel, number) in panels.iter().zip(0u32..) {
        draw_panel(&mut out, HEAD + f64::from(number) * (HEAD + HEIGHT), panel);
    }
    for day in 0..hours.len().div_ceil(24) {
        let at = (x(day as f64 * 24.0, hours.len()) + 4.0, height - 10.0);
        text(&mut out, at, "fill=\"#444\"", &format!("day {}", day + 1));
    }
    out.push_str("</svg>\n");
    out
}

fn x(hour: f64, hours: usize) -> f64 {
    LEFT + hour / (hours.max(2) - 1) as f64 * (WIDTH - LEFT - RIGHT)
}

fn draw_panel(out: &mut String, top: f64, panel: &Panel) {
    let most = panel.values.iter().copied().fold(0.0, f64::max).max(1e-9);
    let (first, last) = (top + HEAD - 6.0, top + HEAD - 6.0 + HEIGHT);
    let y = |value: f64| last - value / most * HEIGHT;
    text(out, (LEFT, top + 20.0), "font-weight=\"bold\"", panel.title);
    text(out, (LEFT - 6.0, first + 10.0), "text-anchor=\"end\" fill=\"#444\"", &number(most));
    text(out, (LEFT - 6.0, last), "text-anchor=\"end\" fill=\"#444\"", "0");
    let count = panel.values.len();
    // Writing to a string cannot fail.
    for day in (0..count).step_by(24) {
        let at = x(day as f64, count);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{first:.1}\" x2=\"{at:.1}\" y2=\"{last:.1}\" stroke=\"#ccc\"/>"
        );
    }
    let end = WIDTH - RIGHT;
    let _ =
        writeln!(out, "<line x1=\"{LEFT}\" y1=\"{last:.1}\" x2=\"{end}\" y2=\"{last:.1}\" stroke=\"#444\"/>");
    let points = panel.values.iter().enumerate();
    let points = points.map(|(hour, &value)| format!("{:.1},{:.1}", x(hour as f64, count), y(value)));
    let points = points.collect::<Vec<String>>().join(" ");
    let _ = writeln!(
        out,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{COLOUR}\" stroke-width=\"1.5\"/>"
    );
}

/// Three digits, or the whole number.
fn number(value: f64) -> String {
    let digits = if value >= 100.0 { 0 } else { 1 };
    format!("{value:.digits$}")
}

fn text(out: &mut String, (x, y): (f64, f64), attributes: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>");
}

#[cfg(test)]
mod tests {
    use super::{Hour, draw};

    /// The highest value touches the top of its panel, and there is a point for every hour.
    #[test]
    fn every_hour_is_drawn() {
        let hours: Vec<Hour> =
            (0..48).map(|hour| Hour { hour, proxy_flows: hour, ..Hour::default() }).collect();
        let picture = draw("two days", &hours);
        let lines: Vec<&str> = picture.lines().filter(|line| line.starts_with("<polyline")).collect();
        assert_eq!(lines.len(), 6);
        assert!(lines.iter().all(|line| line.matches(',').count() == 48), "{picture}");
        let [heap, flows] = [lines[0], lines[1]];
        assert!(flows.contains("880.0,226.0") && !heap.contains("880.0,226.0"), "{flows}");
        assert!(picture.contains(">47.0<") && picture.contains(">day 2<"), "{picture}");
    }
}
