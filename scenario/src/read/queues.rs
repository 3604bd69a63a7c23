//! The queue of a link: a limit, a managed queue by its name, or a table with its parameters.

use super::reader::Reader;
use super::units::unit_remedy;
use crate::document::Value;
use crate::keys;
use crate::registry;
use prismux_link::{CoDel, FqCoDel, Management, Pie, QueueLimit, Red};
use prismux_units::{ByteCount, Duration};
use std::str::FromStr;

/// `"50 packets"`, `"64 kB"`, `"1.5 bdp"`, `"unlimited"`, `"codel"`, or `{ discipline = "codel", ... }`.
pub(super) fn read(reader: &Reader<'_>) -> Option<(QueueLimit, Option<Management>)> {
    if let Value::Table(_) = &reader.entry("queue")?.item.value {
        return table(reader);
    }
    let text = limit_text(reader, "queue")?;
    if let Some(named) = registry::QUEUES.iter().find(|entry| entry.name == text.trim()) {
        return Some((limit_of(&named.value), Some(named.value)));
    }
    limit(reader, "queue", text).map(|limit| (limit, None))
}

/// What may wait at most where nothing is said, as the disciplines' sources have it (RED: a hundred packets).
const fn limit_of(management: &Management) -> QueueLimit {
    match management {
        Management::Red(_) => QueueLimit::Packets(100),
        Management::CoDel(_) | Management::Pie(_) => QueueLimit::Packets(1000),
        Management::FqCoDel(_) => QueueLimit::Packets(10_240),
    }
}

fn limit(reader: &Reader<'_>, key: &'static str, text: &str) -> Option<QueueLimit> {
    let parsed = parse_queue(text);
    if parsed.is_none() {
        let remedy = match text.trim().parse::<u64>() {
            Ok(n) => Some(needs_unit(n)),
            Err(_) => unit_remedy::<ReadLimit>(text),
        };
        reader.wrong(key, format!("found \"{text}\""), expected(key), remedy);
    }
    parsed
}

/// What may stand at `key`.
fn expected(key: &str) -> String {
    let managed: Vec<String> = registry::QUEUES.iter().map(|entry| format!("\"{}\"", entry.name)).collect();
    let limits = "\"50 packets\", \"64 kB\", \"1 bdp\" or \"unlimited\" (at least one packet)";
    match key {
        "queue" => format!("{limits}, or {}", managed.join(", ")),
        _ => limits.to_string(),
    }
}

/// The text at `key`; a bare number is told what it lacks.
fn limit_text<'a>(reader: &Reader<'a>, key: &'static str) -> Option<&'a str> {
    if let Value::Integer(number) = reader.entry(key)?.item.value {
        reader.wrong(key, format!("found the number {number}"), expected(key), Some(needs_unit(number)));
        return None;
    }
    reader.text(key)
}

fn needs_unit(number: impl std::fmt::Display) -> String {
    format!("a number needs its unit: \"{number} packets\" or \"{number} kB\"")
}

/// A limit as text, for advice.
struct ReadLimit;

impl FromStr for ReadLimit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        parse_queue(text).map(|_| Self).ok_or(())
    }
}

fn table(reader: &Reader<'_>) -> Option<(QueueLimit, Option<Management>)> {
    let table = reader.table("queue", keys::QUEUE)?;
    if table.entry("discipline").is_none() {
        table.missing("discipline", "a managed queue", "for instance discipline = \"codel\"".to_string());
    }
    let standard = table.name("discipline", registry::QUEUES);
    let said = limit_text(&table, "limit").and_then(|text| limit(&table, "limit", text));
    let management = standard.map(|standard| parameters(&table, standard));
    table.finish();
    let management = management?;
    Some((said.unwrap_or(limit_of(&management)), Some(management)))
}

/// The parameters of one discipline; those of others are errors.
fn parameters(table: &Reader<'_>, standard: Management) -> Management {
    let ecn = |standard: bool| table.boolean("ecn").unwrap_or(standard);
    let positive = |key: &'static str, standard: Duration| {
        let said = table.duration(key);
        if said == Some(Duration::ZERO) {
            table.wrong(key, "found a time of zero", "a time above zero", None);
        }
        said.filter(|time| !time.is_zero()).unwrap_or(standard)
    };
    let (own, read): (&[&str], Management) = match standard {
        Management::CoDel(codel) => {
            (&["target", "interval"], Management::CoDel(read_codel(codel, positive, ecn)))
        }
        Management::FqCoDel(config) => {
            let quantum = table.bytes("quantum").map(|bytes| bytes.as_u64().clamp(1, 1 << 20) as u32);
            let queues = table.integer("queues", 1..=65_536).map(|queues| queues as u32);
            let config = FqCoDel {
                codel: read_codel(config.codel, positive, ecn),
                quantum_bytes: quantum.unwrap_or(config.quantum_bytes),
                queues: queues.unwrap_or(config.queues),
            };
            (&["target", "interval", "quantum", "queues"], Management::FqCoDel(config))
        }
        Management::Pie(pie) => {
            let pie = Pie {
                target: positive("target", pie.target),
                update: positive("update", pie.update),
                max_burst: table.duration("max_burst").unwrap_or(pie.max_burst),
                ecn: ecn(pie.ecn),
            };
            (&["target", "update", "max_burst"], Management::Pie(pie))
        }
        Management::Red(red) => (
            &[
                "min_threshold",
                "max_threshold",
                "max_probability",
                "weight",
                "gentle",
                "wait",
                "mean_packet",
                "automatic",
            ],
            read_red(table, red, ecn),
        ),
    };
    for key in
        keys::QUEUE.iter().map(|key| key.name).filter(|key| !COMMON.contains(key) && !own.contains(key))
    {
        if table.entry(key).is_some() {
            let found = format!("found \"{key}\", which this discipline does not have");
            table.wrong(key, found, own.join(", "), None);
        }
    }
    read
}

/// What every discipline has.
const COMMON: [&str; 3] = ["discipline", "limit", "ecn"];

fn read_codel(
    standard: CoDel,
    positive: impl Fn(&'static str, Duration) -> Duration,
    ecn: impl Fn(bool) -> bool,
) -> CoDel {
    CoDel {
        target: positive("target", standard.target),
        interval: positive("interval", standard.interval),
        ecn: ecn(standard.ecn),
    }
}

fn read_red(table: &Reader<'_>, standard: Red, ecn: impl Fn(bool) -> bool) -> Management {
    let packets = |key, standard: f64| table.number(key, 0.0..=1e6).unwrap_or(standard);
    let red = Red {
        min_threshold_packets: packets("min_threshold", standard.min_threshold_packets),
        max_threshold_packets: packets("max_threshold", standard.max_threshold_packets),
        max_probability: table.number("max_probability", 1e-6..=1.0).unwrap_or(standard.max_probability),
        weight: table.number("weight", 1e-6..=1.0).unwrap_or(standard.weight),
        gentle: table.boolean("gentle").unwrap_or(standard.gentle),
        wait: table.boolean("wait").unwrap_or(standard.wait),
        ecn: ecn(standard.ecn),
        mean_packet_bytes: table.bytes("mean_packet").map(|size| size.as_u64().clamp(1, 1 << 16) as u32),
        automatic: table.boolean("automatic").unwrap_or(standard.automatic),
    };
    let given = |key: &&'static str| table.entry(key).is_some();
    if red.automatic
        && let Some(key) = ["min_threshold", "max_threshold", "weight"].into_iter().find(given)
    {
        let found = format!("found \"{key}\" beside automatic = true, which sets it from the link's rate");
        table.wrong(key, found, "one of the two", None);
    }
    if red.max_threshold_packets <= red.min_threshold_packets {
        let found = format!(
            "found thresholds of {} and {} packets",
            red.min_threshold_packets, red.max_threshold_packets
        );
        table.wrong("max_threshold", found, "an upper threshold above the lower one", None);
    }
    Management::Red(red)
}

fn parse_queue(text: &str) -> Option<QueueLimit> {
    let text = text.trim();
    if text == "unlimited" {
        return Some(QueueLimit::Unlimited);
    }
    let number = |unit: &str| text.strip_suffix(unit).map(str::trim);
    if let Some(packets) = number("packets").or_else(|| number("packet")) {
        return packets.parse().ok().filter(|n| *n >= 1).map(QueueLimit::Packets);
    }
    if let Some(multiple) = number("bdp") {
        let multiple: f64 = multiple.parse().ok()?;
        return (multiple > 0.0 && multiple <= 1000.0).then_some(QueueLimit::Bdp(multiple));
    }
    text.parse().ok().filter(|bytes| *bytes > ByteCount::ZERO).map(QueueLimit::Bytes)
}
