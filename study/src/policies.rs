//! Policies from outside the crates that decide in runs, and how results name them.

use crate::digest;
use crate::table::Columns;
use prismux_plan::{Plan, Unsupported};
pub use prismux_simulator::{
    CongestionFactory, Part, PipeSchedulerFactory, Policies, PolicyRole, RequestSchedulerFactory,
    SchedulerFactory, SubflowSchedulerFactory,
};
use serde::{Deserialize, Serialize};

/// Name of the column with the policies that decided, where any did.
pub(crate) const POLICY: &str = "policy";
/// Name of the column with the hash of their sources.
pub(crate) const POLICY_HASH: &str = "policy_hash";

/// A policy as results name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyName {
    /// What it decides, in the word of [`PolicyRole`].
    pub role: String,
    /// Where it was imported from, `module:name`.
    pub path: String,
    /// SHA-256 (hex) of its source; empty where that is unknown.
    pub hash: String,
}

impl PolicyName {
    /// What decides `role`, imported from `path`, whose file is `source`. What a policy uses from other files is not in
    /// its source: its `version` tells those apart.
    pub fn new(role: &PolicyRole, path: &str, source: Option<&[u8]>, version: &str) -> Self {
        let hash = source.map(|source| digest::of_parts([source, version.as_bytes()])).unwrap_or_default();
        Self { role: role.to_string(), path: path.to_string(), hash }
    }

    /// Whether it has something to do in `plan`.
    fn is_useful(&self, plan: &Plan) -> bool {
        let role: Result<PolicyRole, _> = self.role.parse();
        role.is_ok_and(|role| prismux_simulator::check_policy(plan, &role).is_ok())
    }
}

/// The names of `policies` that have something to do in `plan`.
pub fn useful(policies: &[PolicyName], plan: &Plan) -> Vec<PolicyName> {
    policies.iter().filter(|policy| policy.is_useful(plan)).cloned().collect()
}

/// Those of `policies` that have something to do in `plan`.
pub fn at_work(policies: &Policies, plan: &Plan) -> Policies {
    policies.only(|role| prismux_simulator::check_policy(plan, role).is_ok())
}

/// Those of `policies` that are named `names`.
pub fn named(policies: &Policies, names: &[PolicyName]) -> Policies {
    policies.only(|role| names.iter().any(|name| name.role == role.to_string()))
}

/// Refuses roles that have nothing to do in any of `plans`.
///
/// # Errors
/// For the first of them, with what the last plan lacks.
pub fn refuse_idle<'a>(
    roles: &[PolicyRole],
    plans: impl Iterator<Item = &'a Plan> + Clone,
) -> Result<(), Unsupported> {
    for role in roles {
        let mut lacks = None;
        for plan in plans.clone() {
            match prismux_simulator::check_policy(plan, role) {
                Ok(()) => {
                    lacks = None;
                    break;
                }
                Err(error) => lacks = Some(error),
            }
        }
        lacks.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// What decides, in words: `scheduler=my_policies:Blest`.
pub fn in_words(policies: &[PolicyName]) -> String {
    let words: Vec<String> =
        policies.iter().map(|PolicyName { role, path, .. }| format!("{role}={path}")).collect();
    words.join(", ")
}

/// SHA-256 (hex) of everything that tells these policies from others; empty without any, and where a source is unknown.
pub fn hash(policies: &[PolicyName]) -> String {
    if policies.is_empty() || policies.iter().any(|policy| policy.hash.is_empty()) {
        return String::new();
    }
    let parts = policies.iter().flat_map(|PolicyName { role, path, hash }| [role, path, hash]);
    digest::of_parts(parts.map(String::as_str))
}

/// Says in two columns which policies decided in each of `rows`; no columns where none did in any.
pub(crate) fn add_columns(columns: &mut Columns, rows: &[&[PolicyName]]) {
    if rows.iter().all(|policies| policies.is_empty()) {
        return;
    }
    let of = |text: fn(&[PolicyName]) -> String| -> Vec<Option<String>> {
        rows.iter().map(|policies| Some(text(policies)).filter(|text| !text.is_empty())).collect()
    };
    let (words, hashes) = (of(in_words), of(hash));
    columns.text(POLICY, "policies from outside that decided", words.iter().map(Option::as_deref));
    columns.text(POLICY_HASH, "SHA-256 of their sources", hashes.iter().map(Option::as_deref));
}
