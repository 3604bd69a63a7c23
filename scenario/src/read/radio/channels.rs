//! `[radio.channels]`.
use crate::document::{Item, Value};
use crate::read::reader::{Problems, Reader};
use prismux_plan::FurtherRadio;
use prismux_wireless::Role;

/// The radios of the hosts on the air, numbered as in a plan: the first ones of all hosts, then the others.
pub(super) struct Radios {
    hosts: usize,
    /// Of the first radio of each host; nothing where all are on the first channel.
    pub channels: Vec<u8>,
    pub further: Vec<FurtherRadio>,
}

impl Radios {
    /// The channel of a host's first radio, by the host's place.
    pub fn channel(&self, host: usize) -> u8 {
        self.channels.get(host).copied().unwrap_or(1)
    }

    /// The radio that a host has on a channel.
    pub fn on(&self, host: usize, channel: u8) -> Option<usize> {
        if self.channel(host) == channel {
            return Some(host);
        }
        let at = self.further.iter().position(|radio| (radio.host, radio.channel) == (host, channel))?;
        Some(self.hosts + at)
    }

    /// The channel of each radio, in their order.
    pub fn all_channels(&self) -> impl Iterator<Item = u8> + '_ {
        let first = (0..self.hosts).map(|host| self.channel(host));
        first.chain(self.further.iter().map(|radio| radio.channel))
    }

    /// Gives the further radios their roles, of those of all radios, and answers with those of the first ones.
    pub fn take_roles(&mut self, mut roles: Vec<Role>) -> Vec<Role> {
        let others = roles.split_off(roles.len().min(self.hosts));
        for (radio, role) in self.further.iter_mut().zip(others) {
            radio.role = role;
        }
        roles
    }
}

/// The radios of the hosts in `names`.
pub(super) fn read(reader: &Reader<'_>, names: &[&str], problems: &Problems<'_>) -> Radios {
    let (channels, further) = channels(reader, names, problems);
    Radios { hosts: names.len(), channels, further }
}

fn channels(reader: &Reader<'_>, names: &[&str], problems: &Problems<'_>) -> (Vec<u8>, Vec<FurtherRadio>) {
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
                further.extend(numbers[1..].iter().map(|&channel| FurtherRadio::new(host, channel)));
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
