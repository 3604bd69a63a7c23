//! The picture of rough links: a row for each cell, and how much of the best single link each way gets.

use prismux_study::rough::Way;
use prismux_study::rough::report::{Line, MIN_OF_BEST_SINGLE};
use std::fmt::Write as _;

const SIZE: f64 = 12.0;
const ROW: f64 = 18.0;
/// Room for a letter of a cell's name.
const LETTER: f64 = 7.0;
const PLOT: f64 = 560.0;
const TOP: f64 = 70.0;
const MARGIN: f64 = 16.0;
/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"];
/// Where the scale begins and ends: a quarter of the best single link, eight times as much.
const SCALE: [f64; 2] = [0.25, 8.0];
const TICKS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// The picture as SVG text.
pub(crate) fn draw(lines: &[Line], ways: &[Way]) -> String {
    let bottom = TOP + ROW * lines.len() as f64;
    let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let left = MARGIN + LETTER * longest as f64;
    let (width, height) = (left + PLOT + 4.0 * MARGIN, bottom + 40.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{SIZE}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"16\" font-weight=\"bold\">Goodput over that of the best single \
         link</text>\n"
    );
    for tick in TICKS {
        let x = left + place(tick);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            TOP - 4.0,
            bottom + 16.0
        );
    }
    let least = left + place(MIN_OF_BEST_SINGLE);
    let _ = writeln!(
        out,
        "<line x1=\"{least:.1}\" y1=\"{TOP}\" x2=\"{least:.1}\" y2=\"{bottom}\" stroke=\"#444\" \
         stroke-dasharray=\"5 4\"/>"
    );
    legend(&mut out, ways);
    for (index, line) in lines.iter().enumerate() {
        row(&mut out, [left, TOP + ROW * (index as f64 + 0.5)], line, ways);
    }
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String, ways: &[Way]) {
    let mut left = MARGIN;
    let marks = ways.iter().map(|way| way.name()).chain(["all links alone, in sum".to_string()]);
    for (index, name) in marks.enumerate() {
        let colour = if index == ways.len() { "none" } else { COLOURS[index % COLOURS.len()] };
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"44\" r=\"5\" fill=\"{colour}\" stroke=\"#444\"/>\
             <text x=\"{:.1}\" y=\"48\">{name}</text>",
            left + 5.0,
            left + 15.0
        );
        left += 35.0 + 7.0 * name.len() as f64;
    }
}

fn row(out: &mut String, [left, y]: [f64; 2], line: &Line, ways: &[Way]) {
    let name = line.name.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n\
         <circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"none\" stroke=\"#444\"/>",
        left - 4.0,
        y + 4.0,
        left + place(line.singles_sum_bps / line.best_single_bps.mean)
    );
    // The first way lies on top.
    for (index, way) in ways.iter().enumerate().rev() {
        if let Some(own) = line.way(*way) {
            let (ratio, colour) = (own.of_best_single.mean, COLOURS[index % COLOURS.len()]);
            let x = left + place(ratio);
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"/>");
            if !(SCALE[0]..=SCALE[1]).contains(&ratio) {
                let at = (x + 8.0, y + 4.0);
                let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{ratio:.2}</text>", at.0, at.1);
            }
        }
    }
}

/// Where a ratio stands right of the names, on a logarithmic scale; what lies beyond it stands at its end, with its
/// value beside it.
fn place(ratio: f64) -> f64 {
    let [low, high] = SCALE.map(f64::ln);
    MARGIN + PLOT * (ratio.clamp(SCALE[0], SCALE[1]).ln() - low) / (high - low)
}
