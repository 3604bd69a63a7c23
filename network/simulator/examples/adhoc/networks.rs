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
}

impl Kind {
    pub fn parse(text: &str) -> Option<Self> {
        match text.split(':').collect::<Vec<_>>()[..] {
            ["transfer"] => Some(Self::Transfer),
            ["stream"] => Some(Self::Stream),
            ["cell"] => Some(Self::Cell),
            ["cbr", sources, pause_s] => {
                Some(Self::Cbr { sources: sources.parse().ok()?, pause_s: pause_s.parse().ok()? })
            }
            _ => None,
        }
    }

    pub fn hosts(self) -> u32 {
        match self {
            Self::Transfer | Self::Stream => 20,
            Self::Cell => 101,
            Self::Cbr { .. } => 50,
        }
    }

    /// Width and height in metres, and the highest speed in metres per second.
    pub fn ground(self) -> ([f64; 2], f64) {
        match self {
            Self::Transfer | Self::Stream => ([1000.0, 750.0], 10.0),
            Self::Cell => ([1500.0, 1500.0], 0.0),
            Self::Cbr { .. } => ([1500.0, 300.0], 20.0),
        }
    }
}

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
        let (mut places, mut legs) = (String::new(), Vec::new());
        for host in 0..kind.hosts() {
            let mut at = area.map(|side| 1.0 + random.uniform() * (side - 2.0));
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
    let (area, max_speed) = kind.ground();
    let pause_s = if let Kind::Cbr { pause_s, .. } = kind { f64::from(pause_s) } else { 0.0 };
    let mut time = pause_s;
    while time < end_s {
        let next = area.map(|side| 1.0 + random.uniform() * (side - 2.0));
        let speed = (random.uniform() * max_speed).max(0.1);
        let line =
            format!("$ns_ at {time:.6} \"$node_({host}) setdest {:.6} {:.6} {speed:.6}\"", next[0], next[1]);
        legs.push((time, line));
        time += (next[0] - at[0]).hypot(next[1] - at[1]) / speed + pause_s;
        at = next;
    }
}
