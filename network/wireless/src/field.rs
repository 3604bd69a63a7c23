//! Hosts on the plane: where each is, and who is near enough to hear it.
//!
//! Every host that sends has a list of those who may hear it. A list is made from a snapshot of all positions and
//! reaches farther than the radio does by as much as two hosts can approach one another while the snapshot holds. A
//! frame therefore costs nothing for hosts that are far away, and a host that moves costs nothing until somebody asks.
use crate::mobility::{Leg, Position, Source};
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// In place of a channel: a radio that is tuned to none. Nobody hears it, and it hears nobody.
pub(crate) const NO_CHANNEL: u8 = 0;

/// The share of the radio's reach by which lists are longer.
const SLACK: f64 = 0.1;

/// The positions of all hosts, and lists of neighbours.
#[derive(Debug)]
pub(crate) struct Field {
    legs: Vec<Leg>,
    sources: Vec<Source>,
    channels: Vec<u8>,
    /// Of the radio that reaches farthest.
    reach_m: f64,
    /// How long a snapshot holds.
    holds_for: Duration,
    valid_until: Instant,
    grid: Grid,
    /// Lists made from the present snapshot; empty for hosts that have not sent since.
    lists: Vec<Option<Vec<Neighbour>>>,
    /// Hosts within reach of the latest frame; its room is used again.
    measured: Vec<Neighbour>,
}

/// A host that may hear another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbour {
    pub host: u32,
    /// The mean power there; in lists among hosts that never move alone, else not a number.
    pub power_w: f64,
}

/// The snapshot: positions, and the hosts in each square cell.
#[derive(Debug, Default)]
struct Grid {
    places: Vec<Position>,
    cell_m: f64,
    corner: Position,
    columns: usize,
    rows: usize,
    /// Hosts sorted by cell; those of cell `k` from `starts[k]` to `starts[k + 1]`.
    hosts: Vec<u32>,
    starts: Vec<u32>,
}

/// Most cells of a grid, however far apart the hosts are.
const MAX_CELLS_PER_SIDE: f64 = 256.0;

impl Field {
    pub fn new(hosts: Vec<(Leg, Source, u8)>, reach_m: f64, max_speed_m_per_s: f64) -> Self {
        let count = hosts.len();
        let (mut legs, mut sources, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        for (leg, source, channel) in hosts {
            legs.push(leg);
            sources.push(source);
            channels.push(channel);
        }
        let holds_for = match max_speed_m_per_s > 0.0 {
            true => Duration::from_secs_f64(SLACK * reach_m / (2.0 * max_speed_m_per_s)),
            false => Duration::MAX,
        };
        let lists = vec![None; count];
        Self {
            legs,
            sources,
            channels,
            reach_m,
            holds_for,
            valid_until: Instant::ZERO,
            grid: Grid::default(),
            lists,
            measured: Vec::new(),
        }
    }

    /// Whether nobody ever moves.
    pub fn is_static(&self) -> bool {
        self.holds_for == Duration::MAX
    }

    /// The channel of a host, [`NO_CHANNEL`] among them.
    pub fn channel(&self, host: u32) -> Option<u8> {
        self.channels.get(host as usize).copied()
    }

    /// A host is on another channel from now on.
    pub fn set_channel(&mut self, host: u32, channel: u8) {
        if let Some(place) = self.channels.get_mut(host as usize) {
            *place = channel;
            self.lists.fill(None);
        }
    }

    /// Where a host is.
    #[inline]
    pub fn position(&mut self, host: u32, now: Instant) -> Position {
        let index = host as usize;
        let Some(leg) = self.legs.get_mut(index) else { return Position::default() };
        if leg.until <= now
            && let Some(source) = self.sources.get_mut(index)
        {
            source.advance(leg, now);
        }
        leg.at(now)
    }

    /// Who may hear `sender`, whose radio reaches so far, with the mean power there, which `power_w` makes of a squared
    /// distance.
    #[inline]
    pub fn near(
        &mut self,
        sender: u32,
        (now, reach_m): (Instant, f64),
        power_w: impl Fn(f64) -> f64,
    ) -> &[Neighbour] {
        if now >= self.valid_until {
            self.look(now);
        }
        let index = sender as usize;
        let list = self.lists.get_mut(index).and_then(Option::take);
        let list = list.unwrap_or_else(|| self.list(sender, (now, reach_m), &power_w));
        let is_static = self.is_static();
        if !is_static {
            self.measure(sender, (now, reach_m), &list);
            // In a loop of their own the divisions run ahead of one another.
            self.measured.iter_mut().for_each(|neighbour| neighbour.power_w = power_w(neighbour.power_w));
        }
        match self.lists.get_mut(index) {
            Some(place) => {
                let list = place.insert(list);
                if is_static { list } else { &self.measured }
            }
            None => &[],
        }
    }

    /// Leaves in `measured` who of the `list` of `sender` is within reach now, with the squared distance in place of
    /// the power. A loop of its own, without a branch for each distance: what hosts make of a signal takes longer than
    /// this and would keep the processor from running ahead.
    fn measure(&mut self, sender: u32, (now, reach_m): (Instant, f64), list: &[Neighbour]) {
        let here = self.position(sender, now);
        let reach_m2 = reach_m * reach_m;
        let mut measured = core::mem::take(&mut self.measured);
        measured.resize(list.len(), Neighbour { host: 0, power_w: 0.0 });
        let mut within = 0;
        for &Neighbour { host, .. } in list {
            let distance_m2 = self.position(host, now).distance_m2(here);
            measured[within] = Neighbour { host, power_w: distance_m2 };
            within += usize::from(distance_m2 <= reach_m2);
        }
        measured.truncate(within);
        self.measured = measured;
    }

    /// Who may hear `sender` while the snapshot holds.
    fn list(
        &mut self,
        sender: u32,
        (now, reach_m): (Instant, f64),
        power_w: impl Fn(f64) -> f64,
    ) -> Vec<Neighbour> {
        let hosts = self.grid.around(sender, self.listed_within_m(), &self.channels);
        if !self.is_static() {
            return hosts.into_iter().map(|host| Neighbour { host, power_w: f64::NAN }).collect();
        }
        let here = self.position(sender, now);
        let reach_m2 = reach_m * reach_m;
        let mut neighbour = |host: u32| {
            let distance_m2 = self.position(host, now).distance_m2(here);
            (distance_m2 <= reach_m2).then(|| Neighbour { host, power_w: power_w(distance_m2) })
        };
        hosts.into_iter().filter_map(&mut neighbour).collect()
    }

    fn listed_within_m(&self) -> f64 {
        if self.is_static() { self.reach_m } else { self.reach_m * (1.0 + SLACK) }
    }

    /// Takes a snapshot.
    #[cold]
    fn look(&mut self, now: Instant) {
        let places = (0..self.legs.len() as u32).map(|host| self.position(host, now)).collect();
        self.grid = Grid::new(places, self.listed_within_m());
        self.lists.fill(None);
        self.valid_until = now + self.holds_for;
    }
}

impl Grid {
    fn new(places: Vec<Position>, cell_m: f64) -> Self {
        let extreme = |pick: fn(&Position) -> f64, best: fn(f64, f64) -> f64| {
            places.iter().map(pick).reduce(best).unwrap_or(0.0)
        };
        let corner = Position { x_m: extreme(|p| p.x_m, f64::min), y_m: extreme(|p| p.y_m, f64::min) };
        let width = extreme(|p| p.x_m, f64::max) - corner.x_m;
        let height = extreme(|p| p.y_m, f64::max) - corner.y_m;
        let cell_m = cell_m.max(width.max(height) / MAX_CELLS_PER_SIDE);
        let (columns, rows) = ((width / cell_m) as usize + 1, (height / cell_m) as usize + 1);
        let mut grid = Self { places, cell_m, corner, columns, rows, hosts: Vec::new(), starts: Vec::new() };
        grid.sort();
        grid
    }

    fn cell_of(&self, place: Position) -> (usize, usize) {
        let column = ((place.x_m - self.corner.x_m) / self.cell_m) as usize;
        let row = ((place.y_m - self.corner.y_m) / self.cell_m) as usize;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }

    /// Sorts hosts by cell, those of a cell by number.
    fn sort(&mut self) {
        let cell = |grid: &Self, place: Position| {
            let (column, row) = grid.cell_of(place);
            row * grid.columns + column
        };
        let cells: Vec<usize> = self.places.iter().map(|&place| cell(self, place)).collect();
        let mut starts = vec![0_u32; self.columns * self.rows + 1];
        for &cell in &cells {
            starts[cell + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut hosts = vec![0_u32; cells.len()];
        for (host, &cell) in cells.iter().enumerate() {
            hosts[next[cell] as usize] = host as u32;
            next[cell] += 1;
        }
        (self.hosts, self.starts) = (hosts, starts);
    }

    /// Hosts on the channel of `sender` that were within `within_m` of it, in order of their numbers.
    fn around(&self, sender: u32, within_m: f64, channels: &[u8]) -> Vec<u32> {
        let here = self.places[sender as usize];
        let channel = channels[sender as usize];
        let (column, row) = self.cell_of(here);
        let mut found = Vec::new();
        if channel == NO_CHANNEL {
            return found;
        }
        for row in row.saturating_sub(1)..=(row + 1).min(self.rows - 1) {
            for column in column.saturating_sub(1)..=(column + 1).min(self.columns - 1) {
                let cell = row * self.columns + column;
                let (from, to) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
                found.extend(self.hosts[from..to].iter().copied().filter(|&other| {
                    other != sender
                        && channels[other as usize] == channel
                        && self.places[other as usize].distance_m2(here) <= within_m * within_m
                }));
            }
        }
        found.sort_unstable();
        found
    }
}
