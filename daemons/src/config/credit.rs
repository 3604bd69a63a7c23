//! What a borrower may owe, in files.
use super::text;
use prismux_sealed::PublicKey;
use prismux_units::{ByteCount, Duration};
use serde::Deserialize;

/// A claim more often than this is answered by nobody.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// The `credit` table of a member's file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Credit {
    /// Most that the proxy may owe, in bytes of both directions; absent: any amount.
    #[serde(deserialize_with = "text::optional")]
    pub limit: Option<ByteCount>,
    /// The same while nothing has been lent back yet; absent: the limit.
    #[serde(deserialize_with = "text::optional")]
    pub at_first: Option<ByteCount>,
    /// Public keys under which the borrower lends in return; absent: that of its proxy.
    #[serde(deserialize_with = "text::list")]
    pub lends_under: Vec<PublicKey>,
    /// Time between two statements that member and proxy sign.
    #[serde(deserialize_with = "text::one")]
    pub sign_every: Duration,
}

impl Default for Credit {
    fn default() -> Self {
        let (limit, at_first, lends_under) = (None, None, Vec::new());
        Self { limit, at_first, lends_under, sign_every: Duration::from_secs(60) }
    }
}

impl Credit {
    /// What it says, for balances.
    pub const fn terms(&self) -> prismux_sharing::Credit {
        prismux_sharing::Credit { limit: self.limit, at_first: self.at_first }
    }

    /// The first thing that makes no sense: the key at fault and what was expected of it.
    pub(super) fn check(&self, is_sealed: bool) -> Result<(), (&'static str, String)> {
        if self.sign_every < LEAST_INTERVAL {
            return Err(("credit.sign_every", format!("expected at least {LEAST_INTERVAL}")));
        }
        for (key, bytes) in [("credit.limit", self.limit), ("credit.at_first", self.at_first)] {
            if bytes == Some(ByteCount::ZERO) {
                return Err((key, "expected more than nothing".to_owned()));
            }
            if bytes.is_some() && !is_sealed {
                let expected =
                    "a tunnel without keys has no credit: expected a sealed one, or a cap under [sharing]";
                return Err((key, expected.to_owned()));
            }
        }
        Ok(())
    }
}
