//! Places over time, as GPS loggers write them: `time_s,host,x_m,y_m`.
use super::{Mobility, MovementError, Position};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Reads lines of `time_s,host,x_m,y_m` for `hosts` hosts, numbered from 0, in order of time for each host. A host
/// moves straight from one place to the next, and is at its first place before that. A first line that does not begin
/// with a digit is a heading.
///
/// # Errors
/// When a line cannot be read, names a host that does not exist, or is out of order in time; when a host has no place.
pub fn parse_csv(file: &str, text: &str, hosts: usize) -> Result<Vec<Mobility>, MovementError> {
    let error = |line: usize, what: String| MovementError { file: file.to_string(), line, what };
    let mut places: Vec<Vec<(Instant, Position)>> = Vec::new();
    places.resize_with(hosts, Vec::new);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let heading = index == 0 && !line.starts_with(|c: char| c.is_ascii_digit());
        if line.is_empty() || line.starts_with('#') || heading {
            continue;
        }
        let (host, at, place) = parse_line(line).map_err(|what| error(index + 1, what))?;
        let Some(known) = places.get_mut(host) else {
            return Err(error(index + 1, format!("host {host} does not exist: there are {hosts}, from 0")));
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
        Mobility::through(&known).ok_or_else(|| error(0, format!("host {host} has no place")))
    };
    places.into_iter().enumerate().map(moving).collect()
}

fn parse_line(line: &str) -> Result<(usize, Instant, Position), String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [time, host, x, y] = fields.as_slice() else {
        return Err(format!("{} fields instead of 4: time_s,host,x_m,y_m", fields.len()));
    };
    let number = |word: &str| {
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| format!("`{word}` is no number"))
    };
    let seconds = number(time)?;
    if !(0.0..1e9).contains(&seconds) {
        return Err(format!("the time {time} is not from 0 to 1e9 seconds"));
    }
    let host = host.parse().map_err(|_| format!("`{host}` is no host: 0, 1, ..."))?;
    let at = Instant::ZERO + Duration::from_secs_f64(seconds);
    Ok((host, at, Position { x_m: number(x)?, y_m: number(y)? }))
}
