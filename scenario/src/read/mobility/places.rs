//! `[mobility] places`: where hosts stay, or walk.
use super::pair_of;
use crate::document::{Item, Value};
use crate::read::reader::{Problems, Reader};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Mobility, Position};

/// `{ a = [0, 0], b = [[0, 200, 0], [60, 900, 0]] }`: hosts that stay at a place, or walk from one to the next, among
/// `others`. Places of `bystanders` mean nothing.
pub(super) fn read(
    reader: &Reader<'_>,
    (names, bystanders): (&[&str], &[&str]),
    others: &dyn Fn() -> Option<Mobility>,
    problems: &Problems<'_>,
) -> Option<Vec<Mobility>> {
    let entry = reader.entry("places")?;
    let Value::Table(table) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong("places", found, "a table { HOST = [x, y] }", None);
        return None;
    };
    let mut places = vec![None; names.len()];
    for place in &table.entries {
        let path = format!("{}.{}", reader.path_of("places"), place.key);
        match (names.iter().position(|name| *name == place.key), mobility(&place.item)) {
            (Some(host), Ok(mobility)) => places[host] = Some(mobility),
            (None, _) if bystanders.contains(&place.key.as_str()) => {}
            (None, _) => {
                let found = format!("there is no host \"{}\" on the air", place.key);
                let expected = crate::diagnostic::list_of(names);
                problems.add(&place.key_place, &path, found, expected, None);
            }
            (_, Err(found)) => problems.add(&place.item.place, &path, found, EXPECTED, None),
        }
    }
    if places.iter().any(Option::is_none) {
        let other = others()?;
        places.iter_mut().for_each(|place| {
            place.get_or_insert_with(|| other.clone());
        });
    }
    places.into_iter().collect()
}

const EXPECTED: &str =
    "two numbers from -1000000 to 1000000, in metres, or a list of [seconds, x, y] whose times grow";

/// A place, or several with their times.
fn mobility(item: &Item) -> Result<Mobility, String> {
    if let Some([x_m, y_m]) = pair_of(item, &METRES) {
        return Ok(Mobility::Static(Position { x_m, y_m }));
    }
    let Value::List(items) = &item.value else { return Err(format!("found {}", item.value.describe())) };
    let mut walk = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let timed = timed(item).ok_or_else(|| format!("entry {} is {}", index + 1, item.value.describe()))?;
        walk.push(timed);
    }
    Mobility::through(&walk).ok_or_else(|| "found no place, or times that do not grow".to_string())
}

/// `[seconds, x, y]`.
fn timed(item: &Item) -> Option<(Instant, Position)> {
    let Value::List(items) = &item.value else { return None };
    let [seconds, x, y] = items.as_slice() else { return None };
    let number = |item: &Item, range: &std::ops::RangeInclusive<f64>| match item.value {
        Value::Integer(number) => Some(number as f64).filter(|number| range.contains(number)),
        Value::Float(number) => Some(number).filter(|number| range.contains(number)),
        _ => None,
    };
    let at = Instant::ZERO + Duration::from_secs_f64(number(seconds, &SECONDS)?);
    Some((at, Position { x_m: number(x, &METRES)?, y_m: number(y, &METRES)? }))
}

const METRES: std::ops::RangeInclusive<f64> = -1e6..=1e6;
const SECONDS: std::ops::RangeInclusive<f64> = 0.0..=1e9;
