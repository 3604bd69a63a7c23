//! `[radio.polling]`.
use super::channels::Radios;
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::NodeId;
use prismux_units::Duration;
use prismux_wireless::{AccessRules, Coordination, HostId, MacConfig, PollingConfig, Role};

/// Contention-free periods, if the file has any: the role of each radio, who polls, and whom.
pub(super) fn read(
    reader: &Reader<'_>,
    mac: &mut MacConfig,
    (attached, radios): (&[NodeId], &Radios),
    node_names: &[&str],
) -> Vec<Role> {
    let Some(table) = reader.table("polling", keys::POLLING) else { return Vec::new() };
    let access_point = access_point(&table, attached, node_names);
    let stations = stations(&table, attached, node_names);
    let channel = table.integer("channel", 1..=255).map(|channel| channel as u8);
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
    let channel = channel.unwrap_or_else(|| radios.channel(access_point));
    let Some(polls) = radios.on(access_point, channel) else {
        let found = format!("the access point has no radio on channel {channel}");
        table.wrong("channel", found, "a channel of its radios ([radio.channels])", None);
        return Vec::new();
    };
    let on_channel = |place: usize| radios.on(place, channel);
    let others =
        || (0..attached.len()).filter(|place| *place != access_point && on_channel(*place).is_some());
    let list: Vec<usize> = stations.unwrap_or_else(|| others().collect());
    if list.contains(&access_point) {
        table.wrong("stations", "found the access point among them", "other hosts on the air", None);
    }
    let numbers: Option<Vec<HostId>> =
        list.into_iter().map(|place| Some(HostId(on_channel(place)? as u32))).collect();
    let Some(numbers) = numbers else {
        let found =
            format!("found a host without a radio on channel {channel}, where the access point polls");
        let remedy = format!("leave it out, or give it one: [radio.channels] with HOST = [{channel}, 6]");
        table.wrong("stations", found, "hosts on that channel", Some(remedy));
        return Vec::new();
    };
    let role = |radio| if radio == polls { Role::AccessPoint(numbers.clone()) } else { Role::Station };
    (0..radios.all_channels().count()).map(role).collect()
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
