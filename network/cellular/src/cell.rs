//! The cell: hosts on a square, the base station in its middle.
use crate::reach::Reach;
use alloc::vec::Vec;
use core::fmt;
use prismux_endpoint::random::RandomStream;
use prismux_wireless::Position;

/// How hosts lie in the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Uniformly.
    Uniform,
    /// Half of them uniformly in the whole cell, the others uniformly in as many random squares of a 4 x 4 division
    /// (the thesis, section 7.2.2).
    HotSpots {
        /// Squares that hold the other half, 1 to 16.
        squares: usize,
    },
}

/// Hosts and a base station. The base station is the last host, [`Cell::base`].
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Where the hosts are, the base station last.
    pub places: Vec<Position>,
}

/// Why no cell could be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellError {
    /// There must be a host, and a side above 0 m.
    Empty,
    /// Hot spots lie in 1 to 16 squares.
    HotSpots(usize),
    /// None of many random cells was connected at this range, in metres.
    NeverConnected(f64),
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a cell needs a host and a side above 0 m"),
            Self::HotSpots(squares) => write!(f, "hot spots lie in 1 to 16 squares, not in {squares}"),
            Self::NeverConnected(range_m) => {
                write!(f, "none of {MAX_DRAWS} random cells is connected at a range of {range_m} m")
            }
        }
    }
}

impl core::error::Error for CellError {}

/// Random cells looked at before giving up on a connected one.
const MAX_DRAWS: u32 = 10_000;
/// Squares on a side of the division that hot spots lie in.
const SQUARES_PER_SIDE: usize = 4;

impl Cell {
    /// `hosts` random places on a square of `side_m` metres, the base station in the middle.
    ///
    /// # Errors
    /// [`CellError::Empty`] without hosts or side, [`CellError::HotSpots`] for squares that the division does not have.
    pub fn draw(
        hosts: usize,
        side_m: f64,
        placement: Placement,
        random: &mut RandomStream,
    ) -> Result<Self, CellError> {
        if hosts == 0 || !side_m.is_finite() || side_m <= 0.0 {
            return Err(CellError::Empty);
        }
        let mut places = match placement {
            Placement::Uniform => uniform(hosts, side_m, random),
            Placement::HotSpots { squares } => hot_spots(hosts, side_m, squares, random)?,
        };
        places.push(Position { x_m: side_m / 2.0, y_m: side_m / 2.0 });
        Ok(Self { places })
    }

    /// The first of many random cells in which a range of `range_m` metres connects all hosts and the base station.
    ///
    /// # Errors
    /// Those of [`Self::draw`], and [`CellError::NeverConnected`].
    pub fn draw_connected(
        hosts: usize,
        side_m: f64,
        range_m: f64,
        random: &mut RandomStream,
    ) -> Result<Self, CellError> {
        for _ in 0..MAX_DRAWS {
            let cell = Self::draw(hosts, side_m, Placement::Uniform, random)?;
            if Reach::new(&cell.places, range_m).is_connected() {
                return Ok(cell);
            }
        }
        Err(CellError::NeverConnected(range_m))
    }

    /// Hosts other than the base station.
    pub fn hosts(&self) -> usize {
        self.base()
    }

    /// The number of the base station.
    pub fn base(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    /// The least range in metres, the same for all, that connects all hosts and the base station.
    pub fn least_range_m(&self) -> f64 {
        least_range_m(&self.places)
    }

    /// The range in metres at which every host reaches the base station: what the cellular model needs.
    pub fn base_range_m(&self) -> f64 {
        let base = self.places.last().copied().unwrap_or_default();
        self.places.iter().map(|place| place.distance_m(base)).fold(0.0, f64::max)
    }
}

/// The least range in metres that connects all of `places`: the longest edge of the minimum spanning tree (Prim 1957).
pub(crate) fn least_range_m(places: &[Position]) -> f64 {
    let Some((&first, rest)) = places.split_first() else { return 0.0 };
    let mut outside: Vec<(Position, f64)> =
        rest.iter().map(|&place| (place, place.distance_m2(first))).collect();
    let mut longest: f64 = 0.0;
    while let Some(nearest) = (0..outside.len()).min_by(|&a, &b| outside[a].1.total_cmp(&outside[b].1)) {
        let (joined, edge) = outside.swap_remove(nearest);
        longest = longest.max(edge);
        for (place, distance) in &mut outside {
            *distance = distance.min(place.distance_m2(joined));
        }
    }
    libm::sqrt(longest)
}

fn uniform(hosts: usize, side_m: f64, random: &mut RandomStream) -> Vec<Position> {
    let mut draw = || random.uniform() * side_m;
    (0..hosts).map(|_| Position { x_m: draw(), y_m: draw() }).collect()
}

fn hot_spots(
    hosts: usize,
    side_m: f64,
    squares: usize,
    random: &mut RandomStream,
) -> Result<Vec<Position>, CellError> {
    const ALL: usize = SQUARES_PER_SIDE * SQUARES_PER_SIDE;
    if !(1..=ALL).contains(&squares) {
        return Err(CellError::HotSpots(squares));
    }
    let mut places = uniform(hosts - hosts / 2, side_m, random);
    let mut order: Vec<usize> = (0..ALL).collect();
    shuffle(&mut order, random);
    let square_m = side_m / SQUARES_PER_SIDE as f64;
    for _ in 0..hosts / 2 {
        let square = order[random.below(squares as u64) as usize];
        let (column, row) = (square % SQUARES_PER_SIDE, square / SQUARES_PER_SIDE);
        let mut inside = |index: usize| (index as f64 + random.uniform()) * square_m;
        places.push(Position { x_m: inside(column), y_m: inside(row) });
    }
    Ok(places)
}

/// Every order equally likely (Fisher and Yates).
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut RandomStream) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, CellError, Placement};
    use crate::reach::Reach;
    use prismux_endpoint::random::Seed;

    #[test]
    fn the_least_range_connects_and_a_millimetre_less_does_not() {
        for seed in 1..=20 {
            let mut random = Seed(seed).stream("cell");
            let cell = Cell::draw(100, 1500.0, Placement::Uniform, &mut random).unwrap();
            let least = cell.least_range_m();
            assert!(Reach::new(&cell.places, least + 1e-6).is_connected(), "seed {seed}: {least} m");
            assert!(!Reach::new(&cell.places, least - 1e-3).is_connected(), "seed {seed}: {least} m");
        }
    }

    #[test]
    fn half_of_the_hosts_lie_in_the_hot_spot() {
        let mut random = Seed(3).stream("cell");
        let cell = Cell::draw(100, 1500.0, Placement::HotSpots { squares: 1 }, &mut random).unwrap();
        let spot = cell.places[99];
        let same = |place: &prismux_wireless::Position| {
            (place.x_m / 375.0).floor() == (spot.x_m / 375.0).floor()
                && (place.y_m / 375.0).floor() == (spot.y_m / 375.0).floor()
        };
        assert!(cell.places[50..100].iter().all(same));
        assert!(cell.places[..50].iter().filter(|place| same(place)).count() < 15);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_by_name() {
        let mut random = Seed(1).stream("cell");
        let mut draw = |hosts, side, placement| Cell::draw(hosts, side, placement, &mut random);
        assert_eq!(draw(0, 1500.0, Placement::Uniform), Err(CellError::Empty));
        assert_eq!(draw(5, f64::NAN, Placement::Uniform), Err(CellError::Empty));
        assert_eq!(draw(5, 1.0, Placement::HotSpots { squares: 17 }), Err(CellError::HotSpots(17)));
        let lonely = Cell::draw_connected(5, 1500.0, 1.0, &mut random);
        assert_eq!(lonely, Err(CellError::NeverConnected(1.0)));
    }
}
