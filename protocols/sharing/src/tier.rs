//! Links that stand by while others live.
use alloc::string::{String, ToString};
use core::{fmt, str};

/// When a link is used: one carries nothing while one of a better tier lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// Whenever it lives.
    #[default]
    Primary,
    /// While no primary link lives.
    Secondary,
    /// While neither a primary nor a secondary link lives.
    Backup,
    /// Not at all.
    Never,
}

/// What is no tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTier(String);

impl fmt::Display for UnknownTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no tier, expected \"primary\", \"secondary\", \"backup\" or \"never\"", self.0)
    }
}

impl core::error::Error for UnknownTier {}

impl Tier {
    /// All tiers, the best first: a tier's place is its number.
    pub const ALL: [Self; 4] = [Self::Primary, Self::Secondary, Self::Backup, Self::Never];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Backup => "backup",
            Self::Never => "never",
        }
    }

    /// The best tier of which a link lives, given the tiers of those that do.
    pub fn in_use(living: impl IntoIterator<Item = Self>) -> Option<Self> {
        living.into_iter().filter(|tier| *tier != Self::Never).min()
    }
}

impl str::FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, UnknownTier> {
        Self::ALL.into_iter().find(|tier| tier.name() == text).ok_or_else(|| UnknownTier(text.to_string()))
    }
}
