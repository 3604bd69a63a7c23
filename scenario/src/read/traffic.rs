//! What the application of a flow sends.

use super::reader::Reader;
use crate::registry;
use prismux_plan::{Traffic, Transport};
use prismux_units::ByteCount;

/// The pattern that a flow over `transport` has, with its defaults.
pub(super) fn pattern(reader: &Reader<'_>, transport: &Transport) -> Traffic {
    let standard = transport.patterns().next().map_or(Traffic::ENDLESS, |pattern| pattern.value.clone());
    let pattern = reader.name("pattern", registry::PATTERNS).unwrap_or_else(|| standard.clone());
    match transport.check_pattern(&pattern) {
        Ok(()) => pattern,
        Err(problem) => {
            reader.wrong("pattern", problem.found(), problem.expected(), problem.remedy());
            standard
        }
    }
}

/// Reads the numbers of a pattern; what is left out keeps its default. `None` when a number without one is missing.
pub(super) fn read(reader: &Reader<'_>, pattern: Traffic) -> Option<Traffic> {
    let needs = |key: &'static str, example: &str| {
        if reader.entry(key).is_none() {
            let expected = format!("pattern \"{}\" needs it", pattern.name());
            reader.missing(key, &expected, format!("for instance {key} = \"{example}\""));
        }
    };
    match pattern {
        Traffic::Bulk { .. } => {
            let bytes = reader.bytes("bytes");
            if bytes == Some(ByteCount::ZERO) {
                let remedy = "leave the key out for data until the end".to_string();
                reader.wrong("bytes", "found an empty file", "at least 1 B", Some(remedy));
            }
            let updates_every = reader.bytes("updates_every");
            Some(Traffic::Bulk { bytes, updates_every })
        }
        Traffic::RequestResponse { request, think, exchanges, .. } => {
            needs("response", "20 kB");
            let request = reader.bytes("request").unwrap_or(request);
            let think = reader.duration("think").unwrap_or(think);
            Some(Traffic::RequestResponse { request, response: reader.bytes("response")?, think, exchanges })
        }
        Traffic::Writes { size, .. } => {
            needs("every", "500 ms");
            let size = reader.bytes("write").unwrap_or(size);
            Some(Traffic::Writes { size, every: reader.duration("every")? })
        }
        Traffic::Cbr { packet, .. } => {
            needs("rate", "400 kbit/s");
            let packet = packet_size(reader, packet);
            Some(Traffic::Cbr { rate: reader.rate("rate")?, packet })
        }
        Traffic::ParetoOnOff { packet, shape, .. } => {
            needs("rate", "400 kbit/s");
            needs("on", "1 s");
            needs("off", "1 s");
            let packet = packet_size(reader, packet);
            let shape = reader.number("shape", 1.000_001..=100.0).unwrap_or(shape);
            let (rate, on, off) = (reader.rate("rate"), reader.duration("on"), reader.duration("off"));
            Some(Traffic::ParetoOnOff { rate: rate?, packet, on: on?, off: off?, shape })
        }
    }
}

/// Size of a datagram with its IP and UDP headers.
fn packet_size(reader: &Reader<'_>, standard: ByteCount) -> ByteCount {
    let packet = reader.bytes("packet").unwrap_or(standard);
    if !(29..=1500).contains(&packet.as_u64()) {
        reader.wrong("packet", format!("found {packet}"), "between 29 B (28 of headers) and 1500 B", None);
    }
    packet
}
