//! Places over time: `time_s,host,x_m,y_m`, or `time_s,host,lat,lon` as GPS receivers know them.
use super::{Mobility, MovementError, Position, number};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::f64::consts::PI;
use prismux_units::{Duration, Instant};

/// What the last two fields of a line are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Coordinates {
    /// Metres to the east and to the north.
    Metres,
    /// Degrees of latitude and longitude (WGS 84), or the other way round; the first place of the file, once read, is
    /// the origin.
    Degrees { longitude_first: bool, origin: Option<(f64, f64)> },
}

/// Mean radius of the earth in metres (IUGG).
const EARTH_M: f64 = 6_371_008.8;

impl Coordinates {
    /// As a heading says.
    fn of_heading(line: &str) -> Self {
        let is_latitude = |field: &str| matches!(field, "lat" | "latitude");
        let is_longitude = |field: &str| matches!(field, "lon" | "lng" | "longitude");
        let line = line.to_ascii_lowercase();
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        match fields.as_slice() {
            [_, _, a, b] if is_latitude(a) && is_longitude(b) => {
                Self::Degrees { longitude_first: false, origin: None }
            }
            [_, _, a, b] if is_longitude(a) && is_latitude(b) => {
                Self::Degrees { longitude_first: true, origin: None }
            }
            _ => Self::Metres,
        }
    }

    /// The place on the plane. Degrees become metres east and north of the origin on a sphere: over ten kilometres and
    /// up to 60 degrees of latitude distances are right within 1 %.
    fn place(&mut self, first: f64, second: f64) -> Result<Position, String> {
        let Self::Degrees { longitude_first, origin } = self else {
            return Ok(Position { x_m: first, y_m: second });
        };
        let (lat, lon) = if *longitude_first { (second, first) } else { (first, second) };
        if !(-90.0..=90.0).contains(&lat) || !(-180.0..=180.0).contains(&lon) {
            return Err(format!("latitude {lat}, longitude {lon}: no place on earth"));
        }
        let (lat_0, lon_0) = *origin.get_or_insert((lat, lon));
        // The shorter way around, where the date line lies between.
        let east = match lon - lon_0 {
            far if far > 180.0 => far - 360.0,
            far if far < -180.0 => far + 360.0,
            near => near,
        };
        let m_per_degree = EARTH_M * PI / 180.0;
        let x_m = m_per_degree * libm::cos(lat_0 * PI / 180.0) * east;
        Ok(Position { x_m, y_m: m_per_degree * (lat - lat_0) })
    }
}

/// Reads lines of `time_s,host,x_m,y_m` for `hosts` hosts, numbered from 0, in order of time for each host. A host
/// moves straight from one place to the next, and is at its first place before that. A first line that does not begin
/// with a digit is a heading. One whose last two fields are `lat` and `lon` (or `latitude`, `longitude`, `lng`, in any
/// order) says that they are degrees: places are then metres east and north of the first one in the file.
///
/// # Errors
/// When a line cannot be read, names a host that does not exist, or is out of order in time; when a host has no place.
pub fn parse_csv(file: &str, text: &str, hosts: usize) -> Result<Vec<Mobility>, MovementError> {
    let error = |line: usize, what: String| MovementError::new(file, line, what);
    let mut places: Vec<Vec<(Instant, Position)>> = Vec::new();
    places.resize_with(hosts, Vec::new);
    let mut coordinates = Coordinates::Metres;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let heading = index == 0 && !line.starts_with(|c: char| c.is_ascii_digit());
        if heading {
            coordinates = Coordinates::of_heading(line);
        }
        if line.is_empty() || line.starts_with('#') || heading {
            continue;
        }
        let (host, at, place) = parse_line(line, &mut coordinates).map_err(|what| error(index + 1, what))?;
        let Some(known) = places.get_mut(host) else {
            return Err(MovementError::without_host(file, index + 1, host, hosts));
        };
        if known.last().is_some_and(|(last, _)| *last >= at) {
            return Err(error(
                index + 1,
                format!("host {host} is in two places at once, or goes back in time"),
            ));
        }
        known.push((at, place));
    }
    let moving = |(host, known): (usize, Vec<(Instant, Position)>)| {
        Mobility::through(&known).ok_or_else(|| MovementError::without_place(file, host))
    };
    places.into_iter().enumerate().map(moving).collect()
}

fn parse_line(line: &str, coordinates: &mut Coordinates) -> Result<(usize, Instant, Position), String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [time, host, x, y] = fields.as_slice() else {
        return Err(format!("{} fields instead of 4: time_s,host,x_m,y_m", fields.len()));
    };
    let seconds = number(time)?;
    if !(0.0..1e9).contains(&seconds) {
        return Err(format!("the time {time} is not from 0 to 1e9 seconds"));
    }
    let host = host.parse().map_err(|_| format!("`{host}` is no host: 0, 1, ..."))?;
    let at = Instant::ZERO + Duration::from_secs_f64(seconds);
    Ok((host, at, coordinates.place(number(x)?, number(y)?)?))
}
