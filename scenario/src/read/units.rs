//! What to write in place of a quantity whose unit nobody reads: "5 mins", "1 MBit", "1 MiB".

use crate::diagnostic::did_you_mean;
use prismux_units::{ByteCount, Rate};
use std::str::FromStr;

/// Every unit of a quantity, and what people write for it, in lower case.
const UNITS: [(&str, &[&str]); 17] = [
    ("ns", &["nsec", "nsecs", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "usecs", "microsecond", "microseconds"]),
    ("ms", &["msec", "msecs", "millis", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("bit/s", &["bit", "bits", "bps", "b/s", "bits/s", "bit/sec"]),
    ("kbit/s", &["kbit", "kbits", "kbps", "kb/s", "kbits/s", "kbit/sec"]),
    ("Mbit/s", &["mbit", "mbits", "mbps", "mb/s", "mbits/s", "mbit/sec"]),
    ("Gbit/s", &["gbit", "gbits", "gbps", "gb/s", "gbits/s", "gbit/sec"]),
    ("B", &["byte", "bytes"]),
    ("kB", &["k", "kilobyte", "kilobytes"]),
    ("MB", &["m", "megabyte", "megabytes"]),
    ("GB", &["g", "gigabyte", "gigabytes"]),
    ("TB", &["t", "terabyte", "terabytes"]),
    ("packets", &["packet", "pkt", "pkts", "p"]),
    ("%", &["percent", "pct"]),
];

/// What each prefix multiplies by.
const PREFIXES: [(&str, f64); 9] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("", 1.0),
];

/// Advice for a text whose number is fine but whose unit is not one of `T`'s.
pub(super) fn unit_remedy<T: FromStr>(text: &str) -> Option<String> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))?;
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let write = |unit: &str| format!("{number} {unit}");
    let is_read = |quantity: &String| quantity.parse::<T>().is_ok();
    let value: f64 = number.replace('_', "").parse().ok()?;
    if let Some(quantity) = usual(unit).map(write).find(is_read) {
        return Some(format!("write \"{quantity}\""));
    }
    let others: Vec<String> = in_other_units(value, unit).into_iter().flatten().collect();
    if let Some(quantity) = others.iter().find(|other| is_read(other)) {
        return Some(format!("write \"{quantity}\", which is as much"));
    }
    // A unit of something else is no slip.
    if !others.is_empty() || usual(unit).next().is_some() {
        return None;
    }
    let known = UNITS.iter().map(|(name, _)| *name).filter(|name| is_read(&write(name)));
    did_you_mean(unit, known).map(|name| format!("write \"{}\"", write(name)))
}

/// The units that `unit` may stand for; bytes a second are none of them.
fn usual(unit: &str) -> impl Iterator<Item = &'static str> {
    let lower = unit.to_lowercase();
    let is_bytes_a_second = byte_rate(unit).is_some();
    UNITS.iter().filter_map(move |(name, others)| {
        let is_meant = others.contains(&lower.as_str()) || name.to_lowercase() == lower;
        (is_meant && !is_bytes_a_second).then_some(*name)
    })
}

/// The same amount as a size or a rate, where `unit` counts bits, bytes a second, or in powers of two.
fn in_other_units(value: f64, unit: &str) -> [Option<String>; 2] {
    let size = |bytes: f64| ByteCount::new(bytes.round() as u64).to_string();
    let bits = ["bit", "bits", "Bit", "Bits", "b"].iter().find_map(|name| unit.strip_suffix(name));
    let bytes = ["B", "Byte", "Bytes", "bytes"].iter().find_map(|name| unit.strip_suffix(name));
    let of_bits = bits.and_then(factor).map(|factor| size(value * factor / 8.0));
    let of_bytes = bytes.and_then(factor).map(|factor| size(value * factor));
    let bit_rate = || factor(["bit/s", "b/s", "bps"].iter().find_map(|name| unit.strip_suffix(name))?);
    let bps = byte_rate(unit).map(|factor| factor * 8.0).or_else(bit_rate);
    let rate = bps.map(|factor| Rate::from_bps((value * factor).round() as u64).to_string());
    [of_bits.or(of_bytes), rate]
}

/// Bytes a second that `unit` counts in: "MB/s", "kBps".
fn byte_rate(unit: &str) -> Option<f64> {
    factor(["B/s", "Bps", "Byte/s", "bytes/s"].iter().find_map(|name| unit.strip_suffix(name))?)
}

fn factor(prefix: &str) -> Option<f64> {
    PREFIXES.iter().find(|(name, _)| *name == prefix).map(|(_, factor)| *factor)
}
