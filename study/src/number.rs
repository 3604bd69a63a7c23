//! Numbers as people read them: three digits and a unit.

/// `value` with at least three significant digits, no exponent.
pub fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Bits per second with a prefix: `1.37 Mbit/s`.
pub fn rate(bps: f64) -> String {
    let (factor, unit) = match bps {
        b if b >= 1e9 => (1e9, "Gbit/s"),
        b if b >= 1e6 => (1e6, "Mbit/s"),
        b if b >= 1e3 => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    };
    format!("{} {unit}", digits(bps / factor))
}

/// Bytes with a prefix: `14.0 MB`.
pub fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    let (factor, unit) = match value {
        b if b >= 1e9 => (1e9, "GB"),
        b if b >= 1e6 => (1e6, "MB"),
        b if b >= 1e3 => (1e3, "kB"),
        _ => return format!("{bytes} B"),
    };
    format!("{} {unit}", digits(value / factor))
}

/// Seconds: `12.3 s`.
pub fn seconds(seconds: f64) -> String {
    format!("{} s", digits(seconds))
}

/// A delay in milliseconds: `12.3 ms`.
pub fn milliseconds(seconds: f64) -> String {
    format!("{} ms", digits(seconds * 1e3))
}

/// A fraction as percent: `94.1 %`.
pub fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

/// `text` of a value, or a dash.
pub fn or_dash<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_string(), text)
}
