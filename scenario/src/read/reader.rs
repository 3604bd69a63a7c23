//! Typed access to one table of the tree; every mistake is noted, none stops the reading.

use super::units::unit_remedy;
use crate::diagnostic::{Diagnostic, Place, Source, list_of, remedy_for};
use crate::document::{Entry, Item, Table, Value};
use crate::keys::Key;
use crate::registry::Name;
use prismux_units::{ByteCount, Duration, ParseQuantityError, Probability, Rate};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::str::FromStr;

/// The findings of one reading.
pub(crate) struct Problems<'a> {
    sources: &'a [Source],
    found: RefCell<Vec<(Place, Diagnostic)>>,
}

impl<'a> Problems<'a> {
    pub fn new(sources: &'a [Source]) -> Self {
        Self { sources, found: RefCell::new(Vec::new()) }
    }

    /// Notes one.
    pub fn add(
        &self,
        place: &Place,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: Option<String>,
    ) {
        let diagnostic = Diagnostic::new(self.sources, place, key, found.into(), expected.into());
        let mut all = self.found.borrow_mut();
        // What several tables inherit is wrong once.
        let is_same =
            |(other, known): &(Place, Diagnostic)| other == place && known.found == diagnostic.found;
        if *place == Place::default() || !all.iter().any(is_same) {
            all.push((place.clone(), diagnostic.with_remedy(remedy)));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// All, in the order of the sources.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(place, _)| (place.source, place.span.start));
        found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

/// One table being read: knows the keys it may hold and reports the others.
pub(crate) struct Reader<'a> {
    pub table: &'a Table,
    /// Dotted path of the table, for messages.
    pub path: String,
    /// Where to point when something is missing.
    pub place: Place,
    pub problems: &'a Problems<'a>,
    keys: &'static [Key],
    asked: RefCell<BTreeSet<&'static str>>,
    /// What holds for keys that the table leaves out, but for some of them.
    inherited: Option<(&'a Table, &'static [&'static str])>,
}

impl<'a> Reader<'a> {
    pub fn new(
        table: &'a Table,
        path: impl Into<String>,
        place: &Place,
        keys: &'static [Key],
        problems: &'a Problems<'a>,
    ) -> Self {
        Self {
            table,
            path: path.into(),
            place: place.clone(),
            problems,
            keys,
            asked: RefCell::default(),
            inherited: None,
        }
    }

    /// What the table leaves out stands in another one, but for `own` keys.
    pub fn inheriting(self, other: &'a Table, own: &'static [&'static str]) -> Self {
        Self { inherited: Some((other, own)), ..self }
    }

    /// The entry `key`, of this table or inherited.
    fn find(&self, key: &str) -> Option<&'a Entry> {
        let inherited = || {
            let (other, own) = self.inherited?;
            other.get(key).filter(|_| !own.contains(&key))
        };
        self.table.get(key).or_else(inherited)
    }

    /// Dotted path of `key`.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// The entry `key`, remembered as known.
    pub fn entry(&self, key: &'static str) -> Option<&'a Entry> {
        debug_assert!(self.keys.iter().any(|k| k.name == key), "{key} is missing from the table of keys");
        self.asked.borrow_mut().insert(key);
        self.find(key)
    }

    /// Notes a problem with the value of `key`.
    pub fn wrong(
        &self,
        key: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: Option<String>,
    ) {
        let place = self.find(key).map_or(&self.place, |entry| &entry.item.place);
        self.problems.add(place, &self.path_of(key), found, expected, remedy);
    }

    /// Notes that `key` is missing.
    pub fn missing(&self, key: &'static str, expected: &str, remedy: String) {
        let found =
            format!("{} says no \"{key}\"", if self.path.is_empty() { "the file" } else { &self.path });
        self.problems.add(&self.place, &self.path_of(key), found, expected, Some(remedy));
    }

    fn read<T>(&self, key: &'static str, expected: &str, convert: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let entry = self.entry(key)?;
        let converted = convert(&entry.item.value);
        if converted.is_none() {
            self.wrong(key, format!("found {}", entry.item.value.describe()), expected, None);
        }
        converted
    }

    fn quantity<T: FromStr<Err = ParseQuantityError>>(
        &self,
        key: &'static str,
        expected: &str,
        unit: &str,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        let result = match &entry.item.value {
            Value::Text(text) => text.parse::<T>().map_err(|error| {
                let is_bare = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
                (error.expected, if is_bare { Some(needs_unit(text, unit)) } else { unit_remedy::<T>(text) })
            }),
            Value::Integer(number) => Err((expected, Some(needs_unit(number, unit)))),
            Value::Float(number) => Err((expected, Some(needs_unit(number, unit)))),
            _ => Err((expected, None)),
        };
        match result {
            Ok(quantity) => Some(quantity),
            Err((expected, remedy)) => {
                self.wrong(key, format!("found {}", entry.item.value.describe()), expected, remedy);
                None
            }
        }
    }

    pub fn duration(&self, key: &'static str) -> Option<Duration> {
        self.quantity(key, "a duration such as \"500 ms\" (ns, us, ms, s, min, h)", "ms")
    }

    pub fn rate(&self, key: &'static str) -> Option<Rate> {
        self.quantity(key, "a rate such as \"600 kbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)", "kbit/s")
    }

    pub fn bytes(&self, key: &'static str) -> Option<ByteCount> {
        self.quantity(key, "a size such as \"1500 B\" or \"14 MB\" (B, kB, MB, GB, TB)", "B")
    }

    pub fn probability(&self, key: &'static str) -> Option<Probability> {
        let entry = self.entry(key)?;
        let probability = probability_of(&entry.item.value);
        if probability.is_none() {
            let expected = "a probability such as 0.006 or \"0.6 %\" (between 0 and 1)";
            let found = format!("found {}", entry.item.value.describe());
            self.wrong(key, found, expected, percent_remedy(&entry.item.value));
        }
        probability
    }

    /// A whole number within `range`.
    pub fn integer(&self, key: &'static str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, &expected, |value| match value {
            Value::Integer(number) if range.contains(number) => Some(*number),
            _ => None,
        })
    }

    /// A number within `range`.
    pub fn number(&self, key: &'static str, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.read(key, &expected, |value| match value {
            Value::Integer(number) if range.contains(&(*number as f64)) => Some(*number as f64),
            Value::Float(number) if range.contains(number) => Some(*number),
            _ => None,
        })
    }

    pub fn boolean(&self, key: &'static str) -> Option<bool> {
        self.read(key, "true or false", |value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        })
    }

    pub fn text(&self, key: &'static str) -> Option<&'a str> {
        let entry = self.entry(key)?;
        match &entry.item.value {
            Value::Text(text) => Some(text),
            other => {
                self.wrong(key, format!("found {}", other.describe()), "a text in quotes", None);
                None
            }
        }
    }

    /// One of the registered names.
    pub fn name<T: Clone>(&self, key: &'static str, names: &[Name<T>]) -> Option<T> {
        let Some(text) = self.text(key) else {
            if self.find(key).is_some() {
                self.accept_all();
            }
            return None;
        };
        if let Some(name) = names.iter().find(|name| name.name == text) {
            return Some(name.value.clone());
        }
        let known: Vec<&str> = names.iter().map(|name| name.name).collect();
        let remedy = remedy_for(text, known.iter().copied());
        self.wrong(key, format!("there is no \"{text}\""), list_of(&known), remedy);
        self.accept_all();
        None
    }

    /// Takes all keys that the table may hold for known: which of them apply depends on a name that is missing or
    /// wrong.
    pub fn accept_all(&self) {
        self.asked.borrow_mut().extend(self.keys.iter().map(|key| key.name));
    }

    /// An index into `names`, which are the `what` (nodes, links) of the file.
    pub fn reference(&self, key: &'static str, what: &str, names: &[&str]) -> Option<usize> {
        let entry = self.entry(key)?;
        self.reference_item(key, &entry.item, what, names)
    }

    /// The same for a value within a list.
    pub fn reference_item(
        &self,
        key: &'static str,
        item: &Item,
        what: &str,
        names: &[&str],
    ) -> Option<usize> {
        let expected = if names.is_empty() {
            format!("one of the {what}, but the file has none")
        } else {
            format!("one of the {what}: {}", list_of(names))
        };
        let (found, remedy) = match &item.value {
            Value::Text(text) => match names.iter().position(|name| name == text) {
                Some(index) => return Some(index),
                None => {
                    let found = format!("there is no \"{text}\" among the {what}");
                    (found, remedy_for(text, names.iter().copied()))
                }
            },
            other => (format!("found {}", other.describe()), None),
        };
        self.problems.add(&item.place, &self.path_of(key), found, expected, remedy);
        None
    }

    /// A sub-table to be read with its own keys.
    pub fn table(&self, key: &'static str, keys: &'static [Key]) -> Option<Reader<'a>> {
        let entry = self.entry(key)?;
        match &entry.item.value {
            Value::Table(table) => {
                Some(Reader::new(table, self.path_of(key), &entry.key_place, keys, self.problems))
            }
            other => {
                self.wrong(key, format!("found {}", other.describe()), "a table { key = value, ... }", None);
                None
            }
        }
    }

    /// Reports the keys nobody asked for.
    pub fn finish(&self) {
        let known: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
        for entry in &self.table.entries {
            if self.asked.borrow().contains(entry.key.as_str()) {
                continue;
            }
            let remedy = match known.contains(&entry.key.as_str()) {
                // Known in general, but not read here: it does not apply to this kind of entry.
                true => Some("remove it: it has no effect here".to_string()),
                false => remedy_for(&entry.key, known.iter().copied()),
            };
            let usable: Vec<&str> =
                known.iter().copied().filter(|key| self.asked.borrow().contains(key)).collect();
            let found = format!("unknown key \"{}\"", entry.key);
            self.problems.add(&entry.key_place, &self.path_of(&entry.key), found, list_of(&usable), remedy);
        }
    }
}

/// Advice for a value that is no probability: a number above one is meant in percent.
pub(super) fn percent_remedy(value: &Value) -> Option<String> {
    match value {
        Value::Integer(n) if *n > 1 => Some(format!("for {n} percent, write \"{n} %\"")),
        Value::Float(n) if *n > 1.0 => Some(format!("for {n} percent, write \"{n} %\"")),
        Value::Text(text) => unit_remedy::<Probability>(text),
        _ => None,
    }
}

/// A probability from a number in `[0, 1]` or a text.
pub(crate) fn probability_of(value: &Value) -> Option<Probability> {
    match value {
        Value::Integer(number) => Probability::new(*number as f64),
        Value::Float(number) => Probability::new(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// The number in `unit`; a duration also in seconds, which results have.
fn needs_unit(number: impl std::fmt::Display, unit: &str) -> String {
    let in_seconds = if unit == "ms" { format!(" or \"{number} s\"") } else { String::new() };
    format!("a number needs its unit: \"{number} {unit}\"{in_seconds}")
}
