//! The tables of reported results, embedded in the program.

use crate::claims::ClaimsError;
use serde::{Deserialize, Serialize};

/// A reported result.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
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
    /// What a verdict rests on.
    pub kind: Kind,
    /// Anything else.
    #[serde(default)]
    pub note: String,
}

/// A reported number or trend.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Reported {
    /// A number in the claim's unit.
    Number(f64),
    /// Words.
    Words(String),
}

/// How measured and reported values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Comparison {
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

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something runs, and what it does is counted: a network, a model of one, a rule played to a protocol.
    Measured,
    /// Formulas, numbers that the source prints, or a count of the steps of an algorithm: nothing of ours is measured.
    Arithmetic,
    /// A setting or a constant of ours implies it: it could differ by a mistake alone.
    ReadBack,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Measured, Self::Arithmetic, Self::ReadBack];

    /// As in tables of claims and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Arithmetic => "arithmetic",
            Self::ReadBack => "read-back",
        }
    }
}

/// The claims of the PRISM papers.
pub(super) const PRISM: &str = include_str!("../../claims/prism.toml");
/// The claims of TCP-HO.
pub(super) const TCP_HO: &str = include_str!("../../claims/tcp-ho.toml");
/// The claims of pTCP.
pub(super) const PTCP: &str = include_str!("../../claims/ptcp.toml");
/// The claims about application striping.
pub(super) const STRIPING: &str = include_str!("../../claims/striping.toml");
/// The claims about the queueing models of striping.
pub(super) const QUEUEING: &str = include_str!("../../claims/queueing.toml");

/// The claims of RCP.
pub(super) const RCP: &str = include_str!("../../claims/rcp.toml");
/// The claims of R²CP.
pub(super) const R2CP: &str = include_str!("../../claims/r2cp.toml");
/// The claims of TCP-DOOR.
pub(super) const TCP_DOOR: &str = include_str!("../../claims/tcp-door.toml");
/// The claims about network models: cellular, peer-to-peer, and both together.
pub(super) const NETWORK_MODELS: &str = include_str!("../../claims/network-models.toml");

/// The claims in `text`.
pub(super) fn read(text: &str) -> Result<Vec<Claim>, ClaimsError> {
    #[derive(Deserialize)]
    struct File {
        claim: Vec<Claim>,
    }
    let file: File = toml::from_str(text).map_err(ClaimsError::Table)?;
    Ok(file.claim)
}
