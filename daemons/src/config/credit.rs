//! What a borrower may owe, in files.
use super::text;
use prismux_units::Duration;
use serde::Deserialize;

/// A claim more often than this is answered by nobody.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// The `credit` table of a member's file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Credit {
    /// Time between two statements that member and proxy sign.
    #[serde(deserialize_with = "text::one")]
    pub sign_every: Duration,
}

impl Default for Credit {
    fn default() -> Self {
        Self { sign_every: Duration::from_secs(60) }
    }
}

impl Credit {
    /// The first thing that makes no sense: the key at fault and what was expected of it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        if self.sign_every < LEAST_INTERVAL {
            return Err(("credit.sign_every", format!("expected at least {LEAST_INTERVAL}")));
        }
        Ok(())
    }
}
