//! `[links]`.

use super::reader::{Problems, Reader, percent_remedy, probability_of};
use super::{entry_table, queues};
use crate::document::{Entry, Value};
use crate::keys;
use crate::registry;
use prismux_link::{DeliveryTrace, GilbertElliott, Jitter, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Link, LinkDirection, Node, NodeId, NodeKind};
use prismux_units::Probability;
use std::path::Path;
use std::sync::Arc;

/// Reads the links; one whose ends are unknown is reported and left out.
pub(super) fn read(
    entries: &[Entry],
    node_names: &[&str],
    nodes: &[Node],
    folder: Option<&Path>,
    problems: &Problems<'_>,
) -> Vec<Link> {
    entries.iter().filter_map(|entry| read_link(entry, node_names, nodes, folder, problems)).collect()
}

fn read_link(
    entry: &Entry,
    node_names: &[&str],
    nodes: &[Node],
    folder: Option<&Path>,
    problems: &Problems<'_>,
) -> Option<Link> {
    let table = entry_table(entry, "links", problems)?;
    let path = format!("links.{}", entry.key);
    let reader = Reader::new(table, path, &entry.key_place, keys::LINK, problems);
    let ends = between(&reader, node_names);
    let both = direction(&reader, &standard_direction(), folder);
    let side = |key| match reader.table(key, keys::DIRECTION) {
        Some(side) => {
            let direction = direction(&side, &both, folder);
            side.finish();
            direction
        }
        None => both.clone(),
    };
    let (mut forward, mut reverse) = (side("forward"), side("reverse"));
    // "1 bdp" is rate times round trip, whichever way the delay is split.
    let round_trip = forward.link.delay + reverse.link.delay;
    forward.link.bdp_round_trip = Some(round_trip);
    reverse.link.bdp_round_trip = Some(round_trip);
    let advertised_rate = reader.rate("advertised_rate");
    let shared = reader.boolean("shared");
    reader.finish();
    let ends = ends?;
    let kinds = ends.map(|end| nodes[end.index()].kind());
    let community =
        matches!(kinds, [NodeKind::PrismProxy, NodeKind::Member] | [NodeKind::Member, NodeKind::PrismProxy]);
    Some(Link {
        name: entry.key.clone(),
        ends,
        forward,
        reverse,
        shared: shared.unwrap_or(community),
        advertised_rate,
    })
}

fn between(reader: &Reader<'_>, node_names: &[&str]) -> Option<[NodeId; 2]> {
    let example = "for instance between = [\"proxy\", \"m1\"]";
    let Some(entry) = reader.entry("between") else {
        reader.missing("between", "the two nodes that the link joins", example.to_string());
        return None;
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong("between", found, "a list of two nodes", Some(example.to_string()));
        return None;
    };
    let [first, second] = &items[..] else {
        let found = format!("found a list of {}", items.len());
        reader.wrong("between", found, "a list of two nodes", Some(example.to_string()));
        return None;
    };
    let first = reader.reference_item("between", first, "nodes", node_names);
    let second = reader.reference_item("between", second, "nodes", node_names);
    let ends = [first?, second?].map(NodeId::new);
    if ends[0] == ends[1] {
        let found = format!("both ends are \"{}\"", node_names[ends[0].index()]);
        reader.wrong("between", found, "two different nodes", None);
        return None;
    }
    Some(ends)
}

/// One direction, with `base` for what is not said.
fn direction(reader: &Reader<'_>, base: &LinkDirection, folder: Option<&Path>) -> LinkDirection {
    let rate = reader.rate("rate");
    if rate.is_some_and(|rate| rate.as_bps() == 0) {
        let remedy = "for a link that does not work, write up = false".to_string();
        reader.wrong("rate", "found a rate of zero", "a rate above zero", Some(remedy));
    }
    let trace = trace(reader, folder);
    if rate.is_some() && trace.is_some() {
        let remedy = "keep one of the two".to_string();
        reader.wrong("trace", "found both a rate and a trace", "either a rate or a trace", Some(remedy));
    }
    let mut direction = base.clone();
    let link = &mut direction.link;
    if rate.is_some() {
        (link.rate, link.trace) = (rate, None);
    }
    if trace.is_some() {
        (link.rate, link.trace) = (None, trace);
    }
    link.delay = reader.duration("delay").unwrap_or(link.delay);
    link.jitter = Jitter {
        max: reader.duration("jitter").unwrap_or(link.jitter.max),
        in_order: reader.boolean("reorder").map_or(link.jitter.in_order, |reorder| !reorder),
    };
    if let Some((limit, management)) = queues::read(reader) {
        (link.queue, link.management) = (limit, management.map(Box::new));
    }
    link.loss = loss(reader).unwrap_or(link.loss);
    link.duplicate = reader.probability("duplicate").unwrap_or(link.duplicate);
    link.corrupt = reader.probability("corrupt").unwrap_or(link.corrupt);
    link.outage = reader.name("outage", registry::OUTAGES).unwrap_or(link.outage);
    direction.up = reader.boolean("up").unwrap_or(direction.up);
    // A rate or a trace that cannot be read was complained of already.
    let unlimited = direction.link.mean_rate().is_none()
        && !["rate", "trace"].iter().any(|key| reader.table.get(key).is_some());
    if unlimited && matches!(direction.link.queue, QueueLimit::Bdp(_)) && reader.table.get("queue").is_some()
    {
        let remedy = "give the link a rate, or the queue in packets or bytes".to_string();
        let found = "found a queue in bdp on a link without a rate";
        reader.wrong("queue", found, "a rate to multiply with the delay", Some(remedy));
    }
    direction
}

/// A wire that is perfect but for its queue of 50 packets.
fn standard_direction() -> LinkDirection {
    let jitter = Jitter { in_order: true, ..Jitter::default() };
    LinkDirection::from(LinkConfig { jitter, ..LinkConfig::default() })
}

/// `0.001`, `"0.1 %"` or a Gilbert-Elliott table.
pub(super) fn loss(reader: &Reader<'_>) -> Option<LossModel> {
    let entry = reader.entry("loss")?;
    if let Value::Table(_) = &entry.item.value {
        let table = reader.table("loss", keys::GILBERT_ELLIOTT)?;
        let required = |key: &'static str| {
            if table.entry(key).is_none() {
                table.missing(key, "a probability", format!("for instance {key} = 0.01"));
            }
            table.probability(key)
        };
        let (good_to_bad, bad_to_good) = (required("good_to_bad"), required("bad_to_good"));
        let loss_good = table.probability("loss_good").unwrap_or(Probability::ZERO);
        let loss_bad = table.probability("loss_bad").or(Probability::new(1.0));
        table.finish();
        return Some(LossModel::GilbertElliott(GilbertElliott {
            good_to_bad: good_to_bad?,
            bad_to_good: bad_to_good?,
            loss_good,
            loss_bad: loss_bad?,
        }));
    }
    let probability = probability_of(&entry.item.value);
    if probability.is_none() {
        let found = format!("found {}", entry.item.value.describe());
        let expected = "a probability such as 0.006 or \"0.6 %\" (between 0 and 1), or a table { good_to_bad, \
            bad_to_good }";
        reader.wrong("loss", found, expected, percent_remedy(&entry.item.value));
    }
    let probability = probability?;
    Some(if probability == Probability::ZERO { LossModel::None } else { LossModel::Bernoulli(probability) })
}

/// Reads a Mahimahi trace: one millisecond per line, not decreasing.
fn trace(reader: &Reader<'_>, folder: Option<&Path>) -> Option<Arc<DeliveryTrace>> {
    let text = reader.text("trace")?;
    let path = folder.unwrap_or(Path::new("")).join(text);
    let expected = "a file with one delivery opportunity per line, in milliseconds, not decreasing";
    let content = match std::fs::read_to_string(&path) {
        Ok(content) => content,
        Err(error) => {
            let remedy = format!("the path is relative to the scenario file; looked at {}", path.display());
            reader.wrong("trace", format!("cannot read \"{text}\": {error}"), expected, Some(remedy));
            return None;
        }
    };
    match DeliveryTrace::parse(&content) {
        Ok(trace) => Some(Arc::new(trace)),
        Err(error) => {
            reader.wrong("trace", format!("\"{text}\": {error}"), expected, None);
            None
        }
    }
}
