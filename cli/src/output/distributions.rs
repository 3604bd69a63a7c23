//! Both distributions, drawn: how many mixes stay below which efficiency, and below which ratio to the best single
//! link.
use plotters::coord::ranged1d::AsRangedCoord;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use prismux_study::mixes::report::{Line, variants};
use prismux_study::mixes::variant::Variant;
use std::error::Error;
use std::path::Path;

const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 90, 160), RGBColor(200, 80, 0), RGBColor(110, 110, 110), RGBColor(150, 30, 110)];

/// Draws `lines` into an SVG file.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn draw(lines: &[Line], file: &Path) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(file, (960, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let halves = area.split_evenly((1, 2));
    let efficiency = |line: &Line, variant| line.outcome(variant).map(|outcome| outcome.efficiency);
    chart(&halves[0], lines, "efficiency: goodput over capacity", 0.0..1.0, 0.9, &efficiency)?;
    let ratio = |line: &Line, variant| line.ratio(variant);
    let most =
        lines.iter().flat_map(|line| variants(lines).into_iter().filter_map(|variant| line.ratio(variant)));
    let most = most.fold(2.0, f64::max).min(8.0);
    chart(&halves[1], lines, "goodput over the best single link's", (0.5..most).log_scale(), 0.95, &ratio)?;
    area.present()?;
    Ok(())
}

/// One step curve per variant: share of mixes at or below each value; a thin line at the target.
fn chart<X>(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    lines: &[Line],
    caption: &str,
    range: X,
    target: f64,
    value: &dyn Fn(&Line, Variant) -> Option<f64>,
) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(range, 0.0..1.0)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(caption)
        .y_desc("share of mixes at or below")
        .draw()?;
    chart.draw_series(LineSeries::new([(target, 0.0), (target, 1.0)], BLACK.mix(0.4)))?;
    for (variant, colour) in variants(lines).into_iter().zip(COLOURS) {
        let mut values: Vec<f64> = lines.iter().filter_map(|line| value(line, variant)).collect();
        values.sort_by(f64::total_cmp);
        let step = 1.0 / values.len().max(1) as f64;
        let points = values
            .iter()
            .enumerate()
            .flat_map(|(index, &value)| [(value, index as f64 * step), (value, (index + 1) as f64 * step)]);
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(variant.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}
