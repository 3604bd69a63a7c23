//! `prismux status`.

use crate::args::StatusArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::{metrics, status};
use prismux_study::text_table::Table;
use prismux_trace::event::Line;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Where daemons listen unless their configuration says otherwise.
pub(crate) const STANDARD_SOCKETS: [&str; 5] = [
    "/run/prismux/gateway.sock",
    "/run/prismux/home.sock",
    "/run/prismux/proxy.sock",
    "/run/prismux/member.sock",
    prismux_daemons::route::config::STATUS_SOCKET,
];

/// Events told to people; all that the page has are in --json.
const EVENTS_SHOWN: usize = 12;

pub(crate) fn run(arguments: &StatusArguments) -> Result<(), Failure> {
    let pages = pages(arguments.socket.as_deref())?;
    if arguments.metrics {
        return pages.iter().try_for_each(|(_, page)| Ok(print(metrics::text(page).trim_end())?));
    }
    if arguments.json {
        // One daemon: its page. Several: a page each, by socket.
        let value = match &pages[..] {
            [(_, page)] => page.clone(),
            _ => Value::Object(
                pages
                    .into_iter()
                    .map(|(socket, page)| (socket.display().to_string(), page))
                    .collect::<Map<_, _>>(),
            ),
        };
        return Ok(print(serde_json::to_string_pretty(&value).map_err(Failure::failed)?)?);
    }
    for (index, (socket, page)) in pages.iter().enumerate() {
        if index > 0 {
            print("")?;
        }
        print(format!("{}\n{}", socket.display(), text(page)))?;
    }
    Ok(())
}

/// The pages of the daemon behind `socket`, or of those on this host.
pub(crate) fn pages(socket: Option<&Path>) -> Result<Vec<(PathBuf, Value)>, Failure> {
    match socket {
        Some(socket) => Ok(vec![(socket.to_owned(), status::query(socket).map_err(Failure::failed)?)]),
        None => standard_pages(),
    }
}

fn standard_pages() -> Result<Vec<(PathBuf, Value)>, Failure> {
    let present: Vec<&Path> = STANDARD_SOCKETS.iter().map(Path::new).filter(|path| path.exists()).collect();
    if present.is_empty() {
        let message = format!(
            "no daemon listens at {}\n  remedy: start prismux up, proxy, member or route, or name its status \
             socket with --socket",
            STANDARD_SOCKETS.join(" or ")
        );
        return Err(Failure::Failed(message));
    }
    let page = |socket: &Path| Ok((socket.to_path_buf(), status::query(socket).map_err(Failure::failed)?));
    present.into_iter().map(page).collect()
}

/// A status page for people: plain values first, then a table for every list of objects.
fn text(page: &Value) -> String {
    let Value::Object(fields) = page else { return page.to_string() };
    let mut lines = Vec::new();
    let mut tables = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) if name == "events" => tables.extend(events(items)),
            Value::Array(items) if items.iter().all(Value::is_object) => {
                tables.extend(table(name, items));
            }
            Value::Object(inner) => {
                let plain: Vec<String> = inner
                    .iter()
                    .filter(|(_, v)| !is_empty(v))
                    .map(|(k, v)| format!("{k} {}", cell(v)))
                    .collect();
                if !plain.is_empty() {
                    lines.push(format!("{name}: {}", plain.join(", ")));
                }
            }
            _ => lines.push(format!("{name}: {}", cell(value))),
        }
    }
    lines.extend(tables);
    lines.join("\n")
}

fn table(name: &str, items: &[Value]) -> Option<String> {
    let Some(Value::Object(first)) = items.first() else { return Some(format!("{name}: none")) };
    let columns: Vec<&String> =
        first.iter().filter(|(_, v)| !v.is_object() && !v.is_array()).map(|(k, _)| k).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
    let mut table = Table::new(&names);
    for item in items {
        table.row(
            columns
                .iter()
                .map(|column| item.get(column.as_str()).map_or_else(String::new, cell))
                .collect::<Vec<_>>(),
        );
    }
    Some(format!("\n{name}\n{table}"))
}

/// The newest events in words, with the seconds from the daemon's start.
fn events(items: &[Value]) -> Option<String> {
    let newest = items.get(items.len().saturating_sub(EVENTS_SHOWN)..)?;
    // An event of a later version cannot be told in words, and is left to --json.
    let told = newest.iter().filter_map(|item| Line::deserialize(item).ok());
    let lines: Vec<String> =
        told.map(|line| format!("{:>10.1} s  {line}", line.time_ns as f64 / 1e9)).collect();
    (!lines.is_empty()).then(|| format!("\nevents\n{}", lines.join("\n")))
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null) || value.as_u64() == Some(0)
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => prismux_study::number::digits(float),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn events_are_told_in_words() {
        let page = json!({ "role": "proxy", "events": [
            { "number": 0, "time_ns": 1_500_000_000_u64, "event": "member_joined",
                  "member": "m1", "peer": "udp:192.0.2.1:4754" },
            { "number": 1, "time_ns": 2_000_000_000_u64, "event": "link_state_changed", "node": "proxy", "member": "m1",
              "state": "standby", "cause": "loses too many packets" },
        ] });
        let expected = "role: proxy\n\nevents\n       1.5 s  member m1 joins from udp:192.0.2.1:4754\n       \
                        2.0 s  proxy: the link of member m1 is standby: loses too many packets";
        assert_eq!(text(&page), expected);
    }
}
