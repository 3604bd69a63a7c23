//! The four classes of handoff and a disconnection, with estimates of the bandwidth off by a factor.

use super::{GOLDEN, PLASTIC, between_ms, bytes_after, resumed_s, spread, times};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point_by_seed};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const CLASSES: Experiment = Experiment {
    id: "C",
    title: "a download, 1 to 10 s without a link (30 s for the disconnection)",
    claims: &["HO-001", "HO-003", "HO-006"],
    lab: false,
    jobs,
    judge,
};

/// A class: its scenario, and the bandwidth of the new link in kbit/s.
struct Class {
    name: &'static str,
    file: &'static str,
    kbps: u64,
    /// Shortest and longest time without a link, in seconds.
    gap_s: (f64, f64),
}

const fn class(name: &'static str, file: &'static str, kbps: u64) -> Class {
    Class { name, file, kbps, gap_s: (1.0, 10.0) }
}

const ALL: [Class; 5] = [
    class("low horizontal", "tcp-ho-low-horizontal", 384),
    class("high horizontal", "tcp-ho-high-horizontal", 5000),
    class("low to high", "tcp-ho-low-to-high", 5000),
    class("high to low", "tcp-ho-high-to-low", 384),
    Class { name: "disconnection", file: "tcp-ho-disconnection", kbps: 384, gap_s: (10.0, 30.0) },
];

/// Variants of the scenarios: TCP of today, TCP of the paper's time.
const ERAS: [(&str, &str); 2] = [("today", ""), ("2005", "-2005")];
const FACTORS: [f64; 3] = [0.5, 1.0, 2.0];
const COLUMNS: [&str; 4] = ["tcp", "tcp-ho x0.5", "tcp-ho x1", "tcp-ho x2"];

/// When the link ends and when the handoff is complete, in milliseconds.
fn moments(class: &Class, seed: u64) -> (u64, u64) {
    let down = between_ms(20.0, 22.0, spread(seed, GOLDEN));
    (down, down + between_ms(class.gap_s.0, class.gap_s.1, spread(seed, PLASTIC)))
}

fn key(class: &Class, era: &str, column: &str) -> String {
    format!("{}/{era}/{column}", class.name)
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for class in &ALL {
        for (era, suffix) in ERAS {
            for (index, column) in COLUMNS.into_iter().enumerate() {
                let (variant, factor) = match index {
                    0 => (format!("tcp{suffix}"), 1.0),
                    _ => (format!("tcp-ho{suffix}"), FACTORS[index - 1]),
                };
                let kbps = (class.kbps as f64 * factor) as u64;
                let set = |seed| {
                    let (down, back) = moments(class, seed);
                    let mut set = times(down, back, 75);
                    set.push(format!("events.2.bandwidth={kbps} kbit/s"));
                    set
                };
                let key = key(class, era, column);
                jobs.extend(point_by_seed(scope, key, class.file, Some(&variant), set)?);
            }
        }
    }
    Ok(jobs)
}

/// A quantity of one class in one era, by column.
fn row(
    outcomes: &Outcomes<'_>,
    class: &Class,
    era: &str,
    of: impl Fn(&RunResult, u64) -> Option<f64>,
) -> Vec<Option<Summary>> {
    let cell = |column: &str| {
        outcomes.summary(&key(class, era, column), |result| of(result, moments(class, result.seed).1))
    };
    COLUMNS.into_iter().map(cell).collect()
}

fn mean(cell: &Option<Summary>) -> f64 {
    cell.as_ref().map_or(f64::NAN, |summary| summary.mean)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let mut tables = Vec::new();
    let mut pairs = Pairs::default();
    for (era, _) in ERAS {
        let x = "class of handoff";
        let quantity = format!("seconds from the link's return to the first new data, TCP of {era}");
        let mut first = Series::new(x, &quantity, &COLUMNS);
        let quantity = format!("kB delivered in the 10 s after the link's return, TCP of {era}");
        let mut bytes = Series::new(x, &quantity, &COLUMNS);
        for class in &ALL {
            let resumed = row(outcomes, class, era, |result, back| resumed_s(result, "download", back));
            let delivered = row(outcomes, class, era, |result, back| {
                bytes_after(result, "download", back, 0, 10).map(|bytes| bytes / 1000.0)
            });
            let label = format!("{} ({era})", class.name);
            let pair = |note: &str, cells: &[Option<Summary>], column: usize| Pair {
                label: format!("{label}{note}"),
                told: mean(&cells[column]),
                plain: mean(&cells[0]),
            };
            pairs.gains.push(pair("", &delivered, 2));
            pairs.coarse.extend([pair(" x0.5", &delivered, 1), pair(" x2", &delivered, 3)]);
            pairs.idle.push(pair("", &resumed, 2));
            first.row(class.name, resumed);
            bytes.row(class.name, delivered);
        }
        tables.extend([first, bytes]);
    }
    (pairs.findings(), tables)
}

/// A quantity with TCP-HO and with plain TCP.
struct Pair {
    label: String,
    told: f64,
    plain: f64,
}

/// What the claims are read off.
#[derive(Default)]
struct Pairs {
    /// kB in the first 10 s, right estimate.
    gains: Vec<Pair>,
    /// The same, estimates off by a factor of two.
    coarse: Vec<Pair>,
    /// Seconds to the first new data.
    idle: Vec<Pair>,
}

impl Pairs {
    fn findings(&self) -> Vec<Finding> {
        let more = |pairs: &[Pair]| pairs.iter().all(|pair| pair.told > pair.plain);
        // Ratios without a bound where plain TCP delivered nothing sort last.
        let mut ratios: Vec<f64> = self.gains.iter().map(|pair| pair.told / pair.plain).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
        let lots = more(&self.gains) && median >= 1.2;
        let shorter = self.idle.iter().all(|pair| pair.told < pair.plain);
        vec![
            Finding::shape("HO-001", lots, format!("median ratio {}; {}", digits(median), list(&self.gains)))
                .because(
                    "kB in the first 10 s against plain TCP; a lot: a fifth in the median class, more in all",
                ),
            Finding::shape("HO-003", more(&self.coarse), list(&self.coarse))
                .because("the same with half and twice the bandwidth told"),
            Finding::shape("HO-006", shorter, list(&self.idle))
                .because("seconds to the first new data against plain TCP"),
        ]
    }
}

fn list(pairs: &[Pair]) -> String {
    let text = |pair: &Pair| format!("{} {}/{}", pair.label, digits(pair.told), digits(pair.plain));
    pairs.iter().map(text).collect::<Vec<_>>().join(", ")
}
