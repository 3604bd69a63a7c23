//! Manhattan (Bai, Sadagopan and Helmy 2003): along the streets of a grid, straight on or round the corner.
use super::{Area, Leg, Position};
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;

/// The Manhattan model: streets in both directions with blocks between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manhattan {
    /// Where the host moves; the streets at its edges belong to it.
    pub area: Area,
    /// Blocks from west to east.
    pub columns: u32,
    /// Blocks from south to north.
    pub rows: u32,
    /// The lowest speed, in metres per second; one is drawn for each block.
    pub min_speed_m_per_s: f64,
    /// The highest speed, in metres per second.
    pub max_speed_m_per_s: f64,
}

/// The probability of going straight on at a crossing; a quarter each to turn left or right.
const STRAIGHT: f64 = 0.5;

/// The crossing that the host comes from, or is on its way to, and its direction as a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    at: (i64, i64),
    step: (i64, i64),
}

impl Manhattan {
    pub(super) fn fault(&self) -> Option<&'static str> {
        let rules = [
            (self.area.is_valid(), "the area must be larger than 0 m in both directions"),
            (self.columns >= 1 && self.rows >= 1, "there must be at least one block"),
            (
                self.min_speed_m_per_s.is_finite() && self.min_speed_m_per_s > 0.0,
                "the lowest speed must be above 0 m/s",
            ),
            (
                self.max_speed_m_per_s.is_finite() && self.max_speed_m_per_s >= self.min_speed_m_per_s,
                "the highest speed is below the lowest",
            ),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }

    fn crossing(&self, (column, row): (i64, i64)) -> Position {
        Position {
            x_m: self.area.width_m * column as f64 / f64::from(self.columns),
            y_m: self.area.height_m * row as f64 / f64::from(self.rows),
        }
    }

    fn exists(&self, (column, row): (i64, i64)) -> bool {
        (0..=i64::from(self.columns)).contains(&column) && (0..=i64::from(self.rows)).contains(&row)
    }

    pub(super) fn begin(&self, random: &mut RandomStream) -> (Leg, State) {
        let at =
            (random.below(u64::from(self.columns) + 1) as i64, random.below(u64::from(self.rows) + 1) as i64);
        const STEPS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
        let step = STEPS.get(random.below(4) as usize).copied().unwrap_or((1, 0));
        let mut state = State { at, step };
        let rest = Leg::stay(self.crossing(at), Instant::ZERO, Instant::ZERO);
        (self.next_leg(&rest, &mut state, random), state)
    }

    pub(super) fn next_leg(&self, last: &Leg, state: &mut State, random: &mut RandomStream) -> Leg {
        let (x, y) = state.step;
        let (left, right, back) = ((-y, x), (y, -x), (-x, -y));
        let choice = random.uniform();
        let turn_first = if choice < STRAIGHT + (1.0 - STRAIGHT) / 2.0 { left } else { right };
        let turn_second = if turn_first == left { right } else { left };
        let order = match choice < STRAIGHT {
            true => [state.step, left, right, back],
            false => [turn_first, turn_second, state.step, back],
        };
        let beyond = |step: (i64, i64)| (state.at.0 + step.0, state.at.1 + step.1);
        let step = order.into_iter().find(|step| self.exists(beyond(*step))).unwrap_or(back);
        let (here, there) = (self.crossing(state.at), beyond(step));
        *state = State { at: there, step };
        let speed =
            self.min_speed_m_per_s + random.uniform() * (self.max_speed_m_per_s - self.min_speed_m_per_s);
        Leg::towards(here, self.crossing(there), last.until, speed)
    }
}
