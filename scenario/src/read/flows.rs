//! `[flows]`.

use super::reader::{Problems, Reader};
use super::{entry_table, pipes};
use crate::document::{Entry, Value};
use crate::keys;
use crate::model::{Flow, PtcpSettings, R2cpSettings, StripingSettings, TcpSettings, Traffic};
use crate::registry::{self, Pattern, Transport};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration};

/// What one entry of `[flows]` became.
pub(super) struct ReadFlow {
    /// Name in the file.
    pub name: String,
    /// One flow, or as many as `count` says; none if unreadable.
    pub flows: Vec<Flow>,
}

/// Reads the flows.
pub(super) fn read(
    entries: &[Entry],
    node_names: &[&str],
    link_names: &[&str],
    problems: &Problems<'_>,
) -> Vec<ReadFlow> {
    let read = |entry: &Entry| ReadFlow {
        name: entry.key.clone(),
        flows: read_flow(entry, node_names, link_names, problems).unwrap_or_default(),
    };
    entries.iter().map(read).collect()
}

fn read_flow(
    entry: &Entry,
    node_names: &[&str],
    link_names: &[&str],
    problems: &Problems<'_>,
) -> Option<Vec<Flow>> {
    let table = entry_table(entry, "flows", problems)?;
    let reader = Reader::new(table, format!("flows.{}", entry.key), &entry.key_place, keys::FLOW, problems);
    let from = end(&reader, "from", node_names);
    let to = end(&reader, "to", node_names);
    let transport = reader.name("transport", registry::TRANSPORTS).unwrap_or(Transport::Tcp);
    let pattern = pattern(&reader, transport);
    let traffic = traffic(&reader, pattern);
    let via = reader.reference("via", "nodes", node_names);
    let start = reader.duration("start").unwrap_or(Duration::ZERO);
    let stop = reader.duration("stop");
    if let Some(stop) = stop.filter(|stop| *stop <= start) {
        let found = format!("the flow stops at {stop} but starts at {start}");
        reader.wrong("stop", found, "a stop after the start", None);
    }
    let count = reader.integer("count", 1..=100_000).unwrap_or(1);
    let spacing = if table.get("count").is_some() { reader.duration("spacing") } else { None };
    let links = link_list(&reader, "links", link_names);
    let tcp = tcp(&reader, transport);
    let ptcp = if transport == Transport::Ptcp { ptcp(&reader) } else { PtcpSettings::default() };
    let striping = match transport {
        Transport::StripingUnaware | Transport::StripingSmart => striping(&reader, link_names),
        _ => StripingSettings::default(),
    };
    let r2cp = match transport {
        Transport::R2cp => pipes::read(&reader, node_names, link_names, from, start),
        _ => R2cpSettings::default(),
    };
    reader.finish();
    let (from, to) = (from?, to?);
    if from == to {
        reader.wrong(
            "to",
            format!("the flow goes from \"{0}\" to \"{0}\"", node_names[to]),
            "two different nodes",
            None,
        );
        return None;
    }
    let name = entry.key.clone();
    let flow = Flow {
        entry: name.clone(),
        name,
        from,
        to,
        transport,
        via,
        traffic: traffic?,
        start,
        stop,
        links,
        tcp,
        ptcp,
        striping,
        r2cp,
    };
    Some(multiply(flow, count as u64, spacing.unwrap_or(Duration::ZERO)))
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

fn end(reader: &Reader<'_>, key: &'static str, node_names: &[&str]) -> Option<usize> {
    if reader.entry(key).is_none() {
        reader.missing(
            key,
            "the name of a node",
            format!("for instance {key} = \"{}\"", node_names.first().unwrap_or(&"server")),
        );
        return None;
    }
    reader.reference(key, "nodes", node_names)
}

fn pattern(reader: &Reader<'_>, transport: Transport) -> Pattern {
    let standard = if transport == Transport::Udp { Pattern::Cbr } else { Pattern::Bulk };
    let pattern = reader.name("pattern", registry::PATTERNS).unwrap_or(standard);
    let possible: &[Pattern] = match transport {
        Transport::Tcp => &[Pattern::Bulk, Pattern::RequestResponse],
        Transport::TcpPrism | Transport::TcpHo | Transport::TcpEln | Transport::Mptcp => &[Pattern::Bulk],
        Transport::Rcp | Transport::RcpEln | Transport::R2cp => &[Pattern::Bulk],
        Transport::Ptcp | Transport::StripingUnaware | Transport::StripingSmart => &[Pattern::Bulk],
        Transport::Udp => &[Pattern::Cbr, Pattern::ParetoOnOff],
    };
    if !possible.contains(&pattern) {
        let name = registry::name_of(registry::PATTERNS, &pattern);
        let transport = registry::name_of(registry::TRANSPORTS, &transport);
        let names: Vec<&str> = possible.iter().map(|p| registry::name_of(registry::PATTERNS, p)).collect();
        let expected = format!("with transport \"{transport}\": {}", crate::diagnostic::list_of(&names));
        let remedy = "cbr and pareto need transport = \"udp\"; the others need a TCP".to_string();
        reader.wrong("pattern", format!("found \"{name}\""), expected, Some(remedy));
        return standard;
    }
    pattern
}

fn traffic(reader: &Reader<'_>, pattern: Pattern) -> Option<Traffic> {
    let needs = |key: &'static str, example: &str| {
        if reader.entry(key).is_none() {
            let pattern = registry::name_of(registry::PATTERNS, &pattern);
            reader.missing(
                key,
                &format!("pattern \"{pattern}\" needs it"),
                format!("for instance {key} = \"{example}\""),
            );
        }
    };
    match pattern {
        Pattern::Bulk => {
            let bytes = reader.bytes("bytes");
            if bytes == Some(ByteCount::ZERO) {
                reader.wrong(
                    "bytes",
                    "found an empty file",
                    "at least 1 B",
                    Some("leave the key out for data until the end".to_string()),
                );
            }
            Some(Traffic::Bulk { bytes })
        }
        Pattern::RequestResponse => {
            needs("response", "20 kB");
            let request = reader.bytes("request").unwrap_or(ByteCount::new(300));
            let think = reader.duration("think").unwrap_or(Duration::ZERO);
            Some(Traffic::RequestResponse { request, response: reader.bytes("response")?, think })
        }
        Pattern::Cbr => {
            needs("rate", "400 kbit/s");
            let packet = packet(reader);
            Some(Traffic::Cbr { rate: reader.rate("rate")?, packet })
        }
        Pattern::ParetoOnOff => {
            needs("rate", "400 kbit/s");
            needs("on", "1 s");
            needs("off", "1 s");
            let packet = packet(reader);
            let shape = reader.number("shape", 1.000_001..=100.0).unwrap_or(1.5);
            let (rate, on, off) = (reader.rate("rate"), reader.duration("on"), reader.duration("off"));
            Some(Traffic::ParetoOnOff { rate: rate?, packet, on: on?, off: off?, shape })
        }
    }
}

/// Size of a datagram with its IP and UDP headers.
fn packet(reader: &Reader<'_>) -> ByteCount {
    let packet = reader.bytes("packet").unwrap_or(ByteCount::new(1000));
    if !(29..=1500).contains(&packet.as_u64()) {
        reader.wrong("packet", format!("found {packet}"), "between 29 B (28 of headers) and 1500 B", None);
    }
    packet
}

/// A list of links; that they end where the flow does is checked with the whole.
fn link_list(reader: &Reader<'_>, key: &'static str, link_names: &[&str]) -> Vec<usize> {
    let Some(entry) = reader.entry(key) else { return Vec::new() };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        let example = link_names.first().unwrap_or(&"wwan");
        reader.wrong(key, found, "a list of links", Some(format!("for instance {key} = [\"{example}\"]")));
        return Vec::new();
    };
    items.iter().filter_map(|item| reader.reference_item(key, item, "links", link_names)).collect()
}

fn ptcp(reader: &Reader<'_>) -> PtcpSettings {
    let standard = PtcpSettings::default();
    let Some(table) = reader.table("ptcp", keys::PTCP) else { return standard };
    let settings = PtcpSettings {
        reassignment: table.name("reassignment", registry::REASSIGNMENT).unwrap_or(standard.reassignment),
        redundant: table.boolean("redundant").unwrap_or(standard.redundant),
        opportunistic_retransmission: table
            .boolean("opportunistic_retransmission")
            .unwrap_or(standard.opportunistic_retransmission),
        resume_order: table.name("resume_order", registry::RESUME_ORDER).unwrap_or(standard.resume_order),
        coupled: table.boolean("coupled").unwrap_or(standard.coupled),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
    };
    table.finish();
    settings
}

fn striping(reader: &Reader<'_>, link_names: &[&str]) -> StripingSettings {
    let standard = StripingSettings::default();
    let Some(table) = reader.table("striping", keys::STRIPING) else { return standard };
    let settings = StripingSettings {
        buffer: table.bytes("buffer").unwrap_or(standard.buffer),
        estimate_every: table.duration("estimate_every").filter(|every| *every > Duration::ZERO),
        wide_links: link_list(&table, "wide_links", link_names),
        wide_window: table.bytes("wide_window"),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
    };
    table.finish();
    settings
}

fn tcp(reader: &Reader<'_>, transport: Transport) -> TcpSettings {
    let mut settings = TcpSettings::profile(TcpProfile::Modern);
    if transport == Transport::Udp {
        return settings;
    }
    settings.profile = reader.name("profile", registry::PROFILES).unwrap_or(TcpProfile::Modern);
    settings.congestion = reader.name("congestion", registry::CONGESTION);
    let Some(tcp) = reader.table("tcp", keys::TCP) else { return settings };
    settings.mss = tcp.bytes("mss").and_then(|mss| {
        let fits = (88..=9000).contains(&mss.as_u64());
        if !fits {
            tcp.wrong("mss", format!("found {mss}"), "between 88 B and 9 kB", None);
        }
        fits.then_some(mss.as_u64() as u16)
    });
    settings.window = tcp.bytes("window");
    settings.initial_window = tcp.integer("initial_window", 1..=1000).map(|n| n as u32);
    settings.hystart = tcp.name("hystart", registry::HYSTART);
    settings.sack = tcp.boolean("sack");
    settings.timestamps = tcp.boolean("timestamps");
    settings.delayed_ack = tcp.duration("delayed_ack");
    settings.min_rto = tcp.duration("min_rto");
    settings.max_rto = tcp.duration("max_rto");
    settings.clock_granularity = tcp.duration("clock_granularity");
    settings.dup_threshold = tcp.integer("dup_threshold", 1..=1000).map(|n| n as u32);
    settings.rack = tcp.boolean("rack");
    settings.tlp = tcp.boolean("tlp");
    settings.undo = tcp.boolean("undo");
    settings.nagle = tcp.boolean("nagle");
    settings.ecn = tcp.boolean("ecn");
    settings.min_persist = tcp.duration("min_persist");
    tcp.finish();
    settings
}
