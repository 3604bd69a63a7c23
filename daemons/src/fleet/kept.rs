//! What the registry said last, as a file has it: a gateway that starts while the registry is away knows its homes.
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Homes and revocations of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept<'a> {
    /// How the keys of the fleet begin: another fleet's homes are none of this gateway's.
    pub prefix: Cow<'a, str>,
    /// When the registry said so, in seconds since 1970.
    pub as_of: u64,
    /// Keys, without the prefix, and values.
    pub entries: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

impl Kept<'_> {
    /// The text of a file.
    pub fn text(&self) -> String {
        // Text and numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a file says of the fleet with this prefix; `None` for an empty one.
///
/// # Errors
/// It cannot be understood, or speaks of another fleet.
pub fn read(text: &str, prefix: &str) -> Result<Option<Kept<'static>>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let kept: Kept<'static> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if kept.prefix != prefix {
        return Err(format!("it is of the fleet {}", kept.prefix.escape_debug()));
    }
    Ok(Some(kept))
}

#[cfg(test)]
mod tests {
    use super::{Kept, read};

    #[test]
    fn what_was_kept_is_read_again_and_nonsense_or_another_fleet_is_an_error() {
        let entries = [("homes/a", "{}"), ("revoked/a", "")].map(|(key, value)| (key.into(), value.into()));
        let kept = Kept { prefix: "prismux/".into(), as_of: 7, entries: entries.into() };
        let text = kept.text();
        assert_eq!(read(&text, "prismux/"), Ok(Some(kept)));
        assert_eq!(read("", "prismux/"), Ok(None));
        assert!(read(&text, "other/").unwrap_err().contains("prismux/"));
        for torn in (1..text.len()).map(|end| &text[..end]) {
            assert!(read(torn, "prismux/").is_err(), "{torn}");
        }
    }
}
