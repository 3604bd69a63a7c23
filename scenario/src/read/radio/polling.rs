//! `[radio.polling]`.
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::NodeId;
use prismux_units::Duration;
use prismux_wireless::{AccessRules, Coordination, HostId, MacConfig, PollingConfig, Role};

/// Contention-free periods, if the file has any: who polls, and whom.
pub(super) fn read(
    reader: &Reader<'_>,
    mac: &mut MacConfig,
    attached: &[NodeId],
    node_names: &[&str],
) -> Vec<Role> {
    let Some(table) = reader.table("polling", keys::POLLING) else { return Vec::new() };
    let access_point = access_point(&table, attached, node_names);
    let stations = stations(&table, attached, node_names);
    let period = table.duration("period").unwrap_or(Duration::from_millis(100));
    let max_duration = table.duration("max_duration").unwrap_or(Duration::from_millis(50));
    table.finish();
    if mac.coordination != Coordination::Distributed {
        reader.wrong("polling", "found [radio.slots] too", "slots or polling, not both", None);
        return Vec::new();
    }
    mac.coordination = Coordination::Polling(PollingConfig { period, max_duration });
    if let Some(fault) = mac.fault() {
        let remedy =
            (mac.rules == AccessRules::Ns2).then(|| "for instance medium_access = \"802.11b\"".to_string());
        reader.wrong("polling", fault.to_string(), "settings that go together", remedy);
        return Vec::new();
    }
    let Some(access_point) = access_point else { return Vec::new() };
    let others = || (0..attached.len()).filter(|index| *index != access_point).collect();
    let list: Vec<usize> = stations.unwrap_or_else(others);
    if list.contains(&access_point) {
        table.wrong("stations", "found the access point among them", "other hosts on the air", None);
    }
    let list: Vec<HostId> = list.into_iter().map(|index| HostId(index as u32)).collect();
    let role = |index| if index == access_point { Role::AccessPoint(list.clone()) } else { Role::Station };
    (0..attached.len()).map(role).collect()
}

/// Where among the hosts on the air the access point is.
fn access_point(table: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<usize> {
    let Some(entry) = table.entry("access_point") else {
        table.missing("access_point", "the host that polls", "for instance access_point = \"base\"".into());
        return None;
    };
    let node = table.reference_item("access_point", &entry.item, "nodes", node_names)?;
    let place = attached.iter().position(|host| host.index() == node);
    if place.is_none() {
        table.wrong("access_point", "found a host that is not on the air", "one that is", None);
    }
    place
}

/// Where the stations are that are polled, in order.
fn stations(table: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<Vec<usize>> {
    let entry = table.entry("stations")?;
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong(
            "stations",
            found,
            "a list of nodes",
            Some("for instance stations = [\"a\", \"b\"]".into()),
        );
        return None;
    };
    let node = |item| table.reference_item("stations", item, "nodes", node_names);
    let nodes: Vec<usize> = items.iter().map(node).collect::<Option<_>>()?;
    let place = |node: &usize| attached.iter().position(|host| host.index() == *node);
    let places: Option<Vec<usize>> = nodes.iter().map(place).collect();
    if places.is_none() {
        table.wrong("stations", "found a host that is not on the air", "hosts on the air", None);
    }
    places
}
