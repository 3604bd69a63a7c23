//! What is done with a flow.
use core::fmt;
use core::str::FromStr;

/// What is done with the packets of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Class {
    /// All over one link, the quickest when the flow began or last paused; over another when that link is gone.
    #[default]
    Pin,
    /// Each over the two quickest links; the far end passes the first copy on.
    Duplicate,
    /// Each over the link on which it will arrive first; the far end puts them back into order.
    Resequence,
}

/// A name that is no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownClass;

impl fmt::Display for UnknownClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected pin, duplicate or resequence")
    }
}

impl core::error::Error for UnknownClass {}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Pin, Self::Duplicate, Self::Resequence];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Duplicate => "duplicate",
            Self::Resequence => "resequence",
        }
    }
}

impl FromStr for Class {
    type Err = UnknownClass;
    fn from_str(text: &str) -> Result<Self, UnknownClass> {
        Self::ALL.into_iter().find(|class| class.name() == text).ok_or(UnknownClass)
    }
}
