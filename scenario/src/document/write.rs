//! A tree as the text of a scenario file.

use super::{Entry, Item, Table, Value};
use std::fmt::Write;

/// Reads back as the same tree: plain values first, then a section for each table, with an entry on each line.
pub(crate) fn to_text(table: &Table) -> String {
    let (sections, plain): (Vec<_>, Vec<_>) =
        table.entries.iter().partition(|entry| matches!(entry.item.value, Value::Table(_)));
    let mut text = String::new();
    plain.into_iter().for_each(|entry| text.push_str(&line(entry)));
    for section in sections {
        let Value::Table(entries) = &section.item.value else { continue };
        text.push_str(&format!("\n[{}]\n", name(&section.key)));
        entries.entries.iter().for_each(|entry| text.push_str(&line(entry)));
    }
    text
}

fn line(entry: &Entry) -> String {
    format!("{} = {}\n", name(&entry.key), inline(&entry.item.value))
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        // With a point or an exponent, so that it stays what it is.
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(value) => value.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|Item { value, .. }| inline(value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.entries.is_empty() => "{}".to_string(),
        Value::Table(table) => {
            let entries = table.entries.iter();
            let entries: Vec<String> = entries
                .map(|entry| format!("{} = {}", name(&entry.key), inline(&entry.item.value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Other(text) => text.clone(),
    }
}

/// A key, in quotes where it needs them.
fn name(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { key.to_string() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a text does not fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
