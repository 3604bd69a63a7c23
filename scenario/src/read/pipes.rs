//! The pipes of an R²CP flow.

use super::entry_table;
use super::reader::Reader;
use crate::document::{Entry, Value};
use crate::keys;
use crate::model::{NodeIndex, Pipe, R2cpSettings};
use crate::registry;
use prismux_r2cp::Scheduling;
use prismux_units::Duration;

/// What a flow says of its pipes; without a word there is one, from the flow's own server.
pub(super) fn read(
    reader: &Reader<'_>,
    node_names: &[&str],
    link_names: &[&str],
    from: Option<NodeIndex>,
    start: Duration,
) -> R2cpSettings {
    let scheduling = reader.name("scheduling", registry::SCHEDULING).unwrap_or(Scheduling::ExpectedArrival);
    let target_rate = reader.rate("target_rate");
    let single = |server: NodeIndex| Pipe {
        name: node_names.get(server).copied().unwrap_or_default().to_string(),
        server,
        link: None,
        cost: 0,
        opens: start,
        closes: None,
        drops: None,
    };
    let pipes = match reader.entry("pipes").map(|entry| &entry.item.value) {
        Some(Value::Table(table)) if !table.entries.is_empty() => {
            let pipe = |entry: &Entry| read_pipe(reader, entry, node_names, link_names, from, start);
            table.entries.iter().filter_map(pipe).collect()
        }
        Some(other) => {
            let remedy = "for instance pipes.first = { server = \"server1\" }".to_string();
            reader.wrong("pipes", format!("found {}", other.describe()), "at least one pipe", Some(remedy));
            Vec::new()
        }
        None => from.map(single).into_iter().collect(),
    };
    R2cpSettings { pipes, scheduling, target_rate }
}

fn read_pipe(
    flow: &Reader<'_>,
    entry: &Entry,
    node_names: &[&str],
    link_names: &[&str],
    from: Option<NodeIndex>,
    start: Duration,
) -> Option<Pipe> {
    let path = flow.path_of("pipes");
    let table = entry_table(entry, &path, flow.problems)?;
    let path = format!("{path}.{}", entry.key);
    let reader = Reader::new(table, path, &entry.key_place, keys::PIPE, flow.problems);
    let server = match reader.entry("server") {
        Some(_) => reader.reference("server", "nodes", node_names),
        None => from,
    };
    let pipe = Pipe {
        name: entry.key.clone(),
        server: server.unwrap_or_default(),
        link: reader.reference("link", "links", link_names),
        cost: reader.integer("cost", 0..=255).unwrap_or(0) as u8,
        opens: reader.duration("opens").unwrap_or(start),
        closes: reader.duration("closes"),
        drops: reader.duration("drops"),
    };
    for (key, end) in [("closes", pipe.closes), ("drops", pipe.drops)] {
        if let Some(end) = end.filter(|end| *end <= pipe.opens) {
            let found = format!("the pipe ends at {end} but opens at {}", pipe.opens);
            reader.wrong(key, found, "an end after it opens", None);
        }
    }
    reader.finish();
    server.map(|_| pipe)
}
