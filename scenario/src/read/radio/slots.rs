//! `[radio.slots]`.
use crate::document::Value;
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::NodeId;
use prismux_units::Duration;
use prismux_wireless::{Coordination, MacConfig, Role, SlotConfig};

/// The timetable, if the file has one: who owns which slots.
pub(super) fn read(
    reader: &Reader<'_>,
    mac: &mut MacConfig,
    attached: &[NodeId],
    node_names: &[&str],
) -> Vec<Role> {
    let Some(table) = reader.table("slots", keys::SLOTS) else { return Vec::new() };
    let owners = owners(&table, attached, node_names);
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
    mac.coordination = Coordination::Slots(SlotConfig { slots: owners.len() as u32, slot, guard });
    if let Some(fault) = mac.fault() {
        reader.wrong("slots", fault.to_string(), "settings that go together", None);
    }
    let slots_of = |host: &NodeId| {
        let owned = (0..).zip(&owners).filter(|(_, owner)| *owner == host);
        owned.map(|(number, _)| number).collect()
    };
    attached.iter().map(|host| Role::SlotOwner(slots_of(host))).collect()
}

/// The owner of each slot.
fn owners(table: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<Vec<NodeId>> {
    let Some(entry) = table.entry("owners") else {
        table.missing("owners", "the owner of each slot", "for instance owners = [\"a\", \"b\"]".into());
        return None;
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong("owners", found, "a list of nodes", Some("for instance owners = [\"a\", \"b\"]".into()));
        return None;
    };
    let host = |item| table.reference_item("owners", item, "nodes", node_names).map(NodeId::new);
    let owners: Vec<NodeId> = items.iter().map(host).collect::<Option<_>>()?;
    if owners.is_empty() || owners.iter().any(|owner| !attached.contains(owner)) {
        let found = "found no host, or one that is not on the air";
        table.wrong("owners", found, "hosts on the air, at least one", None);
        return None;
    }
    Some(owners)
}
