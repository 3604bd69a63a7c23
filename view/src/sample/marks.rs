//! Points with a height, by the thousand or the million.
use super::Buckets;

/// Marks that lie together: as many as `count`, in the smallest box around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Time of the first, in nanoseconds.
    pub first: u64,
    /// Time of the last.
    pub last: u64,
    /// Least height.
    pub low: u64,
    /// Greatest height.
    pub high: u64,
    /// How many marks.
    pub count: u64,
}

/// Marks, and ever coarser versions of them, so that a long run costs no more to draw than a short one.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    cells: Vec<Cell>,
    /// Coarser versions with the width of their buckets, each [`COARSENING`] times as wide as the one before.
    coarser: Vec<(u64, Vec<Cell>)>,
}

/// By how much buckets grow from version to version.
const COARSENING: u64 = 4;
/// Fewer marks than this are never made coarser.
const FEW: usize = 4096;
/// Rows that the whole height of a coarser version is cut into.
const ROWS: u64 = 4096;

impl Marks {
    /// A mark at `time` from `low` to `high`. Times must not go back.
    pub fn push(&mut self, time: u64, low: u64, high: u64) {
        debug_assert!(self.cells.last().is_none_or(|last| last.first <= time), "times go back");
        self.cells.push(Cell { first: time, last: time, low, high, count: 1 });
    }

    /// Number of marks.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True without any mark.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Builds the coarser versions. Call it once, after the last mark.
    pub fn finish(&mut self) {
        let (Some(first), Some(last)) = (self.cells.first(), self.cells.last()) else { return };
        let row = (self.cells.iter().map(|cell| cell.high).max().unwrap_or(0) / ROWS).max(1);
        // Two marks in each of the narrowest buckets, on average.
        let mut width = ((last.first - first.first) / self.cells.len() as u64 * 2).max(1);
        let span = last.first - first.first;
        self.coarser.clear();
        loop {
            let finer = self.coarser.last().map_or(&self.cells, |(_, cells)| cells);
            if finer.len() <= FEW || width > span {
                break;
            }
            let cells = merged(finer, |cell| cell.first / width, row);
            // A version that saves little is not worth its place.
            if cells.len() * 2 < finer.len() {
                self.coarser.push((width, cells));
            }
            width *= COARSENING;
        }
    }

    /// Least and greatest height in `[from, to)`.
    pub fn heights(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let cells = self.within(from, to, (to - from) / 1024);
        cells.iter().map(|cell| (cell.low, cell.high)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The marks of each bucket, those within `row` of each other's heights together. Counts are kept: cells belong to
    /// the bucket of their first mark.
    pub fn sample(&self, buckets: &Buckets, row: u64) -> Vec<Cell> {
        let span = buckets.to - buckets.from;
        let cells = self.within(buckets.from, buckets.to, span / buckets.count as u64 / 2);
        let column = |cell: &Cell| {
            (u128::from(cell.first - buckets.from) * buckets.count as u128 / u128::from(span)) as u64
        };
        merged(cells, column, row.max(1))
    }

    /// The cells that begin in `[from, to)`, of the coarsest version with buckets up to `width`.
    fn within(&self, from: u64, to: u64, width: u64) -> &[Cell] {
        let version = self.coarser.iter().rev().find(|(own, _)| *own <= width);
        let cells = version.map_or(&self.cells, |(_, cells)| cells);
        let index = |time: u64| cells.partition_point(|cell| cell.first < time);
        &cells[index(from)..index(to).max(index(from))]
    }
}

/// Joins cells of the same column whose heights are less than `row` apart; the result is in order of time.
fn merged(cells: &[Cell], column: impl Fn(&Cell) -> u64, row: u64) -> Vec<Cell> {
    let mut result: Vec<Cell> = Vec::new();
    let mut open: Vec<Cell> = Vec::new();
    for cells in cells.chunk_by(|a, b| column(a) == column(b)) {
        open.clear();
        open.extend_from_slice(cells);
        open.sort_by_key(|cell| cell.low);
        let begin = result.len();
        for cell in &open {
            match result[begin..].last_mut() {
                Some(last) if cell.low < last.high.saturating_add(row) => join(last, cell),
                _ => result.push(*cell),
            }
        }
        result[begin..].sort_by_key(|cell| cell.first);
    }
    result
}

fn join(into: &mut Cell, cell: &Cell) {
    into.first = into.first.min(cell.first);
    into.last = into.last.max(cell.last);
    into.low = into.low.min(cell.low);
    into.high = into.high.max(cell.high);
    into.count += cell.count;
}
