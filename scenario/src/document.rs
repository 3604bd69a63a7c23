//! A scenario file as a tree whose every key and value knows where it stands, before it means anything.
//!
//! Variants and `--set` overrides are merged here, so that a mistake in one of them is reported where it was
//! written.

mod overrides;
mod write;

use crate::diagnostic::{Diagnostic, Place, ScenarioError, Source};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) use overrides::{apply_override, refuse_masked};
pub(crate) use write::to_text;

/// A value of a scenario file.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Item>),
    Table(Table),
    /// A TOML type that no key takes (dates), or a number out of range, as written.
    Other(String),
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub value: Value,
    pub place: Place,
}

/// One `key = value`.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub item: Item,
}

/// Entries in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

impl Value {
    /// What the value is, for messages: `text "700"`, `the number 7`, `a table`.
    pub fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::Integer(number) => format!("the number {number}"),
            Self::Float(number) => format!("the number {number}"),
            Self::Boolean(value) => value.to_string(),
            Self::List(_) => "a list".to_string(),
            Self::Table(_) => "a table".to_string(),
            Self::Other(text) => text.clone(),
        }
    }
}

impl Table {
    /// The entry called `key`.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry called `key`.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    /// Removes and returns the entry called `key`.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// Lays `other` over this table: tables merge, everything else is replaced.
    pub fn merge(&mut self, other: &Table) {
        for entry in &other.entries {
            match (self.get_mut(&entry.key), &entry.item.value) {
                (Some(Entry { item: Item { value: Value::Table(mine), .. }, .. }), Value::Table(theirs)) => {
                    mine.merge(theirs);
                }
                (Some(mine), _) => *mine = entry.clone(),
                (None, _) => self.entries.push(entry.clone()),
            }
        }
    }
}

/// Reads the text of source number `index`.
pub(crate) fn parse(sources: &[Source], index: usize) -> Result<Table, ScenarioError> {
    let text = sources[index].text.as_str();
    match DeTable::parse(text) {
        Ok(table) => Ok(convert_table(index, table.get_ref())),
        Err(error) => {
            let place = Place { source: index, span: error.span().unwrap_or(0..0) };
            let mut lines = error.message().lines();
            let found = lines.next().unwrap_or("this is not TOML").to_string();
            let (expected, remedy) = syntax_advice(&found, text, &place.span);
            let diagnostic = Diagnostic::new(sources, &place, "", found, expected).with_remedy(remedy);
            Err(ScenarioError { diagnostics: vec![diagnostic] })
        }
    }
}

/// What to say about a text that TOML itself refuses.
fn syntax_advice(found: &str, text: &str, span: &Range<usize>) -> (String, Option<String>) {
    if found.contains("duplicate key") {
        let name = text.get(span.clone()).unwrap_or("the second one");
        return (
            "every name once in its table".to_string(),
            Some(format!("rename or remove one of the entries called {name}")),
        );
    }
    let remedy = "texts and quantities stand in quotes: delay = \"500 ms\"";
    ("TOML: key = value lines under [nodes], [links], [flows]".to_string(), Some(remedy.to_string()))
}

fn place(source: usize, span: Range<usize>) -> Place {
    Place { source, span }
}

fn convert_table(source: usize, table: &DeTable<'_>) -> Table {
    let convert = |(key, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| Entry {
        key: key.get_ref().to_string(),
        key_place: place(source, key.span()),
        item: convert_value(source, value),
    };
    let mut entries: Vec<Entry> = table.iter().map(convert).collect();
    // The parser sorts by name; results keep the order of the file.
    entries.sort_by_key(|entry| entry.key_place.span.start);
    Table { entries }
}

fn convert_value(source: usize, value: &Spanned<DeValue<'_>>) -> Item {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Other(format!("the number {}", number.as_str())), Value::Integer),
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => Value::Other(format!("the number {}", number.as_str())),
        },
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(date) => Value::Other(format!("the date {date}")),
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert_value(source, item)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(source, table)),
    };
    Item { value: converted, place: place(source, value.span()) }
}
