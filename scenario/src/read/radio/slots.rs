//! `[radio.slots]`.
use super::channels::Radios;
use super::mac::Access;
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::NodeId;
use prismux_units::Duration;
use prismux_wireless::{Coordination, Role, SlotConfig};

/// The timetable, if the file has one: the role of each radio, who owns which slots.
pub(super) fn read(
    reader: &Reader<'_>,
    access: &mut Access,
    (attached, radios): (&[NodeId], &Radios),
    node_names: &[&str],
) -> Vec<Role> {
    let Some(table) = reader.table("slots", keys::SLOTS) else { return Vec::new() };
    let owners = owners(&table, attached, node_names);
    let channel = table.integer("channel", 1..=255).map(|channel| channel as u8);
    let slot = table.duration("slot");
    let guard = table.duration("guard").unwrap_or(Duration::from_micros(10));
    if slot.is_none() && table.entry("slot").is_none() {
        table.missing("slot", "how long a slot is", "for instance slot = \"10 ms\"".into());
    }
    table.finish();
    let (Some(owners), Some(slot)) = (owners, slot) else { return Vec::new() };
    if guard.is_zero() || guard >= slot {
        let found = format!("found a guard time of {guard} in a slot of {slot}");
        table.wrong("slot", found, "a slot that is longer than its guard time, which is above 0", None);
        return Vec::new();
    }
    let sends_on = |host: &usize| channel.unwrap_or_else(|| radios.channel(*host));
    let channels: Vec<u8> = owners.iter().map(sends_on).collect();
    let slots = Coordination::Slots(SlotConfig { slots: owners.len() as u32, slot, guard });
    if let Some((_, fault)) = access.coordinate(&channels, slots) {
        reader.wrong("slots", fault.to_string(), "settings that go together", None);
    }
    let sends_by = |host: usize| match channel {
        Some(channel) => radios.on(host, channel),
        None => Some(host),
    };
    let Some(owners) = owners.iter().map(|host| sends_by(*host)).collect::<Option<Vec<usize>>>() else {
        let channel = channel.unwrap_or(1);
        let found = format!("found an owner without a radio on channel {channel}, where the slots are");
        let remedy = format!("give it one: [radio.channels] with HOST = [{channel}, 6]");
        table.wrong("owners", found, "hosts on that channel", Some(remedy));
        return Vec::new();
    };
    let channels: Vec<u8> = radios.all_channels().collect();
    let in_slots = |channel: u8| owners.iter().any(|owner| channels[*owner] == channel);
    let slots_of = |radio: usize| {
        let owned = (0..).zip(&owners).filter(|(_, owner)| **owner == radio);
        owned.map(|(number, _)| number).collect()
    };
    let role = |(radio, channel): (usize, &u8)| match in_slots(*channel) {
        true => Role::SlotOwner(slots_of(radio)),
        false => Role::Station,
    };
    channels.iter().enumerate().map(role).collect()
}

/// The owner of each slot, by its place among those on the air.
fn owners(table: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<Vec<usize>> {
    let Some(entry) = table.entry("owners") else {
        table.missing("owners", "the owner of each slot", "for instance owners = [\"a\", \"b\"]".into());
        return None;
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong("owners", found, "a list of nodes", Some("for instance owners = [\"a\", \"b\"]".into()));
        return None;
    };
    let host = |item| table.reference_item("owners", item, "nodes", node_names);
    let owners: Vec<usize> = items.iter().map(host).collect::<Option<_>>()?;
    let place = |owner: &usize| attached.iter().position(|host| host.index() == *owner);
    let places: Option<Vec<usize>> = owners.iter().map(place).collect();
    let places = places.filter(|places| !places.is_empty());
    if places.is_none() {
        let found = "found no host, or one that is not on the air";
        table.wrong("owners", found, "hosts on the air, at least one", None);
    }
    places
}
