//! Networks as files that ns-2 reads.
use prismux_endpoint::random::{RandomStream, Seed};
use std::fmt::Write as _;

/// What moves, and what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One TCP connection from host 0 to host 1.
    Transfer,
    /// The same hosts, with datagrams, 4 of 64 bytes in a second, from host 0 to host 1.
    Stream,
    /// 1000 bytes every half second from every host to host 0, over TCP; host k begins after k/100 seconds.
    Cell,
    /// Datagrams, 4 of 64 bytes in a second from each source.
    Cbr { sources: u32, pause_s: u32 },
    /// Squares side by side as large as the cell, of 100 moving hosts each, ten of which send 4 datagrams of 64 bytes
    /// in a second to a host that is near when they begin: as many neighbours, and as much to send for each host,
    /// however many there are.
    Wide { squares: u32 },
}

const HOSTS_PER_SQUARE: u32 = 100;
const SOURCES_PER_SQUARE: u32 = 10;
/// From a source to its receiver, in numbers of hosts.
const RECEIVER: u32 = 50;
/// From a source to its receiver when they begin, in metres to the east and to the north.
const SIDE_STEP_M: f64 = 50.0;

impl Kind {
    pub fn parse(text: &str) -> Option<Self> {
        match text.split(':').collect::<Vec<_>>()[..] {
            ["transfer"] => Some(Self::Transfer),
            ["stream"] => Some(Self::Stream),
            ["cell"] => Some(Self::Cell),
            ["cbr", sources, pause_s] => {
                Some(Self::Cbr { sources: sources.parse().ok()?, pause_s: pause_s.parse().ok()? })
            }
            ["wide", hosts] => {
                let squares = hosts.parse::<u32>().ok()? / HOSTS_PER_SQUARE;
                (squares > 0).then_some(Self::Wide { squares })
            }
            _ => None,
        }
    }

    /// Whether ns-2 runs it too.
    pub fn is_compared(self) -> bool {
        !matches!(self, Self::Wide { .. })
    }

    pub fn hosts(self) -> u32 {
        match self {
            Self::Transfer | Self::Stream => 20,
            Self::Cell => 101,
            Self::Cbr { .. } => 50,
            Self::Wide { squares } => squares * HOSTS_PER_SQUARE,
        }
    }

    /// The corner of the ground of a host, in metres.
    fn corner(self, host: u32) -> [f64; 2] {
        let Self::Wide { squares } = self else { return [0.0; 2] };
        let (square, columns) = (host / HOSTS_PER_SQUARE, f64::from(squares).sqrt().ceil() as u32);
        [square % columns, square / columns].map(|index| f64::from(index) * SQUARE_M)
    }

    /// Width and height in metres, and the highest speed in metres per second; of each square where there are several.
    pub fn ground(self) -> ([f64; 2], f64) {
        match self {
            Self::Transfer | Self::Stream => ([1000.0, 750.0], 10.0),
            Self::Cell => ([SQUARE_M; 2], 0.0),
            Self::Wide { .. } => ([SQUARE_M; 2], 10.0),
            Self::Cbr { .. } => ([1500.0, 300.0], 20.0),
        }
    }
}

const SQUARE_M: f64 = 1500.0;

/// Datagrams from one host to another.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub from: u32,
    pub to: u32,
    pub start_ms: u64,
}

/// A network for both simulators.
#[derive(Debug)]
pub struct Network {
    pub kind: Kind,
    pub seconds: u64,
    /// In ns-2's format.
    pub movements: String,
}

impl Network {
    /// Network `number` of its kind: random waypoint, or hosts that stay.
    pub fn draw(kind: Kind, number: u64, seconds: u64) -> Self {
        let mut random = Seed(number).stream(&format!("adhoc/{kind:?}"));
        let (area, max_speed) = kind.ground();
        let (mut places, mut legs, mut starts) = (String::new(), Vec::new(), Vec::new());
        for host in 0..kind.hosts() {
            let mut at = place(kind, host, &mut random);
            if let (Kind::Wide { .. }, Some(source)) = (kind, host.checked_sub(RECEIVER)) {
                // Receivers begin beside their sources, and so many others beside hosts that send nothing.
                let beside = starts.get(source as usize).filter(|_| host % HOSTS_PER_SQUARE >= RECEIVER);
                at = beside.map_or(at, |[x, y]: &[f64; 2]| [x + SIDE_STEP_M, y + SIDE_STEP_M]);
            }
            starts.push(at);
            if kind == Kind::Cell && host == 0 {
                at = area.map(|side| side / 2.0);
            }
            for (axis, value) in ["X_", "Y_", "Z_"].into_iter().zip([at[0], at[1], 0.0]) {
                let _ = writeln!(places, "$node_({host}) set {axis} {value:.6}");
            }
            if max_speed > 0.0 {
                walk(kind, host, at, seconds as f64, &mut random, &mut legs);
            }
        }
        legs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let legs: Vec<String> = legs.into_iter().map(|(_, line)| line).collect();
        Self { kind, seconds, movements: places + &legs.join("\n") + "\n" }
    }

    /// Who sends datagrams to whom: sources begin within the first fifth, as the paper's do within the first 180 of
    /// 900 seconds.
    pub fn sources(&self) -> Vec<Source> {
        let sources = match self.kind {
            Kind::Cbr { sources, .. } => sources,
            Kind::Wide { squares } => return self.sources_of_squares(squares),
            Kind::Stream => return Vec::from([Source { from: 0, to: 1, start_ms: 0 }]),
            Kind::Transfer | Kind::Cell => return Vec::new(),
        };
        let hosts = self.kind.hosts();
        let source = |number: u32| Source {
            from: number % hosts,
            to: (number * 7 + 25) % hosts,
            start_ms: self.seconds * 1000 * u64::from(number) / (5 * u64::from(sources)),
        };
        (0..sources).map(source).collect()
    }

    /// Sources of all squares, which begin within the first fifth too.
    fn sources_of_squares(&self, squares: u32) -> Vec<Source> {
        let of_square = |square: u32| {
            (0..SOURCES_PER_SQUARE).map(move |number| Source {
                from: square * HOSTS_PER_SQUARE + number,
                to: square * HOSTS_PER_SQUARE + number + RECEIVER,
                start_ms: self.seconds * 1000 * u64::from(number) / (5 * u64::from(SOURCES_PER_SQUARE)),
            })
        };
        (0..squares).flat_map(of_square).collect()
    }
}

/// A place on the ground of a host.
fn place(kind: Kind, host: u32, random: &mut RandomStream) -> [f64; 2] {
    let (ground, _) = kind.ground();
    let within = ground.map(|side| 1.0 + random.uniform() * (side - 2.0));
    let corner = kind.corner(host);
    [corner[0] + within[0], corner[1] + within[1]]
}

/// One host from place to place.
fn walk(
    kind: Kind,
    host: u32,
    mut at: [f64; 2],
    end_s: f64,
    random: &mut RandomStream,
    legs: &mut Vec<(f64, String)>,
) {
    let (_, max_speed) = kind.ground();
    let pause_s = if let Kind::Cbr { pause_s, .. } = kind { f64::from(pause_s) } else { 0.0 };
    let mut time = pause_s;
    while time < end_s {
        let next = place(kind, host, random);
        let speed = (random.uniform() * max_speed).max(0.1);
        let line =
            format!("$ns_ at {time:.6} \"$node_({host}) setdest {:.6} {:.6} {speed:.6}\"", next[0], next[1]);
        legs.push((time, line));
        time += (next[0] - at[0]).hypot(next[1] - at[1]) / speed + pause_s;
        at = next;
    }
}
