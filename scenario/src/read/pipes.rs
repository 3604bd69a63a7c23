//! `pipes = { ... }` in a flow.

use super::reader::Reader;
use super::{Names, entry_table};
use crate::document::{Entry, Value};
use crate::keys;
use prismux_plan::{LinkId, NodeId, Pipe, registry};
use prismux_units::Duration;

/// What a flow says of its pipes; without a word there is one, from the flow's own server.
pub(super) fn read(
    reader: &Reader<'_>,
    names: Names<'_>,
    from: Option<NodeId>,
    start: Duration,
) -> Vec<Pipe> {
    let single = |server: NodeId| {
        let name = names.nodes.get(server.index()).copied().unwrap_or_default();
        Pipe { opens: start, ..Pipe::new(name, server) }
    };
    match reader.entry("pipes").map(|entry| &entry.item.value) {
        Some(Value::Table(table)) if !table.entries.is_empty() => {
            let pipe = |entry: &Entry| read_pipe(reader, entry, names, from, start);
            table.entries.iter().filter_map(pipe).collect()
        }
        Some(other) => {
            let remedy = "for instance pipes.first = { server = \"server1\" }".to_string();
            reader.wrong("pipes", format!("found {}", other.describe()), "at least one pipe", Some(remedy));
            Vec::new()
        }
        None => from.map(single).into_iter().collect(),
    }
}

fn read_pipe(
    flow: &Reader<'_>,
    entry: &Entry,
    names: Names<'_>,
    from: Option<NodeId>,
    start: Duration,
) -> Option<Pipe> {
    let path = flow.path_of("pipes");
    let table = entry_table(entry, &path, flow.problems)?;
    let path = format!("{path}.{}", entry.key);
    let reader = Reader::new(table, path, &entry.key_place, keys::PIPE, flow.problems);
    let server = match reader.entry("server") {
        Some(_) => reader.reference("server", "nodes", names.nodes).map(NodeId::new),
        None => from,
    };
    let pipe = Pipe {
        link: reader.reference("link", "links", names.links).map(LinkId::new),
        cost: reader.integer("cost", 0..=255).unwrap_or(0) as u8,
        congestion: reader.name("congestion", registry::CONGESTION),
        opens: reader.duration("opens").unwrap_or(start),
        closes: reader.duration("closes"),
        drops: reader.duration("drops"),
        ..Pipe::new(&entry.key, server.unwrap_or_default())
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
