//! What is wrong with the whole of a plan, told where the file says it.

use crate::diagnostic::Place;
use crate::document::{Table, Value};
use crate::read::reader::Problems;
use prismux_plan::{Fault, Part, Plan};

/// Adds what is wrong with the plan that `file` became to `problems`.
pub(crate) fn check(plan: &Plan, file: &Table, problems: &Problems<'_>) {
    let Err(error) = plan.check() else { return };
    for fault in &error.faults {
        let path = match (&fault.part, fault.key) {
            (Part::Medium(_), Some(key)) if file.get("cell").is_some() => format!("cell.{key}"),
            _ => fault.path(),
        };
        problems.add(&place_of(file, fault), &path, fault.found(), fault.expected(), fault.remedy());
    }
}

/// Where the setting stands that a fault is about; else its part, else the start of the file.
fn place_of(file: &Table, fault: &Fault) -> Place {
    let (section, name, key) = match &fault.part {
        Part::Node(name) => ("nodes", name, fault.key),
        Part::Link(name) => ("links", name, fault.key),
        Part::Flow(name) => ("flows", name, fault.key),
        Part::Program(name) => ("programs", name, fault.key),
        // The one medium of a file.
        Part::Medium(_) => {
            let section = if file.get("cell").is_some() { "cell" } else { "radio" };
            return place_in_section(file, section, fault.key);
        }
        Part::Pipe { flow, .. } => ("flows", flow, Some("pipes")),
        // Events are read with their places, and checked then.
        Part::Event(_) => return Place::default(),
    };
    let Some(Value::Table(section)) = file.get(section).map(|entry| &entry.item.value) else {
        return Place::default();
    };
    // A numbered copy stands where its original does.
    let original = || name.rsplit_once('-').and_then(|(stem, _)| section.get(stem));
    let Some(entry) = section.get(name).or_else(original) else { return Place::default() };
    match (&entry.item.value, key) {
        (Value::Table(table), Some(key)) => {
            table.get(key).map_or_else(|| entry.key_place.clone(), |inner| inner.item.place.clone())
        }
        _ => entry.key_place.clone(),
    }
}

/// Where a key of a section stands, else the section, else the start of the file.
fn place_in_section(file: &Table, section: &str, key: Option<&str>) -> Place {
    let Some(entry) = file.get(section) else { return Place::default() };
    let Value::Table(table) = &entry.item.value else { return entry.key_place.clone() };
    let inner = key.and_then(|key| table.get(key));
    inner.map_or_else(|| entry.key_place.clone(), |inner| inner.item.place.clone())
}
