//! Where hosts are: straight legs, one after the other, worked out when somebody asks.
mod csv;
mod gauss_markov;
mod manhattan;
mod ns2;
mod waypoint;

pub use csv::parse_csv;
pub use gauss_markov::GaussMarkov;
pub use manhattan::Manhattan;
pub use ns2::parse_ns2;
pub use waypoint::{RandomWaypoint, WaypointStart};

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// A place on the plane, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Position {
    /// To the east.
    pub x_m: f64,
    /// To the north.
    pub y_m: f64,
}

impl Position {
    /// The squared distance, in square metres.
    #[inline]
    pub fn distance_m2(self, other: Self) -> f64 {
        let (x, y) = (self.x_m - other.x_m, self.y_m - other.y_m);
        x * x + y * y
    }

    /// The distance, in metres.
    pub fn distance_m(self, other: Self) -> f64 {
        libm::sqrt(self.distance_m2(other))
    }
}

/// A rectangle with one corner at the origin, in which hosts move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Its extent to the east, in metres.
    pub width_m: f64,
    /// Its extent to the north, in metres.
    pub height_m: f64,
}

impl Area {
    pub(crate) fn is_valid(self) -> bool {
        let good = |side: f64| side.is_finite() && side > 0.0;
        good(self.width_m) && good(self.height_m)
    }

    pub(crate) fn draw(self, random: &mut RandomStream) -> Position {
        Position { x_m: random.uniform() * self.width_m, y_m: random.uniform() * self.height_m }
    }
}

/// How one host moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Mobility {
    /// It stays.
    Static(Position),
    /// It stays at a random place.
    Anywhere(Area),
    /// It follows a list of legs in order of time and stays at the end of the last; read by [`parse_ns2`] and
    /// [`parse_csv`].
    Legs(Vec<Leg>),
    /// From one random place to the next.
    RandomWaypoint(RandomWaypoint),
    /// Speed and direction remember what they were.
    GaussMarkov(GaussMarkov),
    /// Along the streets of a grid.
    Manhattan(Manhattan),
}

impl Mobility {
    /// Places that the host gets to, beyond which it does not go: ends of its way, or corners of its area.
    pub fn outermost(&self) -> Vec<Position> {
        let area = match self {
            Self::Static(place) => return vec![*place],
            Self::Legs(legs) => return legs.iter().flat_map(|leg| [leg.start, leg.at(leg.until)]).collect(),
            Self::Anywhere(area) => area,
            Self::RandomWaypoint(model) => &model.area,
            Self::GaussMarkov(model) => &model.area,
            Self::Manhattan(model) => &model.area,
        };
        let corner = |x: f64, y: f64| Position { x_m: x * area.width_m, y_m: y * area.height_m };
        vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0)]
    }

    /// Straight from one place to the next, at the first before its time and at the last afterwards. `None` without a
    /// place, or with times that do not grow.
    pub fn through(places: &[(Instant, Position)]) -> Option<Self> {
        match places {
            [] => None,
            [(_, place)] => Some(Self::Static(*place)),
            several => several.windows(2).map(Leg::between).collect::<Option<_>>().map(Self::Legs),
        }
    }
}

/// A straight movement at a constant speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// When it begins.
    pub from: Instant,
    /// When it ends; the host then stays, or begins the next leg.
    pub until: Instant,
    /// Where it begins.
    pub start: Position,
    /// Velocity to the east, in metres per second.
    pub x_m_per_s: f64,
    /// Velocity to the north, in metres per second.
    pub y_m_per_s: f64,
}

impl Leg {
    /// No movement from `from` to `until`.
    pub(crate) fn stay(at: Position, from: Instant, until: Instant) -> Self {
        Self { from, until, start: at, x_m_per_s: 0.0, y_m_per_s: 0.0 }
    }

    /// From the first of two places to the second, which comes later.
    fn between(pair: &[(Instant, Position)]) -> Option<Self> {
        let [(from, start), (until, end)] = pair else { return None };
        let seconds = (*until - *from).as_secs_f64();
        (until > from).then(|| Self {
            from: *from,
            until: *until,
            start: *start,
            x_m_per_s: (end.x_m - start.x_m) / seconds,
            y_m_per_s: (end.y_m - start.y_m) / seconds,
        })
    }

    /// From `start` to `end` at `speed`; a pause for ever without speed.
    pub(crate) fn towards(start: Position, end: Position, from: Instant, m_per_s: f64) -> Self {
        let distance = start.distance_m(end);
        if m_per_s <= 0.0 {
            return Self::stay(start, from, Instant::MAX);
        }
        if distance <= 0.0 {
            return Self::stay(start, from, from);
        }
        Self {
            from,
            until: from + Duration::from_secs_f64(distance / m_per_s),
            start,
            x_m_per_s: (end.x_m - start.x_m) / distance * m_per_s,
            y_m_per_s: (end.y_m - start.y_m) / distance * m_per_s,
        }
    }

    /// Where the host is, at the end of the leg if that has passed.
    #[inline]
    pub fn at(&self, now: Instant) -> Position {
        // Less than 292 years: the signed conversion is one instruction.
        let seconds = (now.min(self.until) - self.from).as_nanos() as i64 as f64 * 1e-9;
        Position {
            x_m: self.start.x_m + self.x_m_per_s * seconds,
            y_m: self.start.y_m + self.y_m_per_s * seconds,
        }
    }

    fn speed_m_per_s(&self) -> f64 {
        libm::sqrt(self.x_m_per_s * self.x_m_per_s + self.y_m_per_s * self.y_m_per_s)
    }
}

/// What a mobility model makes its legs from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Rest,
    Listed(alloc::vec::IntoIter<Leg>),
    Waypoint(RandomWaypoint, RandomStream),
    GaussMarkov(GaussMarkov, gauss_markov::State, RandomStream),
    Manhattan(Manhattan, manhattan::State, RandomStream),
}

impl Mobility {
    /// What makes the movement impossible, if anything.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Static(at) => {
                (!at.x_m.is_finite() || !at.y_m.is_finite()).then_some("positions must be finite")
            }
            Self::Anywhere(area) => {
                (!area.is_valid()).then_some("the area must be larger than 0 m in both directions")
            }
            Self::Legs(legs) => legs.is_empty().then_some("there are no legs"),
            Self::RandomWaypoint(model) => model.fault(),
            Self::GaussMarkov(model) => model.fault(),
            Self::Manhattan(model) => model.fault(),
        }
    }

    /// The highest speed, in metres per second.
    pub(crate) fn max_speed_m_per_s(&self) -> f64 {
        match self {
            Self::Static(_) | Self::Anywhere(_) => 0.0,
            Self::Legs(legs) => legs.iter().map(Leg::speed_m_per_s).fold(0.0, f64::max),
            Self::RandomWaypoint(model) => model.max_speed_m_per_s,
            Self::GaussMarkov(model) => model.max_speed_m_per_s,
            Self::Manhattan(model) => model.max_speed_m_per_s,
        }
    }

    /// The first leg, and where the others come from.
    pub(crate) fn begin(self, mut random: RandomStream) -> (Leg, Source) {
        match self {
            Self::Static(at) => (Leg::stay(at, Instant::ZERO, Instant::MAX), Source::Rest),
            Self::Anywhere(area) => {
                (Leg::stay(area.draw(&mut random), Instant::ZERO, Instant::MAX), Source::Rest)
            }
            Self::Legs(legs) => {
                let mut legs = legs.into_iter();
                let place = legs.as_slice().first().map_or(Position::default(), |leg| leg.start);
                let rest = Leg::stay(place, Instant::ZERO, Instant::ZERO);
                let first = match legs.as_slice().first() {
                    Some(leg) if leg.from == Instant::ZERO => legs.next(),
                    _ => None,
                };
                (first.unwrap_or(rest), Source::Listed(legs))
            }
            Self::RandomWaypoint(model) => {
                let leg = model.first_leg(&mut random);
                (leg, Source::Waypoint(model, random))
            }
            Self::GaussMarkov(model) => {
                let (leg, state) = model.begin(&mut random);
                (leg, Source::GaussMarkov(model, state, random))
            }
            Self::Manhattan(model) => {
                let (leg, state) = model.begin(&mut random);
                (leg, Source::Manhattan(model, state, random))
            }
        }
    }
}

impl Source {
    /// Moves `leg` on until it is the one that holds at `now`.
    #[cold]
    pub fn advance(&mut self, leg: &mut Leg, now: Instant) {
        while leg.until <= now {
            let next = match self {
                Self::Rest => None,
                Self::Listed(legs) => match legs.as_slice().first() {
                    // The host waits for the next leg where the last one ended.
                    Some(next) if next.from > now => Some(Leg::stay(leg.at(leg.until), leg.until, next.from)),
                    Some(_) => legs.next(),
                    None => None,
                },
                Self::Waypoint(model, random) => Some(model.next_leg(leg, random)),
                Self::GaussMarkov(model, state, random) => Some(model.next_leg(leg, state, random)),
                Self::Manhattan(model, state, random) => Some(model.next_leg(leg, state, random)),
            };
            *leg = next.unwrap_or_else(|| Leg::stay(leg.at(leg.until), leg.until, Instant::MAX));
        }
    }
}

/// One host on its way.
#[derive(Debug)]
pub struct Movement {
    leg: Leg,
    source: Source,
}

impl Movement {
    /// As `mobility` says, with random choices from `random`.
    ///
    /// # Errors
    /// What makes the movement impossible, in words.
    pub fn new(mobility: Mobility, random: RandomStream) -> Result<Self, &'static str> {
        match mobility.fault() {
            Some(fault) => Err(fault),
            None => {
                let (leg, source) = mobility.begin(random);
                Ok(Self { leg, source })
            }
        }
    }

    /// Where the host is. Time must not go back.
    pub fn at(&mut self, now: Instant) -> Position {
        if self.leg.until <= now {
            self.source.advance(&mut self.leg, now);
        }
        self.leg.at(now)
    }
}

/// Why a movement file is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementError {
    /// The file, as the caller calls it.
    pub file: String,
    /// The line, from 1; 0 when it concerns the whole file.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it, where that can be said.
    pub remedy: Option<&'static str>,
}

impl MovementError {
    /// What is wrong with a line, or with the whole file (0).
    fn new(file: &str, line: usize, what: String) -> Self {
        Self { file: file.into(), line, what, remedy: None }
    }

    /// A line tells of a host that is not there.
    fn without_host(file: &str, line: usize, host: usize, hosts: usize) -> Self {
        let what = format!("host {host} does not exist: there are {hosts}, from 0");
        Self { remedy: Some("add hosts, or take this one out of the file"), ..Self::new(file, line, what) }
    }

    /// The file tells nothing of a host that is there.
    fn without_place(file: &str, host: usize) -> Self {
        let what = format!("host {host} has no place");
        Self { remedy: Some("give it one in the file, or take a host away"), ..Self::new(file, 0, what) }
    }
}

/// Places and speeds beyond this many metres, and metres per second, are mistakes.
const FARTHEST_M: f64 = 1e9;

/// A number of a movement file.
fn number(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| format!("`{word}` is no number"))?;
    if number.abs() <= FARTHEST_M { Ok(number) } else { Err(format!("`{word}` is not from -1e9 to 1e9")) }
}

impl fmt::Display for MovementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

impl core::error::Error for MovementError {}
