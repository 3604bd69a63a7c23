//! `[flows]`.

use super::reader::{Problems, Reader};
use super::{Names, end, entry_table, link_list, tcp, traffic, transports};
use crate::document::Entry;
use crate::keys;
use crate::registry;
use prismux_plan::{Flow, NodeId, Transport};
use prismux_units::Duration;

/// What one entry of `[flows]` became.
pub(super) struct ReadFlow {
    /// Name in the file.
    pub name: String,
    /// One flow, or as many as `count` says; none if unreadable.
    pub flows: Vec<Flow>,
}

/// Reads the flows.
pub(super) fn read(entries: &[Entry], names: Names<'_>, problems: &Problems<'_>) -> Vec<ReadFlow> {
    let read = |entry: &Entry| ReadFlow {
        name: entry.key.clone(),
        flows: read_flow(entry, names, problems).unwrap_or_default(),
    };
    entries.iter().map(read).collect()
}

fn read_flow(entry: &Entry, names: Names<'_>, problems: &Problems<'_>) -> Option<Vec<Flow>> {
    let table = entry_table(entry, "flows", problems)?;
    let reader = Reader::new(table, format!("flows.{}", entry.key), &entry.key_place, keys::FLOW, problems);
    let (from, to) = (end(&reader, "from", names), end(&reader, "to", names));
    let transport = reader.name("transport", registry::TRANSPORTS).unwrap_or(Transport::Tcp);
    let pattern = traffic::pattern(&reader, &transport);
    let traffic = traffic::read(&reader, pattern);
    let via = reader.reference("via", "nodes", names.nodes).map(NodeId::new);
    let start = reader.duration("start").unwrap_or(Duration::ZERO);
    let stop = reader.duration("stop");
    let deadline = read_deadline(&reader, &transport);
    let count = reader.integer("count", 1..=100_000).unwrap_or(1);
    let spacing = if table.get("count").is_some() { reader.duration("spacing") } else { None };
    let links = link_list(&reader, "links", names);
    let tcp = tcp::read(&reader, &transport);
    let transport = transports::read(&reader, names, transport, from, start);
    transports::check_grants(&reader, &transport, &tcp);
    reader.finish();
    let (from, to, group) = (from?, to?, entry.key.clone());
    let name = group.clone();
    let traffic = traffic?;
    let flow = Flow { name, group, from, to, transport, via, traffic, start, stop, deadline, links, tcp };
    Some(multiply(flow, count as u64, spacing.unwrap_or(Duration::ZERO)))
}

/// When the application wants its file. Only schedulers at a sender or receiver of several paths ask.
fn read_deadline(reader: &Reader<'_>, transport: &Transport) -> Option<Duration> {
    let deadline = reader.duration("deadline")?;
    if !transport.spreads_a_stream() {
        let remedy = "leave out deadline, or use a transport that spreads a stream over several paths";
        let found = "found a deadline that no scheduler would see";
        reader.wrong("deadline", found, "one with a scheduler", Some(remedy.to_string()));
    }
    Some(deadline)
}

/// `count` copies, numbered when there are several.
fn multiply(flow: Flow, count: u64, spacing: Duration) -> Vec<Flow> {
    if count == 1 {
        return vec![flow];
    }
    let copy = |number: u64| {
        let start = flow.start + spacing * (number - 1);
        Flow { name: format!("{}-{number}", flow.name), start, ..flow.clone() }
    };
    (1..=count).map(copy).collect()
}
