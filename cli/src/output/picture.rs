//! One picture: panels of stacked horizontal bars, as SVG.

use std::fmt::Write;

/// A bar made of parts.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it stands for.
    pub label: String,
    /// Name and length of each part.
    pub parts: Vec<(String, f64)>,
    /// Written at its end.
    pub note: String,
}

/// Bars on one scale.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Written above.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// Where the dashed line stands that nothing can pass.
    pub limit: f64,
    /// Its value in words.
    pub limit_note: String,
}

const WIDTH: f64 = 900.0;
const LABEL_WIDTH: f64 = 250.0;
const NOTE_WIDTH: f64 = 160.0;
const BAR_HEIGHT: f64 = 22.0;
const GAP: f64 = 8.0;
const HEAD: f64 = 58.0;
/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"];

/// The picture as SVG text.
pub(crate) fn draw(title: &str, panels: &[Panel]) -> String {
    let heights = panels.iter().map(|panel| HEAD + panel.bars.len() as f64 * (BAR_HEIGHT + GAP) + GAP);
    let height = 44.0 + heights.clone().sum::<f64>() + 12.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut out, 16.0, 28.0, "font-size=\"17\" font-weight=\"bold\"", title);
    let mut top = 44.0;
    for (panel, height) in panels.iter().zip(heights) {
        draw_panel(&mut out, top, panel);
        top += height;
    }
    out.push_str("</svg>\n");
    out
}

fn draw_panel(out: &mut String, top: f64, panel: &Panel) {
    let longest = panel.bars.iter().map(|bar| bar.parts.iter().map(|(_, value)| value).sum::<f64>());
    let scale_end = longest.fold(panel.limit, f64::max).max(1e-9);
    let x = |value: f64| LABEL_WIDTH + value / scale_end * (WIDTH - LABEL_WIDTH - NOTE_WIDTH);
    text(out, 16.0, top + 18.0, "font-weight=\"bold\"", &panel.title);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in panel.bars.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for (index, name) in names.iter().enumerate() {
        let left = LABEL_WIDTH + index as f64 * 90.0;
        rect(out, left, top + 8.0, 12.0, 12.0, COLOURS[index % COLOURS.len()]);
        text(out, left + 17.0, top + 18.0, "", name);
    }
    let (first, last) = (top + HEAD - 12.0, top + HEAD + panel.bars.len() as f64 * (BAR_HEIGHT + GAP));
    let limit = x(panel.limit);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<line x1=\"{limit:.1}\" y1=\"{first:.1}\" x2=\"{limit:.1}\" y2=\"{last:.1}\" stroke=\"#444\" stroke-dasharray=\"5 4\"/>"
    );
    text(
        out,
        limit,
        first - 4.0,
        "text-anchor=\"end\" fill=\"#444\"",
        &format!("most possible: {}", panel.limit_note),
    );
    for (index, bar) in panel.bars.iter().enumerate() {
        let y = top + HEAD + index as f64 * (BAR_HEIGHT + GAP);
        text(out, LABEL_WIDTH - 10.0, y + 15.5, "text-anchor=\"end\"", &bar.label);
        let mut from = 0.0;
        for (name, value) in &bar.parts {
            let colour = names.iter().position(|other| other == name).unwrap_or(0) % COLOURS.len();
            rect(out, x(from), y, x(from + value) - x(from), BAR_HEIGHT, COLOURS[colour]);
            from += value;
        }
        text(out, x(from).max(limit) + 8.0, y + 15.5, "", &bar.note);
    }
}

fn rect(out: &mut String, x: f64, y: f64, width: f64, height: f64, fill: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
    );
}

fn text(out: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{escaped}</text>");
}
