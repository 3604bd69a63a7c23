//! Splitting `"500 ms"` into a number and a unit.
use alloc::string::{String, ToString};
use core::fmt;

/// Why a text is not the quantity it should be: what was found, what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseQuantityError {
    /// The text as given.
    pub found: String,
    /// What a reader should write instead, with an example.
    pub expected: &'static str,
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not {}", self.found, self.expected)
    }
}

impl core::error::Error for ParseQuantityError {}

/// Splits `text` at the first character that cannot belong to a decimal number, scales by the unit's
/// factor from `units`, and rounds to the nearest integer.
pub(crate) fn parse_scaled(
    text: &str,
    units: &[(&str, f64)],
    expected: &'static str,
) -> Result<u64, ParseQuantityError> {
    let error = || ParseQuantityError { found: text.to_string(), expected };
    let trimmed = text.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let number: String = number.chars().filter(|&c| c != '_').collect();
    let value: f64 = number.parse().map_err(|_| error())?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(error)?;
    let scaled = libm::round(value * factor);
    if !(0.0..1.8e19).contains(&scaled) {
        return Err(error());
    }
    Ok(scaled as u64)
}

/// Writes `value` in the largest unit of `units` (descending) that keeps it exact to three decimals.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    for &(name, factor) in units {
        if value >= factor && value.is_multiple_of((factor / 1000).max(1)) {
            let whole = value / factor;
            let milli = (value % factor) / (factor / 1000).max(1);
            return match (factor, milli) {
                (1, _) | (_, 0) => write!(f, "{whole} {name}"),
                _ => {
                    let fraction = alloc::format!("{milli:03}");
                    write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
                }
            };
        }
    }
    let (name, factor) = units[units.len() - 1];
    write!(f, "{} {name}", value / factor)
}
