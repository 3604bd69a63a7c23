//! `--set links.wwan2.delay=900ms`: one value of the tree replaced.

use super::{Entry, Item, Table, Value, parse};
use crate::diagnostic::{Diagnostic, Place, ScenarioError, Source, remedy_for};
use crate::keys;

/// Sections whose entries are named by the author of the file: an override may change them, not invent them.
const NAMED_SECTIONS: [&str; 3] = ["nodes", "links", "flows"];

/// Applies the override held by source number `index` (`path=value`) to `table`.
///
/// A path segment `*` stands for every entry of its table, a number for an entry of a list. The value is read as
/// TOML where it is TOML, else as text, so quotes may be left out on the command line.
pub(crate) fn apply_override(
    sources: &[Source],
    index: usize,
    table: &mut Table,
) -> Result<(), ScenarioError> {
    let text = sources[index].text.clone();
    let fail = |found: String, expected: &str, remedy: Option<String>| {
        let place = Place { source: index, span: 0..text.len() };
        let diagnostic =
            Diagnostic::new(sources, &place, "", found, expected.to_string()).with_remedy(remedy);
        ScenarioError { diagnostics: vec![diagnostic] }
    };
    let Some((path, value)) = text.split_once('=') else {
        let example = Some("for instance --set links.wwan2.delay=900ms".to_string());
        return Err(fail("there is no \"=\"".to_string(), "path=value", example));
    };
    let segments = segments_of(path);
    if segments.iter().any(|segment| segment.is_empty()) {
        let example = Some("for instance --set links.wwan2.delay=900ms".to_string());
        return Err(fail(format!("\"{path}\" is not a path"), "names joined by dots", example));
    }
    if let [section, name, _, ..] = segments[..]
        && NAMED_SECTIONS.contains(&section)
        && name != "*"
        && let Some(entry) = table.get(section)
        && let Value::Table(entries) = &entry.item.value
        && entries.get(name).is_none()
    {
        let known: Vec<&str> = entries.entries.iter().map(|entry| entry.key.as_str()).collect();
        let remedy = remedy_for(name, known.iter().copied());
        let expected = format!("one of the {section} of the file: {}", known.join(", "));
        return Err(fail(format!("there is no \"{name}\" in [{section}]"), &expected, remedy));
    }
    let start = path.len() + 1;
    let place = Place { source: index, span: start..text.len() };
    let mut value = read_value(value);
    place_within(&mut value, index, start);
    let item = Item { value, place };
    let key_place = Place { source: index, span: 0..path.len() };
    set(table, &segments, &item, &key_place).map_err(|segment| {
        let remedy = Some("numbers count the entries of a list from 0".to_string());
        fail(format!("\"{segment}\" leads nowhere"), "the path of a key", remedy)
    })
}

/// The names that a path joins by dots.
fn segments_of(path: &str) -> Vec<&str> {
    path.trim().split('.').map(|segment| segment.trim().trim_matches('"')).collect()
}

/// Refuses the override held by source number `index` where the file says the same more specifically: a key of a link
/// has no effect on a direction that has its own. What another override says (from source `first_given` on) is meant.
pub(crate) fn refuse_masked(
    sources: &[Source],
    index: usize,
    first_given: usize,
    table: &Table,
) -> Result<(), ScenarioError> {
    let text = &sources[index].text;
    let Some((path, value)) = text.split_once('=') else { return Ok(()) };
    let ["links", name, key, ..] = segments_of(path)[..] else { return Ok(()) };
    if !keys::DIRECTION.iter().any(|known| known.name == key) {
        return Ok(());
    }
    let Some(Value::Table(links)) = table.get("links").map(|entry| &entry.item.value) else { return Ok(()) };
    for link in links.entries.iter().filter(|link| name == "*" || link.key == name) {
        let Value::Table(own) = &link.item.value else { continue };
        for side in ["forward", "reverse"] {
            let Some(masking) = own.get(side).and_then(|side| masking(&side.item.value, key)) else {
                continue;
            };
            if masking.item.place.source >= first_given {
                continue;
            }
            let specific = format!("links.{}.{side}.{}", link.key, masking.key);
            let found = format!("\"{specific}\" is set, and counts in its place");
            let place = Place { source: index, span: 0..path.len() };
            let expected = "a key that nothing more specific masks".to_string();
            let other = if side == "forward" { "reverse" } else { "forward" };
            let remedy = format!(
                "--set {specific}={value}; the other direction is links.{}.{other}.{key}",
                link.key,
                value = value.trim()
            );
            let diagnostic = Diagnostic::new(sources, &place, path.trim(), found, expected);
            return Err(ScenarioError { diagnostics: vec![diagnostic.with_remedy(Some(remedy))] });
        }
    }
    Ok(())
}

/// The entry of a direction that says what `key` says: a rate and a trace say the same.
fn masking<'a>(direction: &'a Value, key: &str) -> Option<&'a Entry> {
    let Value::Table(direction) = direction else { return None };
    match key {
        "rate" | "trace" => direction.get("rate").or_else(|| direction.get("trace")),
        _ => direction.get(key),
    }
}

/// What stands before a value, to be read as TOML.
const BEFORE_VALUE: &str = "value = ";

/// Says of everything within `value` that it stands in source number `index`, from byte `start` on.
fn place_within(value: &mut Value, index: usize, start: usize) {
    let moved = |place: &mut Place| {
        let of = |byte: usize| (byte + start).saturating_sub(BEFORE_VALUE.len());
        *place = Place { source: index, span: of(place.span.start)..of(place.span.end) };
    };
    match value {
        Value::List(items) => items.iter_mut().for_each(|item| {
            moved(&mut item.place);
            place_within(&mut item.value, index, start);
        }),
        Value::Table(table) => table.entries.iter_mut().for_each(|entry| {
            moved(&mut entry.key_place);
            moved(&mut entry.item.place);
            place_within(&mut entry.item.value, index, start);
        }),
        _ => {}
    }
}

/// A value as TOML if it reads as such, else as text.
fn read_value(text: &str) -> Value {
    let source = Source { name: String::new(), text: format!("{BEFORE_VALUE}{text}"), is_file: false };
    match parse(&[source], 0) {
        Ok(mut table) if table.entries.len() == 1 => match table.remove("value") {
            Some(Entry { item, .. }) => item.value,
            None => Value::Text(text.trim().to_string()),
        },
        _ => Value::Text(text.trim().to_string()),
    }
}

/// Walks `segments` down from `table`; the failing segment on error.
fn set(table: &mut Table, segments: &[&str], item: &Item, key_place: &Place) -> Result<(), String> {
    let (first, rest) = (segments[0], &segments[1..]);
    if first == "*" {
        let keys: Vec<String> = table.entries.iter().map(|entry| entry.key.clone()).collect();
        return keys.iter().try_for_each(|key| {
            let mut path = vec![key.as_str()];
            path.extend_from_slice(rest);
            set(table, &path, item, key_place)
        });
    }
    if table.get(first).is_none() {
        let value = if rest.is_empty() { item.value.clone() } else { Value::Table(Table::default()) };
        let item = Item { value, place: item.place.clone() };
        table.entries.push(Entry { key: first.to_string(), key_place: key_place.clone(), item });
    }
    let Some(entry) = table.get_mut(first) else { return Err(first.to_string()) };
    if rest.is_empty() {
        entry.item = item.clone();
        return Ok(());
    }
    descend(&mut entry.item, rest, item, key_place)
}

fn descend(target: &mut Item, rest: &[&str], item: &Item, key_place: &Place) -> Result<(), String> {
    match &mut target.value {
        Value::Table(inner) => set(inner, rest, item, key_place),
        Value::List(list) => {
            let index: usize = rest[0].parse().map_err(|_| rest[0].to_string())?;
            let element = list.get_mut(index).ok_or_else(|| rest[0].to_string())?;
            if rest.len() == 1 {
                *element = item.clone();
                return Ok(());
            }
            descend(element, &rest[1..], item, key_place)
        }
        // `loss = 0.01` may become `loss.model = ...`.
        other => {
            *other = Value::Table(Table::default());
            descend(target, rest, item, key_place)
        }
    }
}
