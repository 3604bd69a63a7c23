//! The curves of the source's figures 6 (equal pipes) and 7 (the second pipe three times as fast), from the closed
//! forms.
//!
//! Loads that the source does not name are spread over the range it gives. Its figure 6(c) shows the slope of the
//! total delay "at" the even split, where it is zero; here it is taken a hundredth beside it.
use super::simulation::Splitter;
use super::{Delays, Pair, application, limits, transport};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Loads of figures 6(a) and 6(b).
pub const EQUAL_LOADS: [f64; 5] = [0.35, 0.40, 0.45, 0.495, 0.55];
/// Loads of figures 7(a) to 7(c).
pub const UNEQUAL_LOADS: [f64; 6] = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95];
/// Rate of the second pipe over that of the first in figures 7(a) to 7(c).
pub const RATIO: f64 = 3.0;
/// The same in figure 7(d).
pub const RATIOS: [f64; 5] = [1.5, 2.0, 3.0, 5.0, 10.0];
/// Splits of figure 6(d) besides the even one.
pub const UNEVEN_SPLITS: [f64; 3] = [0.45, 0.4, 0.3];
/// How far beside the even split figure 6(c) is taken.
pub const BESIDE: f64 = 0.01;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// As in the source: "6a".
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The horizontal axis, with its unit.
    pub x: &'static str,
    /// The vertical axis, with its unit.
    pub y: &'static str,
    /// Its curves.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Who splits, and the parameter.
    pub label: String,
    /// The same for programs.
    pub setting: Setting,
    /// Points from left to right; only where the queues are stable.
    pub points: Vec<(f64, f64)>,
}

/// What stays the same along a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Who splits.
    pub splitter: Splitter,
    /// Rate of the second pipe over that of the first.
    pub ratio: f64,
    /// Load over capacity, where it is no axis.
    pub load: Option<f64>,
    /// Share of the first pipe, where it is no axis.
    pub split: Option<f64>,
}

impl Setting {
    fn new(splitter: Splitter, ratio: f64) -> Self {
        Self { splitter, ratio, load: None, split: None }
    }

    fn loaded(self, load: f64) -> Self {
        Self { load: Some(load), ..self }
    }

    fn split(self, split: f64) -> Self {
        Self { split: Some(split), ..self }
    }
}

/// All eight.
pub fn all() -> Vec<Figure> {
    const SPLIT: &str = "share of the first pipe";
    const DELAY: &str = "mean delay, service times of the first pipe";
    const LOAD: &str = "load over capacity";
    let figure = |name, title, x, y, curves| Figure { name, title, x, y, curves };
    let resequencing = |delays: Delays| delays.resequencing;
    let total = |delays: Delays| delays.total();
    vec_of([
        figure(
            "6a",
            "resequencing, equal pipes",
            SPLIT,
            DELAY,
            by_split(1.0, &EQUAL_LOADS, BOTH, resequencing),
        ),
        figure("6b", "total delay, equal pipes", SPLIT, DELAY, by_split(1.0, &EQUAL_LOADS, BOTH, total)),
        figure("6c", "slope of the total delay beside the even split", LOAD, "delay per share", slopes()),
        figure("6d", "largest load for a bounded total delay", "bound, service times", LOAD, largest_loads()),
        figure(
            "7a",
            "resequencing, application",
            SPLIT,
            DELAY,
            by_split(RATIO, &UNEQUAL_LOADS, ASM, resequencing),
        ),
        figure(
            "7b",
            "resequencing, transport",
            SPLIT,
            DELAY,
            by_split(RATIO, &UNEQUAL_LOADS, TSM, resequencing),
        ),
        figure("7c", "total delay", SPLIT, DELAY, by_split(RATIO, &UNEQUAL_LOADS, BOTH, total)),
        figure("7d", "best split", LOAD, SPLIT, best_splits()),
    ])
}

fn vec_of<const N: usize>(figures: [Figure; N]) -> Vec<Figure> {
    figures.into_iter().collect()
}

/// Which models a figure shows: application, transport.
type Models = [bool; 2];
const BOTH: Models = [true, true];
const ASM: Models = [true, false];
const TSM: Models = [false, true];

/// `steps + 1` values from `from` to `to`.
fn range(from: f64, to: f64, steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| from + (to - from) * f64::from(step) / f64::from(steps))
}

fn by_split(ratio: f64, loads: &[f64], models: Models, of: impl Fn(Delays) -> f64) -> Vec<Curve> {
    let mut curves = Vec::new();
    for &load in loads {
        let Some(pair) = Pair::at_intensity(load, ratio) else { continue };
        if models[0] {
            let (low, high) = pair.stable_splits();
            let at = |split: f64| Some((split, of(application::delays(&pair, split)?)));
            let points = range(low, high, 200).filter_map(at).collect();
            let setting = Setting::new(Splitter::Application, ratio).loaded(load);
            curves.push(Curve { label: format!("application, load {load}"), setting, points });
        }
        if models[1] {
            let points =
                range(0.0, 1.0, 50).map(|split| (split, of(transport::delays(&pair, split)))).collect();
            let setting = Setting::new(Splitter::Transport, ratio).loaded(load);
            curves.push(Curve { label: format!("transport, load {load}"), setting, points });
        }
    }
    curves
}

/// Change of the total delay with the first pipe's share, equal pipes, [`BESIDE`] the even split.
pub fn slope_beside_even(load: f64) -> Option<f64> {
    const STEP: f64 = 1e-4;
    let pair = Pair::at_intensity(load, 1.0)?;
    let at = |split: f64| application::delays(&pair, split).map(|delays| delays.total());
    Some((at(0.5 + BESIDE + STEP)? - at(0.5 + BESIDE - STEP)?) / (2.0 * STEP))
}

fn slopes() -> Vec<Curve> {
    let loads = || range(0.01, 0.96, 95);
    let application = loads().filter_map(|load| Some((load, slope_beside_even(load)?))).collect();
    let transport = loads().map(|load| (load, 0.0)).collect();
    let curve = |label: &str, splitter, points| Curve {
        label: label.into(),
        setting: Setting::new(splitter, 1.0).split(0.5 + BESIDE),
        points,
    };
    alloc::vec![
        curve("application", Splitter::Application, application),
        curve("transport", Splitter::Transport, transport),
    ]
}

/// The largest load of equal pipes whose total delay stays within `bound` when the application gives the share
/// `split` to the first pipe; by bisection, for the delay grows with the load.
pub fn largest_load(bound: f64, split: f64) -> f64 {
    let within = |load: f64| {
        let pair = Pair::at_intensity(load, 1.0);
        pair.and_then(|pair| application::delays(&pair, split)).is_some_and(|delays| delays.total() <= bound)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle) { low = middle } else { high = middle }
    }
    low
}

fn largest_loads() -> Vec<Curve> {
    let bounds = || range(1.05, 10.0, 179);
    let curve = |label: String, splitter, split, of: &dyn Fn(f64) -> f64| Curve {
        label,
        setting: Setting::new(splitter, 1.0).split(split),
        points: bounds().map(|bound| (bound, of(bound))).collect(),
    };
    let even: &dyn Fn(f64) -> f64 = &limits::largest_load_application;
    let mut curves = alloc::vec![
        curve("transport".into(), Splitter::Transport, 0.5, &limits::largest_load_transport),
        curve("application, even split".into(), Splitter::Application, 0.5, even),
    ];
    curves.extend(UNEVEN_SPLITS.map(|split| {
        let label = format!("application, split {split}");
        curve(label, Splitter::Application, split, &|bound| largest_load(bound, split))
    }));
    curves
}

fn best_splits() -> Vec<Curve> {
    let mut curves = Vec::new();
    for ratio in RATIOS {
        let along = |of: fn(&Pair) -> f64| -> Vec<(f64, f64)> {
            range(0.3, 0.995, 139)
                .filter_map(|load| Some((load, of(&Pair::at_intensity(load, ratio)?))))
                .collect()
        };
        let setting = Setting::new(Splitter::Application, ratio);
        let points = along(application::least_resequencing_split);
        curves.push(Curve {
            label: format!("application, least resequencing, ratio {ratio}"),
            setting,
            points,
        });
        let points = along(application::least_total_split);
        curves.push(Curve {
            label: format!("application, least total delay, ratio {ratio}"),
            setting,
            points,
        });
    }
    let points = range(0.3, 0.995, 139).map(|load| (load, 0.0)).collect();
    let setting = Setting::new(Splitter::Transport, RATIO);
    curves.push(Curve { label: "transport, every ratio".into(), setting, points });
    curves
}
