//! A dictionary becomes the text of a scenario file, so that the reader of files is the only one, and its messages have
//! lines.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};
use std::fmt::Write;

/// The text of a scenario: plain settings first, then one section for each table with one line for each entry.
pub(crate) fn to_text(dictionary: &Bound<'_, PyDict>) -> PyResult<String> {
    let (mut settings, mut sections) = (String::new(), String::new());
    for (key, value) in dictionary {
        let key = key_text(&key, "")?;
        match (value.cast::<PyDict>(), value.cast::<PyList>()) {
            (Ok(table), _) => {
                // Writing to a string cannot fail.
                let _ = writeln!(sections, "\n[{}]", bare_or_quoted(&key));
                for (name, entry) in table {
                    let name = key_text(&name, &key)?;
                    let entry = inline(&entry, &format!("{key}.{name}"))?;
                    let _ = writeln!(sections, "{} = {entry}", bare_or_quoted(&name));
                }
            }
            (_, Ok(list)) => {
                let _ = writeln!(settings, "{} = [", bare_or_quoted(&key));
                for (index, item) in list.iter().enumerate() {
                    let _ = writeln!(settings, "  {},", inline(&item, &format!("{key}.{index}"))?);
                }
                settings.push_str("]\n");
            }
            _ => {
                let _ = writeln!(settings, "{} = {}", bare_or_quoted(&key), inline(&value, &key)?);
            }
        }
    }
    Ok(settings + &sections)
}

/// The `path=value` texts of overrides: those of a list as they are, or the entries of a dictionary.
pub(crate) fn overrides(set: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    if let Ok(dictionary) = set.cast::<PyDict>() {
        let entry = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let path = key_text(&path, "set")?;
            Ok(format!("{path}={}", setting(&value, &path)?))
        };
        return dictionary.into_iter().map(entry).collect();
    }
    set.extract::<Vec<String>>().map_err(|_| {
        PyTypeError::new_err("set: expected a dictionary {path: value} or a list of \"path=value\" texts")
    })
}

/// The value of a setting as the command line takes it: a text as it is, since quotes may be left out there.
pub(crate) fn setting(value: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    value.extract::<String>().or_else(|_| inline(value, path))
}

/// A value on one line.
fn inline(value: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(truth.to_string());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(quoted(&text.to_string()));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key = key_text(&key, path)?;
            Ok(format!("{} = {}", bare_or_quoted(&key), inline(&value, &format!("{path}.{key}"))?))
        };
        let entries: PyResult<Vec<String>> = table.into_iter().map(entry).collect();
        let entries = entries?;
        return Ok(if entries.is_empty() { "{}".into() } else { format!("{{ {} }}", entries.join(", ")) });
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: PyResult<Vec<String>> = value
            .try_iter()?
            .enumerate()
            .map(|(index, item)| inline(&item?, &format!("{path}.{index}")))
            .collect();
        return Ok(format!("[{}]", items?.join(", ")));
    }
    if !value.is_instance_of::<PyFloat>()
        && let Ok(whole) = value.extract::<i64>()
    {
        return Ok(whole.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(match number {
            number if number.is_nan() => "nan".to_string(),
            number if number.is_infinite() => (if number > 0.0 { "inf" } else { "-inf" }).to_string(),
            number => format!("{number:?}"),
        });
    }
    if let Ok(file) = value.call_method0("__fspath__").and_then(|path| path.extract::<String>()) {
        return Ok(quoted(&file));
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{path}: a value of type {kind} has no place in a scenario\n  expected: a text, a number, True or \
            False, a list or a \
         dictionary; leave out what has its default"
    )))
}

fn key_text(key: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    key.extract::<String>().map_err(|_| {
        let place = if path.is_empty() { "the scenario".to_string() } else { path.to_string() };
        PyTypeError::new_err(format!("{place}: keys are texts, not {key:?}"))
    })
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_string() } else { quoted(key) }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
