//! What a file becomes: a plan, and what the file says of itself.
use prismux_plan::Plan;

/// A scenario: the experiment, and what only people and `prismux compare` need.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The experiment.
    pub plan: Plan,
    /// One line about it; may be empty.
    pub summary: String,
    /// Names of the variants that the file declares.
    pub variants: Vec<VariantNote>,
}

/// A variant's name and summary; its overrides stay in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantNote {
    /// Name.
    pub name: String,
    /// One line about it; may be empty.
    pub summary: String,
}
