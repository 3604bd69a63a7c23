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

/// Room left of the bars, at least; longer labels take more.
const LABEL_WIDTH: f64 = 200.0;
/// Room for a bar's note, at least.
const NOTE_WIDTH: f64 = 160.0;
/// Room for the bars themselves, whatever the labels take.
const BARS_WIDTH: f64 = 480.0;
/// Size of the letters, and of the picture's title.
const SIZE: f64 = 13.0;
const TITLE_SIZE: f64 = 17.0;
/// How much wider bold letters are.
const BOLD: f64 = 1.16;
const MARGIN: f64 = 16.0;
const BAR_HEIGHT: f64 = 22.0;
const GAP: f64 = 8.0;
const HEAD: f64 = 58.0;
/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"];

/// Where things stand from left to right.
struct Columns {
    bars: f64,
    notes: f64,
    width: f64,
}

impl Columns {
    /// Wide enough for every text of the picture.
    fn of(title: &str, panels: &[Panel]) -> Self {
        let widest =
            |texts: &mut dyn Iterator<Item = &str>, least: f64| texts.map(width).fold(least, f64::max);
        let bars = || panels.iter().flat_map(|panel| &panel.bars);
        let labels = widest(&mut bars().map(|bar| bar.label.as_str()), LABEL_WIDTH);
        let notes = widest(&mut bars().map(|bar| bar.note.as_str()), NOTE_WIDTH);
        let start = MARGIN + labels + 10.0;
        let end = start + BARS_WIDTH;
        let titles = BOLD
            * widest(&mut panels.iter().map(|panel| panel.title.as_str()), TITLE_SIZE / SIZE * width(title));
        Self { bars: start, notes: end, width: (end + 8.0 + notes + MARGIN).max(titles + 2.0 * MARGIN) }
    }
}

/// Room that a text takes. Nobody measures it: these are the widths of a wide face (DejaVu Sans), and readers with
/// another one get a little more space.
fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' | 'I' => 0.4,
        '(' | ')' | '[' | ']' | '/' | '-' | 'f' | 't' | 'r' => 0.45,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        'A'..='Z' | '+' | '=' | '<' | '>' | '~' => 0.84,
        c if c.is_ascii() => 0.65,
        _ => 1.0,
    };
    SIZE * text.chars().map(of).sum::<f64>()
}

/// The picture as SVG text.
pub(crate) fn draw(title: &str, panels: &[Panel]) -> String {
    let columns = Columns::of(title, panels);
    let width = columns.width;
    let heights = panels.iter().map(|panel| HEAD + panel.bars.len() as f64 * (BAR_HEIGHT + GAP) + GAP);
    let height = 44.0 + heights.clone().sum::<f64>() + 12.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" \
         viewBox=\"0 0 {width:.0} {height}\" font-family=\"sans-serif\" font-size=\"{SIZE}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut out, MARGIN, 28.0, &format!("font-size=\"{TITLE_SIZE}\" font-weight=\"bold\""), title);
    let mut top = 44.0;
    for (panel, height) in panels.iter().zip(heights) {
        draw_panel(&mut out, top, panel, &columns);
        top += height;
    }
    out.push_str("</svg>\n");
    out
}

fn draw_panel(out: &mut String, top: f64, panel: &Panel, columns: &Columns) {
    let longest = panel.bars.iter().map(|bar| bar.parts.iter().map(|(_, value)| value).sum::<f64>());
    let scale_end = longest.fold(panel.limit, f64::max).max(1e-9);
    let x = |value: f64| columns.bars + value / scale_end * (columns.notes - columns.bars);
    text(out, MARGIN, top + 18.0, "font-weight=\"bold\"", &panel.title);
    let names = part_names(panel);
    let mut left = columns.bars.max(MARGIN + BOLD * width(&panel.title) + 20.0);
    for (index, name) in names.iter().enumerate() {
        rect(out, left, top + 8.0, 12.0, 12.0, COLOURS[index % COLOURS.len()]);
        text(out, left + 17.0, top + 18.0, "", name);
        left += 35.0 + width(name);
    }
    let (first, last) = (top + HEAD - 12.0, top + HEAD + panel.bars.len() as f64 * (BAR_HEIGHT + GAP));
    let limit = x(panel.limit);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<line x1=\"{limit:.1}\" y1=\"{first:.1}\" x2=\"{limit:.1}\" y2=\"{last:.1}\" stroke=\"#444\" \
            stroke-dasharray=\"5 4\"/>"
    );
    let most = format!("most possible: {}", panel.limit_note);
    text(out, limit, first - 4.0, "text-anchor=\"end\" fill=\"#444\"", &most);
    for (index, bar) in panel.bars.iter().enumerate() {
        let y = top + HEAD + index as f64 * (BAR_HEIGHT + GAP);
        text(out, columns.bars - 10.0, y + 15.5, "text-anchor=\"end\"", &bar.label);
        let mut from = 0.0;
        for (name, value) in &bar.parts {
            let colour = names.iter().position(|other| other == name).unwrap_or(0) % COLOURS.len();
            rect(out, x(from), y, x(from + value) - x(from), BAR_HEIGHT, COLOURS[colour]);
            from += value;
        }
        text(out, x(from).max(limit) + 8.0, y + 15.5, "", &bar.note);
    }
}

/// Names of the parts of all bars, once each.
fn part_names(panel: &Panel) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in panel.bars.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
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

#[cfg(test)]
mod tests;
