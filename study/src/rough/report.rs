//! What came of the cells, held against their best single links.
use super::Way;
use super::evaluation::{CellOutcome, WayOutcome};
use crate::number::{digits, or_dash};
use crate::statistics::Summary;
use crate::text_table::{Align, Table};
use serde::Serialize;

/// A way that gets less of the best single link than this breaks the promise.
pub const MIN_OF_BEST_SINGLE: f64 = 0.98;
/// Of several downloads in a row, each must get this much of the first.
const MIN_OF_FIRST: f64 = 0.9;

/// A cell with what each way achieved.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The cell's name.
    pub name: String,
    /// What it shows.
    pub summary: String,
    /// Which link is the best one alone, by its place in the cell.
    pub best_single: usize,
    /// Its goodput in bit/s.
    pub best_single_bps: Summary,
    /// What one TCP gets from each link alone, in sum, in bit/s.
    pub singles_sum_bps: f64,
    /// The most goodput that the links' rates allow, in bit/s.
    pub capacity_bps: f64,
    /// What others get on link 1 beside one TCP over it, in bit/s in sum; `None` where there are none.
    pub others_beside_single_bps: Option<f64>,
    /// Every way over all links that could run, in the order asked for.
    pub ways: Vec<WayLine>,
    /// Every way that could not run, and why.
    pub failures: Vec<(Way, String)>,
    /// What was measured.
    pub outcomes: Vec<WayOutcome>,
}

/// One way over all links of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct WayLine {
    /// Which way.
    pub way: Way,
    /// Its goodput in bit/s.
    pub goodput_bps: Summary,
    /// Goodput over that of the best single link, seed by seed.
    pub of_best_single: Summary,
    /// Goodput over what one TCP gets from each link alone, in sum.
    pub of_singles_sum: f64,
    /// Goodput over what the links' rates allow.
    pub of_capacity: f64,
    /// What others get on link 1 meanwhile, in bit/s in sum.
    pub others_bps: Option<f64>,
    /// Of several downloads in a row, the least bytes that one got over those of the first.
    pub least_over_first: Option<f64>,
    /// Whether the promise held.
    pub verdict: Verdict,
}

/// Whether the promise held: never slower than the best single link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least [`MIN_OF_BEST_SINGLE`] of it.
    Holds,
    /// Less.
    Slower,
    /// At least as fast, but a later download got less than the first.
    Fades,
}

impl Verdict {
    /// The verdict in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Slower => "SLOWER",
            Self::Fades => "FADES",
        }
    }
}

impl Line {
    /// Of a cell's outcome; `None` when no link alone had a result.
    pub fn new(outcome: CellOutcome) -> Option<Self> {
        let single = |way: &&WayOutcome| matches!(way.way, Way::Single(_));
        let singles: Vec<(&WayOutcome, Summary)> = outcome
            .ways
            .iter()
            .filter(single)
            .filter_map(|way| Some((way, Summary::of(&way.goodput_bps)?)))
            .collect();
        let best = singles.iter().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let Way::Single(place) = best.0.way else { return None };
        let singles_sum_bps = singles.iter().map(|(_, goodput)| goodput.mean).sum();
        let capacities = outcome.ways.iter().filter_map(|way| Some(Summary::of(&way.capacity_bps)?.mean));
        let capacity_bps = capacities.fold(0.0, f64::max);
        let of = |way: &WayOutcome| {
            let ratios: Vec<f64> =
                way.goodput_bps.iter().zip(&best.0.goodput_bps).map(|(own, single)| own / single).collect();
            let (goodput_bps, of_best_single) = (Summary::of(&way.goodput_bps)?, Summary::of(&ratios)?);
            let least_over_first = way.least_over_first.iter().copied().reduce(f64::min);
            Some(WayLine {
                way: way.way,
                goodput_bps,
                of_best_single,
                of_singles_sum: goodput_bps.mean / singles_sum_bps,
                of_capacity: goodput_bps.mean / capacity_bps,
                others_bps: others(way),
                least_over_first,
                verdict: verdict(of_best_single.mean, least_over_first),
            })
        };
        let failures = outcome.ways.iter().filter_map(|way| Some((way.way, way.failure.clone()?)));
        Some(Self {
            best_single: place,
            best_single_bps: best.1,
            singles_sum_bps,
            capacity_bps,
            others_beside_single_bps: singles.first().and_then(|(first, _)| others(first)),
            ways: outcome.ways.iter().filter(|way| !single(way)).filter_map(of).collect(),
            failures: failures.collect(),
            name: outcome.name,
            summary: outcome.summary,
            outcomes: outcome.ways,
        })
    }

    /// What a way achieved, if it was tried.
    pub fn way(&self, way: Way) -> Option<&WayLine> {
        self.ways.iter().find(|line| line.way == way)
    }

    /// Runs of all ways during which the machine was too busy to trust the figure.
    pub fn doubtful_runs(&self) -> usize {
        self.outcomes.iter().map(|way| way.doubtful_runs).sum()
    }

    /// PRISM's goodput over that of the better of MPTCP's congestion controls.
    pub fn to_mptcp(&self) -> Option<f64> {
        let mptcp = [Way::MptcpCubic, Way::MptcpBbr].into_iter().filter_map(|way| self.way(way));
        let best = mptcp.map(|line| line.goodput_bps.mean).reduce(f64::max)?;
        Some(self.way(Way::Prism)?.goodput_bps.mean / best)
    }
}

/// The mean of what others got beside this way; `None` where there are none.
fn others(way: &WayOutcome) -> Option<f64> {
    Summary::of(&way.rivals_bps).map(|summary| summary.mean).filter(|&bps| bps > 0.0)
}

fn verdict(of_best_single: f64, least_over_first: Option<f64>) -> Verdict {
    match (of_best_single >= MIN_OF_BEST_SINGLE, least_over_first) {
        (false, _) => Verdict::Slower,
        (true, Some(least)) if least < MIN_OF_FIRST => Verdict::Fades,
        _ => Verdict::Holds,
    }
}

/// All cells as a table: goodput in Mbit/s, the first way judged, the others beside it.
pub fn table(lines: &[Line], ways: &[Way]) -> String {
    let Some((judged, further)) = ways.split_first() else { return String::new() };
    let name = judged.name();
    let mut columns =
        vec!["links", "possible", "best single", "all single", &name, "of best", "of all", "of possible", ""];
    let shared = lines.iter().any(|line| line.others_beside_single_bps.is_some());
    columns.extend(shared.then_some("others"));
    let names: Vec<String> = further.iter().map(|way| way.name()).collect();
    columns.extend(names.iter().map(String::as_str));
    let mut table = Table::new(&columns).align(8, Align::Left);
    let mbps = |bps: f64| digits(bps / 1e6);
    for line in lines {
        let own = line.way(*judged);
        let spread = |summary: Summary, text: fn(f64) -> String| match summary.ci95 {
            Some(_) => format!("{} ± {}", text(summary.mean), text(summary.half_width())),
            None => text(summary.mean),
        };
        let mut row = vec![
            line.name.clone(),
            mbps(line.capacity_bps),
            mbps(line.best_single_bps.mean),
            mbps(line.singles_sum_bps),
            or_dash(own, |own| spread(own.goodput_bps, |bps| digits(bps / 1e6))),
            or_dash(own, |own| spread(own.of_best_single, |ratio| format!("{ratio:.2}"))),
            or_dash(own, |own| format!("{:.2}", own.of_singles_sum)),
            or_dash(own, |own| format!("{:.2}", own.of_capacity)),
            or_dash(own, |own| {
                let doubt = if line.doubtful_runs() > 0 { " (busy)" } else { "" };
                format!("{}{doubt}", own.verdict.name())
            }),
        ];
        let left = own.and_then(|own| own.others_bps.zip(line.others_beside_single_bps));
        row.extend(
            shared.then(|| or_dash(left, |(own, single)| format!("{} of {}", mbps(own), mbps(single)))),
        );
        row.extend(further.iter().map(|&way| or_dash(line.way(way), |other| mbps(other.goodput_bps.mean))));
        table.row(row);
    }
    table.to_string()
}

/// One way over all cells.
#[derive(Debug, Clone, Serialize)]
pub struct WaySummary {
    /// Which way.
    pub way: Way,
    /// Cells that it was tried on.
    pub cells: usize,
    /// Cells where the promise did not hold.
    pub broken: Vec<String>,
    /// Geometric mean of goodput over that of the best single link.
    pub of_best_single: f64,
    /// Geometric mean of goodput over what one TCP gets from each link alone, in sum.
    pub of_singles_sum: f64,
    /// Least goodput over that of the best single link, and the cell.
    pub worst: (f64, String),
}

/// Sums up a way over all cells; `None` if it was tried on none.
pub fn summarise(lines: &[Line], way: Way) -> Option<WaySummary> {
    let tried: Vec<(&Line, &WayLine)> =
        lines.iter().filter_map(|line| Some((line, line.way(way)?))).collect();
    let worst = tried.iter().min_by(|a, b| a.1.of_best_single.mean.total_cmp(&b.1.of_best_single.mean))?;
    let broken = tried.iter().filter(|(_, own)| own.verdict != Verdict::Holds);
    Some(WaySummary {
        way,
        cells: tried.len(),
        broken: broken.map(|(line, _)| line.name.clone()).collect(),
        of_best_single: geometric_mean(tried.iter().map(|(_, own)| own.of_best_single.mean)),
        of_singles_sum: geometric_mean(tried.iter().map(|(_, own)| own.of_singles_sum)),
        worst: (worst.1.of_best_single.mean, worst.0.name.clone()),
    })
}

/// Geometric mean of positive values; 1 of none.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    if count == 0 { 1.0 } else { (sum / f64::from(count)).exp() }
}
