//! The figures: curves from the closed forms, and points of them from simulations of the queues.
//!
//! Where a figure shows a delay, some points of each of its curves are simulated. 6(c) is the derivative of 6(b) and
//! 7(d) says where 7(a) and 7(c) are lowest: these have curves alone.

use super::{Bench, loaded, resequencing, total};
use crate::claims::ClaimsError;
use crate::claims::report::{Drawing, Line, Spot, SpotAxis};
use crate::statistics::Summary;
use prismux_theory::queueing::Delays;
use prismux_theory::queueing::figures::{self, Curve, Figure, Setting};
use prismux_theory::queueing::simulation::Splitter;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const SOURCE: &str = "H.-Y. Hsieh, PhD thesis, Georgia Institute of Technology, 2004, section 3.3";
/// Where in the range of stable splits the application's delays are simulated.
const SHARES: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
/// Splits at which the transport's are.
const PREFERENCES: [f64; 3] = [0.0, 0.5, 1.0];
/// Bounds at which the largest load is.
const BOUNDS: [f64; 4] = [1.5, 3.0, 5.0, 8.0];

/// All of them.
pub(super) fn drawings(bench: &Bench) -> Vec<Drawing> {
    let mut queues = Queues { bench, runs: BTreeMap::new() };
    figures::all().into_iter().map(|figure| drawing(figure, &mut queues)).collect()
}

fn drawing(figure: Figure, queues: &mut Queues<'_>) -> Drawing {
    let mut line = |curve: Curve| Line {
        simulated: match figure.name {
            "6a" | "7a" | "7b" => queues.along_split(&curve.setting, resequencing),
            "6b" | "7c" => queues.along_split(&curve.setting, total),
            "6d" => queues.at_bounds(&curve),
            _ => Vec::new(),
        },
        label: curve.label,
        points: curve.points.into_iter().map(|(x, y)| (six_digits(x), six_digits(y))).collect(),
    };
    Drawing {
        name: figure.name.to_string(),
        title: figure.title.to_string(),
        x: figure.x.to_string(),
        y: figure.y.to_string(),
        curves: figure.curves.into_iter().map(&mut line).collect(),
    }
}

/// More than a picture shows, and a third of the file.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Simulated queues, each once: two figures may show different parts of the same delays.
struct Queues<'a> {
    bench: &'a Bench,
    /// By ratio, load, split and splitter.
    runs: BTreeMap<([u64; 3], bool), Vec<Delays>>,
}

impl Queues<'_> {
    fn run(&mut self, setting: &Setting, load: f64, split: f64) -> &[Delays] {
        let numbers = [setting.ratio, load, split].map(f64::to_bits);
        let key = (numbers, setting.splitter == Splitter::Application);
        let bench = self.bench;
        self.runs
            .entry(key)
            .or_insert_with(|| bench.run(&loaded(load, setting.ratio), split, setting.splitter))
    }

    fn along_split(&mut self, setting: &Setting, of: fn(&Delays) -> f64) -> Vec<Spot> {
        let Some(load) = setting.load else { return Vec::new() };
        let (low, high) = loaded(load, setting.ratio).stable_splits();
        let splits: Vec<f64> = match setting.splitter {
            Splitter::Application => SHARES.iter().map(|share| low + (high - low) * share).collect(),
            Splitter::Transport => PREFERENCES.to_vec(),
        };
        let spot = |split| {
            let values: Vec<f64> = self.run(setting, load, split).iter().map(of).collect();
            Some(Spot { at: split, axis: SpotAxis::Y, measured: Summary::of(&values)? })
        };
        splits.into_iter().filter_map(spot).collect()
    }

    /// The total delay at the load that the curve allows for a bound, which it should equal.
    fn at_bounds(&mut self, curve: &Curve) -> Vec<Spot> {
        let Some(split) = curve.setting.split else { return Vec::new() };
        let spot = |bound: f64| {
            let (_, load) =
                *curve.points.iter().min_by(|a, b| (a.0 - bound).abs().total_cmp(&(b.0 - bound).abs()))?;
            let values: Vec<f64> = self.run(&curve.setting, load, split).iter().map(total).collect();
            Some(Spot { at: load, axis: SpotAxis::X, measured: Summary::of(&values)? })
        };
        BOUNDS.into_iter().filter_map(spot).collect()
    }
}

/// Writes `queueing-6a.csv` to `queueing-7d.csv` and `queueing.json` into `folder`, which is made if needed.
pub(in crate::claims) fn write(folder: &Path, drawings: &[Drawing]) -> Result<(), ClaimsError> {
    fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for drawing in drawings {
        write_file(&folder.join(format!("queueing-{}.csv", drawing.name)), &csv(drawing))?;
    }
    let all = json!({ "version": env!("CARGO_PKG_VERSION"), "source": SOURCE, "figures": drawings });
    write_file(&folder.join("queueing.json"), &format!("{all}\n"))
}

fn write_file(path: &Path, text: &str) -> Result<(), ClaimsError> {
    fs::write(path, text).map_err(|error| cannot(path, error))
}

fn cannot(path: &Path, source: std::io::Error) -> ClaimsError {
    ClaimsError::Write { path: path.to_path_buf(), source }
}

/// One line a point of a closed form; the first lines say what the columns are.
fn csv(drawing: &Drawing) -> String {
    let mut text = format!(
        "# figure {}: {}; prismux {}; {SOURCE}\n# x: {}; y: {}\ncurve,x,y\n",
        drawing.name,
        drawing.title,
        env!("CARGO_PKG_VERSION"),
        drawing.x,
        drawing.y
    );
    for curve in &drawing.curves {
        for (x, y) in &curve.points {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\"{}\",{x},{y}", curve.label);
        }
    }
    text
}
