//! Random waypoint (Johnson and Maltz 1996): to a random place at a random speed, a pause, and on.
use super::{Area, Leg, Position};
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// The random waypoint model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomWaypoint {
    /// Where the host moves.
    pub area: Area,
    /// The lowest speed, in metres per second: above 0, or hosts get ever slower (Yoon, Liu and Noble 2003).
    pub min_speed_m_per_s: f64,
    /// The highest speed, in metres per second.
    pub max_speed_m_per_s: f64,
    /// The pause at each place.
    pub pause: Duration,
    /// How the first leg is drawn.
    pub start: WaypointStart,
}

/// The state in which a random waypoint model begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaypointStart {
    /// At a uniform place, with a pause and then a first leg: the generators of the era. The distribution of places and
    /// speeds drifts for a long time.
    Uniform,
    /// In the model's steady state (Navidi and Camp 2004).
    Steady,
}

impl RandomWaypoint {
    pub(super) fn fault(&self) -> Option<&'static str> {
        let rules = [
            (self.area.is_valid(), "the area must be larger than 0 m in both directions"),
            (
                self.min_speed_m_per_s.is_finite() && self.min_speed_m_per_s > 0.0,
                "the lowest speed must be above 0 m/s: with 0, hosts get ever slower",
            ),
            (
                self.max_speed_m_per_s.is_finite() && self.max_speed_m_per_s >= self.min_speed_m_per_s,
                "the highest speed is below the lowest",
            ),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }

    fn speed(&self, random: &mut RandomStream) -> f64 {
        self.min_speed_m_per_s + random.uniform() * (self.max_speed_m_per_s - self.min_speed_m_per_s)
    }

    fn pause_at(&self, place: Position, from: Instant, pause: Duration) -> Leg {
        Leg::stay(place, from, from + pause)
    }

    pub(super) fn first_leg(&self, random: &mut RandomStream) -> Leg {
        match self.start {
            WaypointStart::Uniform => self.pause_at(self.area.draw(random), Instant::ZERO, self.pause),
            WaypointStart::Steady => self.steady_leg(random),
        }
    }

    /// A leg, or a pause, as it would be found at a random moment long after the start.
    fn steady_leg(&self, random: &mut RandomStream) -> Leg {
        let (low, high) = (self.min_speed_m_per_s, self.max_speed_m_per_s);
        let mean_leg_s = self.mean_distance_m() * mean_of_inverse(low, high);
        let pause_s = self.pause.as_secs_f64();
        if random.uniform() * (pause_s + mean_leg_s) < pause_s {
            let left = Duration::from_secs_f64(random.uniform() * pause_s);
            return self.pause_at(self.area.draw(random), Instant::ZERO, left);
        }
        // Long legs are found more often: their ends are accepted in proportion to their distance.
        let diagonal =
            Position::default().distance_m(Position { x_m: self.area.width_m, y_m: self.area.height_m });
        let (start, end) = loop {
            let (start, end) = (self.area.draw(random), self.area.draw(random));
            if random.uniform() * diagonal < start.distance_m(end) {
                break (start, end);
            }
        };
        // Slow legs too: the density of speed is proportional to its inverse.
        let speed = low * libm::pow(high / low, random.uniform());
        let part = random.uniform();
        let along = |a: f64, b: f64| a + part * (b - a);
        let place = Position { x_m: along(start.x_m, end.x_m), y_m: along(start.y_m, end.y_m) };
        Leg::towards(place, end, Instant::ZERO, speed)
    }

    /// The mean distance of two uniform places in the area (Ghosh 1951).
    fn mean_distance_m(&self) -> f64 {
        let (a, b) = (self.area.width_m, self.area.height_m);
        let d = libm::sqrt(a * a + b * b);
        let (a2, b2) = (a * a, b * b);
        let corner = a2 * a / b2 + b2 * b / a2 + d * (3.0 - a2 / b2 - b2 / a2);
        corner / 15.0 + (b2 / a * libm::acosh(d / b) + a2 / b * libm::acosh(d / a)) / 6.0
    }

    pub(super) fn next_leg(&self, last: &Leg, random: &mut RandomStream) -> Leg {
        let place = last.at(last.until);
        let was_moving = last.x_m_per_s != 0.0 || last.y_m_per_s != 0.0;
        if was_moving && !self.pause.is_zero() {
            return self.pause_at(place, last.until, self.pause);
        }
        let end = self.area.draw(random);
        Leg::towards(place, end, last.until, self.speed(random))
    }
}

/// The mean of 1/v for v uniform from `low` to `high`.
fn mean_of_inverse(low: f64, high: f64) -> f64 {
    if high - low < 1e-9 * low { 1.0 / low } else { libm::log(high / low) / (high - low) }
}
