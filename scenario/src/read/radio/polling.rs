//! `[radio.polling]`.
use super::channels::Radios;
use super::mac::Access;
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::NodeId;
use prismux_units::Duration;
use prismux_wireless::{AccessRules, Coordination, HostId, PollingConfig, Role};

/// Contention-free periods, if the file has any: the role of each radio, who polls, and whom.
pub(super) fn read(
    reader: &Reader<'_>,
    access: &mut Access,
    (attached, radios): (&[NodeId], &Radios),
    node_names: &[&str],
) -> Vec<Role> {
    let Some(table) = reader.table("polling", keys::POLLING) else { return Vec::new() };
    let access_points = access_points(&table, attached, node_names);
    let stations = stations(&table, attached, node_names);
    let channel = table.integer("channel", 1..=255).map(|channel| channel as u8);
    let period = table.duration("period").unwrap_or(Duration::from_millis(100));
    let max_duration = table.duration("max_duration").unwrap_or(Duration::from_millis(50));
    table.finish();
    if !access.contends() {
        reader.wrong("polling", "found [radio.slots] too", "slots or polling, not both", None);
        return Vec::new();
    }
    let polls_on = |place: &usize| channel.unwrap_or_else(|| radios.channel(*place));
    let channels: Vec<u8> = access_points.iter().flatten().map(polls_on).collect();
    let polling = Coordination::Polling(PollingConfig { period, max_duration });
    if let Some((mac, fault)) = access.coordinate(&channels, polling) {
        let remedy =
            (mac.rules == AccessRules::Ns2).then(|| "for instance medium_access = \"802.11b\"".to_string());
        reader.wrong("polling", fault.to_string(), "settings that go together", remedy);
        return Vec::new();
    }
    let Some(access_points) = access_points else { return Vec::new() };
    let cells = Cells { table: &table, radios, hosts: attached.len(), access_points };
    cells.roles(channel, stations).unwrap_or_default()
}

/// Access points, each on a channel of its own.
struct Cells<'a> {
    table: &'a Reader<'a>,
    radios: &'a Radios,
    /// How many hosts are on the air.
    hosts: usize,
    /// By their places.
    access_points: Vec<usize>,
}

impl Cells<'_> {
    /// The role of each radio: `channel` is that of all access points where it is given, `stations` is who is polled.
    fn roles(&self, channel: Option<u8>, stations: Option<Vec<usize>>) -> Option<Vec<Role>> {
        let polls: Vec<(usize, u8)> = self
            .access_points
            .iter()
            .map(|access_point| self.radio_of(*access_point, channel))
            .collect::<Option<_>>()?;
        let channels: Vec<u8> = polls.iter().map(|(_, channel)| *channel).collect();
        if let Some(twice) =
            channels.iter().find(|one| channels.iter().filter(|other| other == one).count() > 1)
        {
            let remedy = "for instance [radio.channels] with lines: west = 1, east = 6".to_string();
            let found = format!("two of them poll on channel {twice}");
            self.table.wrong("access_point", found, "access points on channels of their own", Some(remedy));
            return None;
        }
        let on_any =
            |place: &usize| channels.iter().any(|channel| self.radios.on(*place, *channel).is_some());
        let chosen = |place: &usize| stations.as_ref().is_none_or(|stations| stations.contains(place));
        if self.access_points.iter().any(|place| stations.is_some() && chosen(place)) {
            let expected = "other hosts on the air";
            self.table.wrong("stations", "found the access point among them", expected, None);
        }
        if stations.as_ref().is_some_and(|stations| !stations.iter().all(on_any)) {
            let channels: Vec<String> = channels.iter().map(ToString::to_string).collect();
            let (all, first) = (channels.join(" or "), &channels[0]);
            let found =
                format!("found a host without a radio on channel {all}, where the access point polls");
            let remedy = format!("leave it out, or give it one: [radio.channels] with HOST = [{first}, 6]");
            self.table.wrong("stations", found, "hosts on that channel", Some(remedy));
            return None;
        }
        let mut roles = vec![Role::Station; self.radios.all_channels().count()];
        for ((radio, channel), access_point) in polls.into_iter().zip(&self.access_points) {
            let order = stations.clone().unwrap_or_else(|| (0..self.hosts).collect());
            let others = order.iter().filter(|place| *place != access_point);
            let polled = others.filter_map(|place| self.radios.on(*place, channel));
            roles[radio] = Role::AccessPoint(polled.map(|radio| HostId(radio as u32)).collect());
        }
        Some(roles)
    }

    /// The radio by which an access point polls, and its channel.
    fn radio_of(&self, access_point: usize, channel: Option<u8>) -> Option<(usize, u8)> {
        let channel = channel.unwrap_or_else(|| self.radios.channel(access_point));
        let radio = self.radios.on(access_point, channel);
        if radio.is_none() {
            let found = format!("the access point has no radio on channel {channel}");
            self.table.wrong("channel", found, "a channel of its radios ([radio.channels])", None);
        }
        Some((radio?, channel))
    }
}

/// Where among the hosts on the air the access points are.
fn access_points(table: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<Vec<usize>> {
    let Some(entry) = table.entry("access_point") else {
        table.missing("access_point", "the host that polls", "for instance access_point = \"base\"".into());
        return None;
    };
    let node = |item| table.reference_item("access_point", item, "nodes", node_names);
    let nodes: Vec<usize> = match &entry.item.value {
        Value::List(items) if !items.is_empty() => items.iter().map(node).collect::<Option<_>>()?,
        _ => vec![node(&entry.item)?],
    };
    let place = |node: usize| attached.iter().position(|host| host.index() == node);
    let places: Option<Vec<usize>> = nodes.into_iter().map(place).collect();
    if places.is_none() {
        table.wrong("access_point", "found a host that is not on the air", "one that is", None);
    }
    places
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
