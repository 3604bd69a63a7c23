//! Delays and goodputs over time, drawn: one panel for each flow, one line for each variant.
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use prismux_study::compare::Outcome;
use prismux_trace::results::{FlowResult, RunResult, TimeSeries};
use std::error::Error;
use std::ops::Range;
use std::path::Path;

/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(204, 121, 167),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
/// More panels would not be looked at.
const MAX_PANELS: usize = 4;
const WIDTH: u32 = 900;
const PANEL_HEIGHT: u32 = 260;
const LEGEND_WIDTH: u32 = 130;
/// Where the legend begins, and from one line to the next.
const LEGEND_TOP: i32 = 50;
const LEGEND_LINE: i32 = 20;

/// What a panel shows of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    /// Mean one-way delay in milliseconds.
    Delay,
    /// Goodput in Mbit/s.
    Goodput,
}

/// One panel.
struct Panel {
    flow: String,
    shown: Shown,
    /// By variant: its name, and the points.
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// Draws the first result of every outcome into an SVG file.
///
/// # Errors
/// When there are no series to draw, and when the file cannot be written.
pub(crate) fn draw(outcomes: &[Outcome], file: &Path) -> Result<(), Box<dyn Error>> {
    let first = |outcome: &Outcome| Some((outcome.name.clone(), outcome.results.first()?.clone()));
    let runs: Vec<(String, RunResult)> = outcomes.iter().filter_map(first).collect();
    let panels = panels(&runs);
    if panels.is_empty() {
        let remedy = "--set measure.interval=500ms, and measure.delays=true for delays";
        return Err(format!("there is nothing over time to draw\n  remedy: {remedy}").into());
    }
    let size = (WIDTH, PANEL_HEIGHT * panels.len() as u32);
    let area = SVGBackend::new(file, size).into_drawing_area();
    area.fill(&WHITE)?;
    for (part, panel) in area.split_evenly((panels.len(), 1)).iter().zip(&panels) {
        let (part, beside) = part.split_horizontally(WIDTH - LEGEND_WIDTH);
        legend(&beside, panel)?;
        let points = || panel.lines.iter().flat_map(|(_, points)| points);
        let end = points().map(|(time, _)| *time).fold(0.0, f64::max);
        let least = points().map(|(_, value)| *value).filter(|value| *value > 0.0).fold(f64::MAX, f64::min);
        let most = points().map(|(_, value)| *value).fold(0.0, f64::max);
        match panel.shown {
            // From a power of ten to a power of ten.
            Shown::Delay => {
                let range = 10_f64.powf(least.log10().floor())..10_f64.powf(most.log10().ceil());
                chart(&part, panel, end, range.log_scale(), "one-way delay, ms")?;
            }
            Shown::Goodput => {
                chart(&part, panel, end, Range { start: 0.0, end: most * 1.05 }, "goodput, Mbit/s")?
            }
        }
    }
    area.present()?;
    Ok(())
}

/// Delays of the flows that wait for somebody (datagrams, responses), else of all; then goodputs of the others.
fn panels(runs: &[(String, RunResult)]) -> Vec<Panel> {
    let Some((_, first)) = runs.first() else { return Vec::new() };
    let waits = |flow: &FlowResult| flow.packets.is_some() || flow.response.is_some();
    let has_waiting = first.flows.values().any(waits);
    let chosen = |shown: Shown| {
        let wanted = move |flow: &FlowResult| match shown {
            Shown::Delay => waits(flow) || !has_waiting,
            Shown::Goodput => !waits(flow),
        };
        first.flows.iter().filter(move |(_, flow)| wanted(flow)).map(move |(name, _)| (name.clone(), shown))
    };
    let panels = chosen(Shown::Delay).chain(chosen(Shown::Goodput)).map(|(flow, shown)| {
        let line = |(name, run): &(String, RunResult)| {
            Some((name.clone(), points(run.series.as_ref()?, &flow, shown)?))
        };
        let lines = runs.iter().filter_map(line).collect();
        Panel { flow, shown, lines }
    });
    panels.filter(|panel| panel.lines.iter().any(|(_, points)| !points.is_empty())).take(MAX_PANELS).collect()
}

/// Times in seconds, and values.
fn points(series: &TimeSeries, flow: &str, shown: Shown) -> Option<Vec<(f64, f64)>> {
    let columns = series.flows.get(flow)?;
    let time = |k: usize| (k + 1) as f64 * series.interval_s;
    Some(match shown {
        Shown::Delay => {
            let delays = columns.delay_s.iter().enumerate();
            delays.filter_map(|(k, delay)| Some((time(k), (*delay)? * 1e3))).collect()
        }
        Shown::Goodput => {
            columns.goodput_bps.iter().enumerate().map(|(k, bps)| (time(k), bps / 1e6)).collect()
        }
    })
}

fn chart<Y>(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    end: f64,
    range: Y,
    unit: &str,
) -> Result<(), Box<dyn Error>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(&panel.flow, ("sans-serif", 16))
        .x_label_area_size(34)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end, range)?;
    chart.configure_mesh().light_line_style(WHITE).x_desc("time, s").y_desc(unit).draw()?;
    for ((_, points), colour) in panel.lines.iter().zip(COLOURS.iter().cycle()) {
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
    }
    Ok(())
}

/// Which colour is which variant.
fn legend(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), Box<dyn Error>> {
    for (k, ((name, _), colour)) in panel.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = LEGEND_TOP + k as i32 * LEGEND_LINE;
        area.draw(&PathElement::new([(0, y), (18, y)], colour.stroke_width(2)))?;
        area.draw(&Text::new(name.clone(), (24, y - 6), ("sans-serif", 12)))?;
    }
    Ok(())
}
