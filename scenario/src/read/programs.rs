//! `[programs]`.

use super::reader::{Problems, Reader};
use super::{Names, end, entry_table};
use crate::document::{Entry, Item, Value};
use crate::keys;
use prismux_plan::Program;
use prismux_units::Duration;

/// Reads the programs.
pub(super) fn read(file: &Reader<'_>, names: Names<'_>, problems: &Problems<'_>) -> Vec<Program> {
    let Some(entry) = file.entry("programs") else { return Vec::new() };
    let Value::Table(table) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        file.wrong("programs", found, "tables [programs.NAME]", None);
        return Vec::new();
    };
    table.entries.iter().filter_map(|entry| read_program(entry, names, problems)).collect()
}

fn read_program(entry: &Entry, names: Names<'_>, problems: &Problems<'_>) -> Option<Program> {
    let table = entry_table(entry, "programs", problems)?;
    let path = format!("programs.{}", entry.key);
    let reader = Reader::new(table, path, &entry.key_place, keys::PROGRAM, problems);
    let node = end(&reader, "on", names);
    let command = command(&reader);
    let start = reader.duration("start").unwrap_or(Duration::ZERO);
    let stop = reader.duration("stop");
    reader.finish();
    Some(Program { name: entry.key.clone(), node: node?, command: command?, start, stop })
}

/// The words of `exec`: of a text those between blanks, or the items of a list as they are.
fn command(reader: &Reader<'_>) -> Option<Vec<String>> {
    let expected = "a program with its arguments, as a text or as a list of texts";
    let Some(entry) = reader.entry("exec") else {
        reader.missing("exec", expected, "for instance exec = \"iperf3 -s\"".to_string());
        return None;
    };
    let word = |item: &Item| match &item.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let words = match &entry.item.value {
        Value::Text(text) => Some(text.split_whitespace().map(str::to_string).collect()),
        Value::List(items) => items.iter().map(word).collect(),
        _ => None,
    };
    if words.is_none() {
        reader.wrong("exec", format!("found {}", entry.item.value.describe()), expected, None);
    }
    words
}
