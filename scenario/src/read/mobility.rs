//! `[mobility]`.

mod places;

use crate::document::{Item, Value};
use crate::read::reader::{Problems, Reader};
use crate::registry::{self, MobilityModel};
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    Area, GaussMarkov, Manhattan, Mobility, MovementError, Position, RandomWaypoint, WaypointStart,
    parse_csv, parse_ns2,
};
use std::path::Path;

/// How each of the hosts called `names` moves; `None` when that cannot be read. Places of `bystanders` mean nothing.
pub(super) fn read(
    reader: &Reader<'_>,
    (names, bystanders): (&[&str], &[&str]),
    folder: Option<&Path>,
    problems: &Problems<'_>,
) -> Option<Vec<Mobility>> {
    if reader.entry("model").is_none() {
        reader.missing(
            "model",
            "the name of a mobility model",
            "for instance model = \"static\"".to_string(),
        );
        reader.accept_all();
    }
    // Hosts with places of their own stay there; the others are all alike.
    let spread = |others: &dyn Fn() -> Option<Mobility>| match reader.entry("places").is_some() {
        true => {
            let mobility = places::read(reader, (names, bystanders), others, problems)?;
            keep_within_area(reader, "places", names, &mobility);
            Some(mobility)
        }
        false => Some(vec![others()?; names.len()]),
    };
    let model = reader.name("model", registry::MOBILITY)?;
    let area = || area(reader);
    match model {
        MobilityModel::Static => spread(&|| Some(Mobility::Anywhere(area()?))),
        MobilityModel::RandomWaypoint => spread(&|| {
            let (low, high) = speeds(reader);
            Some(Mobility::RandomWaypoint(RandomWaypoint {
                min_speed_m_per_s: low,
                max_speed_m_per_s: high,
                pause: reader.duration("pause").unwrap_or(Duration::ZERO),
                start: reader.name("start", registry::WAYPOINT_STARTS).unwrap_or(WaypointStart::Steady),
                area: area()?,
            }))
        }),
        MobilityModel::GaussMarkov => spread(&|| {
            let (low, high) = speeds(reader);
            Some(Mobility::GaussMarkov(GaussMarkov {
                mean_speed_m_per_s: (low + high) / 2.0,
                max_speed_m_per_s: high,
                memory: reader.number("memory", 0.0..=1.0).unwrap_or(0.75),
                interval: interval(reader),
                area: area()?,
            }))
        }),
        MobilityModel::Manhattan => spread(&|| {
            let (low, high) = speeds(reader);
            let [columns, rows] = pair(reader, "blocks", 1.0..=10_000.0).unwrap_or([5.0, 5.0]);
            Some(Mobility::Manhattan(Manhattan {
                columns: columns as u32,
                rows: rows as u32,
                min_speed_m_per_s: low,
                max_speed_m_per_s: high,
                area: area()?,
            }))
        }),
        MobilityModel::Ns2File => {
            file(reader, (names, folder), NS2_LINES, |name, text| parse_ns2(name, text, names.len()))
        }
        MobilityModel::CsvFile => {
            file(reader, (names, folder), CSV_LINES, |name, text| parse_csv(name, text, names.len()))
        }
    }
}

fn area(reader: &Reader<'_>) -> Option<Area> {
    if reader.entry("area_m").is_none() {
        let remedy = "for instance area_m = [1000, 1000]".to_string();
        reader.missing("area_m", "width and height of the area, in metres", remedy);
    }
    let [width_m, height_m] = pair(reader, "area_m", 1.0..=1e6)?;
    Some(Area { width_m, height_m })
}

fn speeds(reader: &Reader<'_>) -> (f64, f64) {
    let [low, high] = pair(reader, "speed_m_per_s", 0.001..=10_000.0).unwrap_or([0.1, 10.0]);
    if low > high {
        let found = format!("found {low}, then {high}");
        reader.wrong("speed_m_per_s", found, "the lowest speed, then the highest", None);
        return (high, high);
    }
    (low, high)
}

fn interval(reader: &Reader<'_>) -> Duration {
    let interval = reader.duration("interval").unwrap_or(Duration::from_secs(1));
    if interval < Duration::from_millis(1) {
        reader.wrong("interval", "found an interval below 1 ms", "an interval of at least 1 ms", None);
        return Duration::from_secs(1);
    }
    interval
}

/// Two numbers within `range`.
fn pair(reader: &Reader<'_>, key: &'static str, range: std::ops::RangeInclusive<f64>) -> Option<[f64; 2]> {
    let entry = reader.entry(key)?;
    let pair = pair_of(&entry.item, &range);
    if pair.is_none() {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong(key, found, format!("two numbers from {} to {}", range.start(), range.end()), None);
    }
    pair
}

pub(super) fn pair_of(item: &Item, range: &std::ops::RangeInclusive<f64>) -> Option<[f64; 2]> {
    let Value::List(items) = &item.value else { return None };
    let [first, second] = items.as_slice() else { return None };
    let number = |item: &Item| match item.value {
        Value::Integer(number) => Some(number as f64).filter(|number| range.contains(number)),
        Value::Float(number) => Some(number).filter(|number| range.contains(number)),
        _ => None,
    };
    Some([number(first)?, number(second)?])
}

/// Whether all hosts stay within `area_m`, where a file or places of their own move them and it is given.
fn keep_within_area(reader: &Reader<'_>, key: &'static str, names: &[&str], mobility: &[Mobility]) {
    let Some(area) = reader.entry("area_m").and_then(|_| area(reader)) else { return };
    let leaves =
        |(name, mobility): (&&str, &Mobility)| Some(((*name).to_string(), outside(mobility, &area)?));
    if let Some((host, (at, Position { x_m, y_m }))) = names.iter().zip(mobility).find_map(leaves) {
        let when =
            if at == Instant::ZERO { String::new() } else { format!(", after {}", at - Instant::ZERO) };
        let found = format!("host \"{host}\" is outside of area_m at ({x_m}, {y_m}){when}");
        let expected = format!("places within {} m by {} m", area.width_m, area.height_m);
        let remedy = "leave out area_m, which nothing else needs here, or make it larger".to_string();
        reader.wrong(key, found, expected, Some(remedy));
    }
}

/// When a listed movement is outside of an area, whose corner is the origin, and where.
fn outside(mobility: &Mobility, area: &Area) -> Option<(Instant, Position)> {
    let is_outside = |(_, at): &(Instant, Position)| {
        !(0.0..=area.width_m).contains(&at.x_m) || !(0.0..=area.height_m).contains(&at.y_m)
    };
    match mobility {
        Mobility::Static(at) => Some((Instant::ZERO, *at)).filter(is_outside),
        Mobility::Legs(legs) => {
            let mut ends =
                legs.iter().flat_map(|leg| [(leg.from, leg.start), (leg.until, leg.at(leg.until))]);
            ends.find(is_outside)
        }
        // They keep within an area of their own.
        _ => None,
    }
}

/// What ns-2 reads.
const NS2_LINES: &str =
    "lines as `$node_(0) set X_ 12.5` and `$ns_ at 2.0 \"$node_(0) setdest 100.0 200.0 5.0\"`";
/// What a table of places holds.
const CSV_LINES: &str = "lines of `time_s,host,x_m,y_m`, or `time_s,host,lat,lon` under such a heading";

/// Which number of a movement file is which host.
fn numbered(names: &[&str]) -> String {
    match names {
        [] => "no host".to_string(),
        [only] => format!("one host, 0: \"{only}\""),
        [first, .., last] => {
            format!("{} hosts, from 0, \"{first}\", to {}, \"{last}\"", names.len(), names.len() - 1)
        }
    }
}

/// Reads a movement file for hosts with these names.
fn file(
    reader: &Reader<'_>,
    (names, folder): (&[&str], Option<&Path>),
    lines: &str,
    parse: impl Fn(&str, &str) -> Result<Vec<Mobility>, MovementError>,
) -> Option<Vec<Mobility>> {
    // Known, whatever becomes of the file.
    let _ = reader.entry("area_m");
    if reader.entry("file").is_none() {
        reader.missing(
            "file",
            "the name of a movement file",
            "for instance file = \"scene.tcl\"".to_string(),
        );
    }
    let name = reader.text("file")?;
    let path = folder.unwrap_or(Path::new("")).join(name);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let remedy = match error.kind() {
                std::io::ErrorKind::InvalidData => "movement files are text".to_string(),
                _ => format!("the path is relative to the scenario file; looked at {}", path.display()),
            };
            reader.wrong("file", format!("cannot read \"{name}\": {error}"), "a movement file", Some(remedy));
            return None;
        }
    };
    match parse(name, &text) {
        Ok(mobility) => {
            keep_within_area(reader, "file", names, &mobility);
            Some(mobility)
        }
        Err(error) => {
            let expected = format!("{lines}; {}", numbered(names));
            reader.wrong("file", error.to_string(), expected, error.remedy.map(str::to_string));
            None
        }
    }
}
