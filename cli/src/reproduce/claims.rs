//! The tables of reported results, embedded in the program.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};

/// A reported result.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Identifier, "PR-001".
    pub id: String,
    /// Which paper.
    pub source: String,
    /// Figure or section.
    pub place: String,
    /// What was set up.
    pub setting: String,
    /// What was measured.
    pub metric: String,
    /// In which unit.
    pub unit: String,
    /// The reported value, or a trend in words.
    pub reported: Reported,
    /// How a measured value compares with it.
    pub comparison: Comparison,
    /// Anything else.
    #[serde(default)]
    pub note: String,
}

/// A reported number or trend.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Reported {
    /// A number in the claim's unit.
    Number(f64),
    /// Words.
    Words(String),
}

/// How measured and reported values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Comparison {
    /// About equal.
    #[serde(rename = "~")]
    About,
    /// At most.
    #[serde(rename = "<=")]
    AtMost,
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
    /// An ordering or a trend.
    #[serde(rename = "shape")]
    Shape,
}

/// The claims of the PRISM papers.
pub(crate) const PRISM: &str = include_str!("../../../reproduce/prism-claims.toml");
/// The claims of TCP-HO.
pub(crate) const TCP_HO: &str = include_str!("../../../reproduce/tcp-ho-claims.toml");
/// The claims of pTCP.
pub(crate) const PTCP: &str = include_str!("../../../reproduce/ptcp-claims.toml");
/// The claims about application striping.
pub(crate) const STRIPING: &str = include_str!("../../../reproduce/striping-claims.toml");
/// The claims about the queueing models of striping.
pub(crate) const QUEUEING: &str = include_str!("../../../reproduce/queueing-claims.toml");

/// The claims of RCP.
pub(crate) const RCP: &str = include_str!("../../../reproduce/rcp-claims.toml");
/// The claims of R²CP.
pub(crate) const R2CP: &str = include_str!("../../../reproduce/r2cp-claims.toml");
/// The claims of TCP-DOOR.
pub(crate) const TCP_DOOR: &str = include_str!("../../../reproduce/tcp-door-claims.toml");
/// The claims about network models: cellular, peer-to-peer, and both together.
pub(crate) const NETWORK_MODELS: &str = include_str!("../../../reproduce/network-models-claims.toml");

/// The claims in `text`.
pub(crate) fn read(text: &str) -> Result<Vec<Claim>, Failure> {
    #[derive(Deserialize)]
    struct File {
        claim: Vec<Claim>,
    }
    let file: File = toml::from_str(text).map_err(Failure::failed)?;
    Ok(file.claim)
}
