//! `[radio.channels]`.
use crate::document::Value;
use crate::read::reader::{Problems, Reader};

/// The channel of each host in `names`; nothing where all are on the first.
pub(super) fn read(reader: &Reader<'_>, names: &[&str], problems: &Problems<'_>) -> Vec<u8> {
    let Some(entry) = reader.entry("channels") else { return Vec::new() };
    let Value::Table(table) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong("channels", found, "a table { HOST = NUMBER }", None);
        return Vec::new();
    };
    let mut channels = vec![1; names.len()];
    for channel in &table.entries {
        let path = format!("{}.{}", reader.path_of("channels"), channel.key);
        let number = match channel.item.value {
            Value::Integer(number) => u8::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        match (names.iter().position(|name| *name == channel.key), number) {
            (Some(host), Some(number)) => channels[host] = number,
            (None, _) => {
                let found = format!("there is no host \"{}\" on the air", channel.key);
                problems.add(&channel.key_place, &path, found, crate::diagnostic::list_of(names), None);
            }
            (_, None) => {
                let found = format!("found {}", channel.item.value.describe());
                problems.add(&channel.item.place, &path, found, "a whole number from 1 to 255", None);
            }
        }
    }
    channels
}
