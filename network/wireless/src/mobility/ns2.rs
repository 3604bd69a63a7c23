//! ns-2 movement files, as `setdest`, BonnMotion and SUMO write them.
use super::{Leg, Mobility, MovementError, Position, number};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// One line of a movement file that says something of a host.
enum Line {
    /// `$node_(3) set X_ 12.5`
    Place { host: usize, axis: char, metres: f64 },
    /// `$ns_ at 2.0 "$node_(3) setdest 100.0 200.0 5.0"`
    Walk { host: usize, at: Instant, to: Position, m_per_s: f64 },
    /// Comments, set-up of other objects, distances that a generator worked out.
    Other,
}

/// What the file has said of one host so far.
#[derive(Default)]
struct Host {
    x: Option<f64>,
    y: Option<f64>,
    walks: Vec<(usize, Instant, Position, f64)>,
}

/// Reads a movement file for `hosts` hosts, numbered from 0. A walk that is still under way when the next begins ends
/// there.
///
/// # Errors
/// When a line cannot be read, names a host that does not exist, is out of order in time, or has a number that is
/// beyond 1e9 or negative where it must not be; when a host has no place.
pub fn parse_ns2(file: &str, text: &str, hosts: usize) -> Result<Vec<Mobility>, MovementError> {
    let error = |line: usize, what: String| MovementError::new(file, line, what);
    let mut found: Vec<Host> = Vec::new();
    found.resize_with(hosts, Host::default);
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let parsed = parse_line(line).map_err(|what| error(number, what))?;
        let (host, known) = match parsed {
            Line::Other => continue,
            Line::Place { host, .. } | Line::Walk { host, .. } => (host, found.get_mut(host)),
        };
        let Some(known) = known else {
            return Err(MovementError::without_host(file, number, host, hosts));
        };
        match parsed {
            Line::Place { axis: 'X', metres, .. } => known.x = Some(metres),
            Line::Place { axis: 'Y', metres, .. } => known.y = Some(metres),
            Line::Walk { at, to, m_per_s, .. } => {
                if known.walks.last().is_some_and(|(_, last, _, _)| *last > at) {
                    return Err(error(number, format!("host {host} begins a walk before its last one")));
                }
                known.walks.push((number, at, to, m_per_s));
            }
            Line::Place { .. } | Line::Other => {}
        }
    }
    let with_place = |(host, known): (usize, Host)| match (known.x, known.y) {
        (Some(x_m), Some(y_m)) => Ok(legs(Position { x_m, y_m }, &known.walks)),
        _ => Err(MovementError::without_place(file, host)),
    };
    found.into_iter().enumerate().map(with_place).collect()
}

fn legs(start: Position, walks: &[(usize, Instant, Position, f64)]) -> Mobility {
    if walks.is_empty() {
        return Mobility::Static(start);
    }
    let mut legs = vec![Leg::stay(start, Instant::ZERO, walks.first().map_or(Instant::MAX, |w| w.1))];
    for (index, (_, at, to, m_per_s)) in walks.iter().enumerate() {
        let place = legs.last().map_or(start, |leg| leg.at(*at));
        let mut leg = Leg::towards(place, *to, *at, *m_per_s);
        if let Some((_, next, _, _)) = walks.get(index + 1) {
            leg.until = leg.until.min(*next);
        }
        legs.push(leg);
    }
    legs.retain(|leg| leg.until > leg.from);
    if legs.is_empty() { Mobility::Static(start) } else { Mobility::Legs(legs) }
}

fn parse_line(line: &str) -> Result<Line, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Line::Other);
    }
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c == '"').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [node, "set", axis, metres] if node.starts_with("$node_(") => {
            let axis = match *axis {
                "X_" => 'X',
                "Y_" => 'Y',
                "Z_" => 'Z',
                other => return Err(format!("`{other}` is no coordinate: X_, Y_ or Z_")),
            };
            Ok(Line::Place { host: host(node)?, axis, metres: number(metres)? })
        }
        [simulator, "at", time, node, "setdest", x, y, speed]
            if simulator.starts_with('$') && node.starts_with("$node_(") =>
        {
            let m_per_s = number(speed)?;
            if m_per_s < 0.0 {
                return Err(format!("the speed {speed} is below 0 m/s"));
            }
            let seconds = number(time)?;
            if !(0.0..1e9).contains(&seconds) {
                return Err(format!("the time {time} is not from 0 to 1e9 seconds"));
            }
            let to = Position { x_m: number(x)?, y_m: number(y)? };
            Ok(Line::Walk {
                host: host(node)?,
                at: Instant::ZERO + Duration::from_secs_f64(seconds),
                to,
                m_per_s,
            })
        }
        [first, ..] if first.starts_with("$node_(") => Err(not_understood(line)),
        [first, "at", _, node, ..] if first.starts_with('$') && node.starts_with("$node_(") => {
            Err(not_understood(line))
        }
        // Distances for the god object, and settings of other objects.
        [first, ..] if first.starts_with('$') || *first == "set" => Ok(Line::Other),
        _ => Err(not_understood(line)),
    }
}

fn host(node: &str) -> Result<usize, String> {
    let inside = node.strip_prefix("$node_(").and_then(|rest| rest.strip_suffix(')'));
    inside
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| format!("`{node}` is no host: $node_(0), $node_(1), ..."))
}

/// Other formats have lines of thousands of numbers.
fn not_understood(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("not understood: `{}...`", &line[..end]),
        None => format!("not understood: `{line}`"),
    }
}
