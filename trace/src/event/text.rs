//! Names in events: as they are told, and as they are read, borrowed from the line where that is possible.
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A name from the scenario file or a configuration, or of a mechanism.
pub type Name<'a> = Cow<'a, str>;

/// A text that borrows from the line it was read from. (Serde copies a bare `Cow` inside an `Option`.)
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
