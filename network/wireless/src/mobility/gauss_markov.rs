//! Gauss-Markov (Liang and Haas 1999): speed and direction are drawn anew in every interval around what they were.
use super::{Area, Leg};
use crate::propagation::gaussian;
use core::f64::consts::PI;
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// The Gauss-Markov model. Near an edge the mean direction points to the middle of the area (Camp, Boleng and
/// Davies 2002).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussMarkov {
    /// Where the host moves.
    pub area: Area,
    /// The mean speed, in metres per second.
    pub mean_speed_m_per_s: f64,
    /// The highest speed, in metres per second: what is drawn beyond it is cut off.
    pub max_speed_m_per_s: f64,
    /// From 0 (no memory) to 1 (a straight line).
    pub memory: f64,
    /// How long speed and direction hold.
    pub interval: Duration,
}

/// Standard deviation of the random part of the direction, in radians.
const DIRECTION_DEVIATION: f64 = PI / 4.0;
/// The share of the area's side that counts as its edge.
const EDGE: f64 = 0.1;

#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    speed: f64,
    direction: f64,
}

impl GaussMarkov {
    pub(super) fn fault(&self) -> Option<&'static str> {
        let rules = [
            (self.area.is_valid(), "the area must be larger than 0 m in both directions"),
            (
                self.mean_speed_m_per_s.is_finite() && self.mean_speed_m_per_s > 0.0,
                "the mean speed must be above 0 m/s",
            ),
            (
                self.max_speed_m_per_s.is_finite() && self.max_speed_m_per_s >= self.mean_speed_m_per_s,
                "the highest speed is below the mean",
            ),
            ((0.0..=1.0).contains(&self.memory), "the memory must be from 0 to 1"),
            (!self.interval.is_zero(), "the interval must be above 0"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }

    pub(super) fn begin(&self, random: &mut RandomStream) -> (Leg, State) {
        let place = self.area.draw(random);
        let mut state = State { speed: self.mean_speed_m_per_s, direction: 2.0 * PI * random.uniform() };
        let rest = Leg::stay(place, Instant::ZERO, Instant::ZERO);
        (self.next_leg(&rest, &mut state, random), state)
    }

    pub(super) fn next_leg(&self, last: &Leg, state: &mut State, random: &mut RandomStream) -> Leg {
        let (place, from) = (last.at(last.until), last.until);
        let (width, height) = (self.area.width_m, self.area.height_m);
        let (to_middle_x, to_middle_y) = (width / 2.0 - place.x_m, height / 2.0 - place.y_m);
        let near_edge =
            libm::fabs(to_middle_x) > (0.5 - EDGE) * width || libm::fabs(to_middle_y) > (0.5 - EDGE) * height;
        let mean_direction = if near_edge { libm::atan2(to_middle_y, to_middle_x) } else { state.direction };
        let a = self.memory;
        let chance = libm::sqrt(1.0 - a * a);
        let speed_deviation = self.mean_speed_m_per_s / 4.0;
        state.speed = (a * state.speed
            + (1.0 - a) * self.mean_speed_m_per_s
            + chance * speed_deviation * gaussian(random))
        .clamp(0.0, self.max_speed_m_per_s);
        let turn = nearest_turn(state.direction, mean_direction);
        state.direction += (1.0 - a) * turn + chance * DIRECTION_DEVIATION * gaussian(random);
        let seconds = self.interval.as_secs_f64();
        let (mut x, mut y) =
            (state.speed * libm::cos(state.direction), state.speed * libm::sin(state.direction));
        // At the wall the host turns round.
        if !(0.0..=width).contains(&(place.x_m + x * seconds)) {
            x = -x;
        }
        if !(0.0..=height).contains(&(place.y_m + y * seconds)) {
            y = -y;
        }
        state.direction = libm::atan2(y, x);
        if !(0.0..=width).contains(&(place.x_m + x * seconds))
            || !(0.0..=height).contains(&(place.y_m + y * seconds))
        {
            // A step longer than the area.
            (x, y) = (0.0, 0.0);
        }
        Leg { from, until: from + self.interval, start: place, x_m_per_s: x, y_m_per_s: y }
    }
}

/// The angle from one direction to another, the short way round.
fn nearest_turn(from: f64, to: f64) -> f64 {
    let turn = libm::fmod(to - from, 2.0 * PI);
    match turn {
        turn if turn > PI => turn - 2.0 * PI,
        turn if turn < -PI => turn + 2.0 * PI,
        turn => turn,
    }
}
