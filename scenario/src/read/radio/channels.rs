//! `[radio.channels]`.
use crate::document::{Item, Value};
use crate::read::reader::{Problems, Reader};
use prismux_plan::FurtherRadio;

/// The channels of the hosts in `names`: that of each one's first radio, nothing where all are on the first channel,
/// and further radios.
pub(super) fn read(
    reader: &Reader<'_>,
    names: &[&str],
    problems: &Problems<'_>,
) -> (Vec<u8>, Vec<FurtherRadio>) {
    let (mut channels, mut further) = (Vec::new(), Vec::new());
    let Some(entry) = reader.entry("channels") else { return (channels, further) };
    let Value::Table(table) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong("channels", found, "a table { HOST = NUMBER }", None);
        return (channels, further);
    };
    channels.resize(names.len(), 1);
    for channel in &table.entries {
        let path = format!("{}.{}", reader.path_of("channels"), channel.key);
        match (names.iter().position(|name| *name == channel.key), numbers(&channel.item)) {
            (Some(host), Some(numbers)) => {
                channels[host] = numbers[0];
                further.extend(numbers[1..].iter().map(|&channel| FurtherRadio { host, channel }));
            }
            (None, _) => {
                let found = format!("there is no host \"{}\" on the air", channel.key);
                problems.add(&channel.key_place, &path, found, crate::diagnostic::list_of(names), None);
            }
            (_, None) => {
                let found = format!("found {}", channel.item.value.describe());
                problems.add(&channel.item.place, &path, found, EXPECTED, None);
            }
        }
    }
    further.sort_by_key(|radio| radio.host);
    (channels, further)
}

const EXPECTED: &str = "a whole number from 1 to 255, or a list of different ones, a radio on each";

/// One channel, or several different ones.
fn numbers(item: &Item) -> Option<Vec<u8>> {
    let number = |item: &Item| match item.value {
        Value::Integer(number) => u8::try_from(number).ok().filter(|number| *number > 0),
        _ => None,
    };
    let Value::List(items) = &item.value else { return Some(vec![number(item)?]) };
    let numbers: Vec<u8> = items.iter().map(number).collect::<Option<_>>()?;
    let repeats = (1..numbers.len()).any(|index| numbers[..index].contains(&numbers[index]));
    (!numbers.is_empty() && !repeats).then_some(numbers)
}
