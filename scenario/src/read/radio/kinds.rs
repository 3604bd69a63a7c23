//! `[radio.channel.NUMBER]`: radios of another kind.
use super::channels::Radios;
use super::{mac, radio_config};
use crate::diagnostic::list_of;
use crate::document::{Item, Table, Value};
use crate::keys;
use crate::read::reader::Reader;
use prismux_wireless::{ChannelConfig, MacConfig};

/// What begins anew where a channel has a `medium_access` of its own.
const OF_MEDIUM_ACCESS: &[&str] =
    &["data_rate", "basic_rate", "rts_threshold", "rate_control", "aggregation"];

const EXAMPLE: &str = "for instance [radio.channel.36] with a line: medium_access = \"802.11a\"";

/// The channels with settings of their own, which have the others of `[radio]`, those of the medium access in `common`.
pub(super) fn read(
    reader: &Reader<'_>,
    file: &Reader<'_>,
    (radios, names): (&Radios, &[&str]),
    common: &MacConfig,
) -> Vec<ChannelConfig> {
    let Some(entry) = reader.entry("channel") else { return Vec::new() };
    let Value::Table(table) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        let remedy = format!("`channels` says who is on which; for settings of one, {EXAMPLE}");
        reader.wrong("channel", found, "a table for each channel", Some(remedy));
        return Vec::new();
    };
    let in_use = in_use(radios, file.table);
    let mut own = Vec::new();
    for entry in &table.entries {
        let path = format!("{}.{}", reader.path_of("channel"), entry.key);
        let number = entry.key.parse::<u8>().ok().filter(|number| *number > 0);
        let (Some(channel), Value::Table(settings)) = (number, &entry.item.value) else {
            let found = match number {
                Some(_) => format!("found {}", entry.item.value.describe()),
                None => format!("there is no channel \"{}\"", entry.key),
            };
            let expected = "a table of settings for a channel from 1 to 255";
            reader.problems.add(&entry.key_place, &path, found, expected, Some(EXAMPLE.to_string()));
            continue;
        };
        if !in_use.contains(&channel) {
            let known: Vec<String> = in_use.iter().map(ToString::to_string).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let name = names.first().copied().unwrap_or("host");
            let found = format!("no host has a radio on channel {channel}, at no time");
            let remedy = format!("give a host one: [radio.channels] with {name} = [1, {channel}]");
            reader.problems.add(&entry.key_place, &path, found, list_of(&known), Some(remedy));
        }
        let begins_anew = if settings.get("medium_access").is_some() { OF_MEDIUM_ACCESS } else { &[] };
        let table = Reader::new(settings, path, &entry.key_place, keys::CHANNEL, reader.problems);
        let table = table.inheriting(reader.table, begins_anew);
        let MacConfig { duty_cycle, address_resolution, .. } = *common;
        let mac = MacConfig { duty_cycle, address_resolution, ..mac::access(&table) };
        own.push(ChannelConfig { channel, radio: radio_config(&table, &mac), mac });
        table.finish();
    }
    own.sort_by_key(|own| own.channel);
    own
}

/// The channels on which hosts have radios, or to which events tune them, in order.
fn in_use(radios: &Radios, file: &Table) -> Vec<u8> {
    let tuned = |item: &Item| match &item.value {
        Value::Table(event) => match event.get("channel")?.item.value {
            Value::Integer(channel) => u8::try_from(channel).ok(),
            _ => None,
        },
        _ => None,
    };
    let events = match file.get("events").map(|entry| &entry.item.value) {
        Some(Value::List(events)) => events.as_slice(),
        _ => &[],
    };
    let mut channels: Vec<u8> = radios.all_channels().chain(events.iter().filter_map(tuned)).collect();
    channels.sort_unstable();
    channels.dedup();
    channels
}
