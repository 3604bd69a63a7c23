//! `[nodes]`.

use super::entry_table;
use super::reader::{Problems, Reader};
use crate::document::{Entry, Value};
use crate::keys;
use crate::registry;
use prismux_plan::{MemberSettings, Node, NodeId, NodeKind, ProxySettings, Role};

/// Most nodes that one entry makes.
const MAX_COUNT: i64 = 100_000;

/// The names of all nodes, in order: an entry with a `count` makes several.
pub(super) fn names(entries: &[Entry]) -> Vec<String> {
    let names = |entry: &Entry| -> Vec<String> {
        let count = match &entry.item.value {
            Value::Table(table) => match table.get("count").map(|entry| &entry.item.value) {
                Some(Value::Integer(count)) if (2..=MAX_COUNT).contains(count) => *count,
                _ => 1,
            },
            _ => 1,
        };
        match count {
            1 => vec![entry.key.clone()],
            count => (1..=count).map(|number| format!("{}-{number}", entry.key)).collect(),
        }
    };
    entries.iter().flat_map(names).collect()
}

/// Reads the nodes; an unreadable one stays in the list as a host, so that references to it still resolve.
pub(super) fn read(entries: &[Entry], node_names: &[&str], problems: &Problems<'_>) -> Vec<Node> {
    let nodes = |entry: &Entry| -> Vec<Node> {
        let role = read_role(entry, node_names, problems).unwrap_or(Role::Host);
        let named = |name| Node { name, role: role.clone() };
        names(std::slice::from_ref(entry)).into_iter().map(named).collect()
    };
    entries.iter().flat_map(nodes).collect()
}

fn read_role(entry: &Entry, node_names: &[&str], problems: &Problems<'_>) -> Option<Role> {
    let table = entry_table(entry, "nodes", problems)?;
    let path = format!("nodes.{}", entry.key);
    let first = Reader::new(table, path.clone(), &entry.key_place, keys::NODE, problems);
    if table.get("kind").is_none() {
        let remedy = format!("for instance {} = {{ kind = \"host\" }}", entry.key);
        first.missing("kind", "host, router, prism-proxy or member", remedy);
        return None;
    }
    let kind = first.name("kind", registry::NODE_KINDS)?;
    let keys = match kind {
        NodeKind::Host | NodeKind::Router => keys::NODE,
        NodeKind::Member => keys::MEMBER,
        NodeKind::PrismProxy => keys::PRISM_PROXY,
    };
    let reader = Reader::new(table, path, &entry.key_place, keys, problems);
    reader.entry("kind");
    if matches!(kind, NodeKind::Host | NodeKind::Router) {
        reader.integer("count", 1..=MAX_COUNT);
    }
    let role = match kind {
        NodeKind::Host => Role::Host,
        NodeKind::Router => Role::Router,
        NodeKind::Member => {
            let standard = MemberSettings::default();
            Role::Member(MemberSettings { present: reader.boolean("present").unwrap_or(standard.present) })
        }
        NodeKind::PrismProxy => Role::PrismProxy(Box::new(proxy(&reader, node_names))),
    };
    reader.finish();
    Some(role)
}

/// The settings of a proxy: the profile, then key by key.
fn proxy(reader: &Reader<'_>, node_names: &[&str]) -> ProxySettings {
    let mut config = reader.name("profile", registry::PROXY_PROFILES).unwrap_or_default().config();
    put(&mut config.scheduler, reader.name("scheduler", registry::SCHEDULERS));
    put(&mut config.rpc, reader.name("rpc", registry::REVERSE_PATH));
    put(&mut config.weight_unit, reader.name("weight_unit", registry::WEIGHT_UNITS));
    put(&mut config.weight_floor, reader.number("weight_floor", 0.001..=1000.0));
    put(&mut config.link_state, reader.name("link_state", registry::LINK_STATES));
    put(&mut config.rtt_gain, reader.number("rtt_gain", 0.001..=1.0));
    put(&mut config.rtt_ageing, reader.boolean("rtt_ageing"));
    put(&mut config.link_dupthresh, reader.integer("link_dupthresh", 1..=255).map(|n| n as u8));
    put(&mut config.tail_factor, reader.number("tail_factor", 0.0..=1000.0));
    put(&mut config.hold_max_rtts, reader.number("hold_max_rtts", 0.0..=1000.0));
    put(&mut config.hold_max_rto_share, reader.number("hold_max_rto_share", 0.0..=1000.0));
    put(&mut config.loss_reports, reader.boolean("loss_reports"));
    put(&mut config.report_repeat, reader.integer("report_repeat", 1..=255).map(|n| n as u8));
    put(&mut config.mss_clamp, mss_clamp(reader));
    put(&mut config.flow_idle, reader.duration("flow_idle"));
    put(&mut config.max_flows, reader.integer("max_flows", 1..=10_000_000).map(|n| n as u32));
    put(
        &mut config.max_packets_per_flow,
        reader.integer("max_packets_per_flow", 16..=10_000_000).map(|n| n as u32),
    );
    put(&mut config.learn_rates, reader.boolean("learn_rates"));
    put(&mut config.window_control, reader.boolean("window_control"));
    put(
        &mut config.repair_budget_packets,
        reader.integer("repair_budget_packets", 0..=10_000_000).map(|n| n as u32),
    );
    put(&mut config.standby, reader.boolean("standby"));
    for (key, on) in [("window_control", config.window_control), ("standby", config.standby)] {
        if on && !config.learn_rates && reader.table.get("learn_rates").is_some() {
            let remedy = format!("write {key} = false as well, or leave learn_rates on");
            reader.wrong(
                "learn_rates",
                format!("found learn_rates = false with {key} on"),
                format!("{key} needs learned rates"),
                Some(remedy),
            );
        }
    }
    if config.link_state_contradicts() {
        reader.wrong(
            "link_state",
            "found link_state = \"flow\" where rates are learned".to_owned(),
            "\"community\": what is learned of a link is of all flows",
            Some("write profile = \"paper\", or learn_rates = false".to_owned()),
        );
    }
    let tunnel = reader.name("tunnel", registry::TUNNELS).unwrap_or_default();
    let receipts = reader.boolean("receipts").unwrap_or_default();
    let fec = reader.boolean("fec").unwrap_or_default();
    if fec && !receipts {
        reader.wrong(
            "fec",
            "found fec = true without receipts".to_owned(),
            "repairs are of packets that receipts number",
            Some("write receipts = true as well".to_owned()),
        );
    }
    ProxySettings { config, tunnel, receipts, fec, members: member_list(reader, node_names) }
}

/// Replaces `setting` by what the file says, if it says anything.
fn put<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

fn mss_clamp(reader: &Reader<'_>) -> Option<Option<u16>> {
    let clamp = reader.bytes("mss_clamp")?.as_u64();
    if clamp != 0 && !(88..=9000).contains(&clamp) {
        reader.wrong(
            "mss_clamp",
            format!("found {clamp} B"),
            "between 88 B and 9 kB, or \"0 B\" for no clamp",
            None,
        );
    }
    Some(u16::try_from(clamp).ok().filter(|clamp| *clamp != 0))
}

/// The members a proxy names; that they are members is checked with the whole.
fn member_list(reader: &Reader<'_>, node_names: &[&str]) -> Option<Vec<NodeId>> {
    let entry = reader.entry("members")?;
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong(
            "members",
            found,
            "a list of members",
            Some("for instance members = [\"m1\"]".to_string()),
        );
        return None;
    };
    if items.is_empty() {
        let remedy = "leave the key out to use all members that a link joins to the proxy".to_string();
        reader.wrong("members", "found an empty list", "at least one member", Some(remedy));
    }
    let member = |item| reader.reference_item("members", item, "nodes", node_names).map(NodeId::new);
    Some(items.iter().filter_map(member).collect())
}
