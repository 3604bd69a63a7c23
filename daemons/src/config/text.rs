//! Reading quantities, addresses and names from TOML strings with the parsers they already have.
use serde::{Deserialize, Deserializer, de::Error};
use std::fmt::Display;
use std::str::FromStr;

/// A string that `T` can parse.
pub(super) fn one<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// As [`one`], for a key that may be absent.
pub(super) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    one(deserializer).map(Some)
}

/// A list of strings that `T` can parse.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

/// What is expected of a name.
pub(super) fn name_expected(name: &str) -> String {
    format!("\"{name}\" is no member's name, expected 1 to 32 letters, digits, dots, dashes or underscores")
}
