//! Which claims and experiments were asked for.

#[cfg(test)]
mod tests;

use super::reported::{self, Claim};
use super::{Experiment, System};
use crate::claims::ClaimsError;
use prismux_scenario::diagnostic::remedy_for;

/// What was asked for of one system.
pub(super) struct Selection {
    pub system: &'static System,
    /// Its claims, those that were asked for.
    pub claims: Vec<Claim>,
    /// Names of claims, experiments and figures; empty for all.
    only: Vec<String>,
}

impl Selection {
    /// Whether an experiment is asked for by its name or for one of its claims.
    pub fn needs(&self, experiment: &Experiment) -> bool {
        self.only.is_empty()
            || names(&self.only, experiment.id)
            || experiment.claims.iter().any(|claim| names(&self.only, claim))
    }
}

fn names(only: &[String], id: &str) -> bool {
    only.iter().any(|name| name.eq_ignore_ascii_case(id))
}

/// What `only`, names of claims, experiments and figures, selects of `systems`; systems without any are left out.
pub(super) fn select(systems: &[&'static System], only: &[String]) -> Result<Vec<Selection>, ClaimsError> {
    let mut selections = Vec::new();
    for &system in systems {
        let claims = reported::read(system.claims)?;
        selections.push(Selection { system, claims, only: only.to_vec() });
    }
    let known = |name: &String| {
        selections.iter().any(|selection| {
            selection.claims.iter().any(|claim| claim.id.eq_ignore_ascii_case(name))
                || parts(selection.system).any(|part| part.eq_ignore_ascii_case(name))
        })
    };
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        let expected = expected(&selections);
        let remedy =
            near(unknown, &selections).map_or_else(String::new, |near| format!("\n  remedy: {near}"));
        return Err(ClaimsError::Usage(format!(
            "there is no claim, experiment or figure \"{unknown}\"\n  expected: {expected}{remedy}"
        )));
    }
    for selection in &mut selections {
        let system = selection.system;
        selection
            .claims
            .retain(|claim| only.is_empty() || names(only, &claim.id) || belongs(system, &claim.id, only));
    }
    selections.retain(|selection| !selection.claims.is_empty());
    Ok(selections)
}

/// Names of a system's experiments and figures.
fn parts(system: &System) -> impl Iterator<Item = &'static str> + use<> {
    let figures = system.model.as_ref().map_or(&[][..], |model| model.figures);
    system.experiments.iter().map(|experiment| experiment.id).chain(figures.iter().map(|(name, _)| *name))
}

/// Whether a claim is about an experiment or figure that `only` names.
fn belongs(system: &System, claim: &str, only: &[String]) -> bool {
    let figures = system.model.as_ref().map_or(&[][..], |model| model.figures);
    system.experiments.iter().any(|e| names(only, e.id) && e.claims.contains(&claim))
        || figures.iter().any(|(name, [first, last])| names(only, name) && (*first..=*last).contains(&claim))
}

/// The names closest to `unknown`: of claims those with the nearest numbers.
fn near(unknown: &str, selections: &[Selection]) -> Option<String> {
    let claims = || selections.iter().flat_map(|selection| &selection.claims).map(|claim| claim.id.as_str());
    let Some((series, number)) = in_parts(unknown) else {
        let mut all: Vec<&str> = claims().collect();
        selections.iter().flat_map(|selection| parts(selection.system)).for_each(|part| all.push(part));
        return remedy_for(unknown, all);
    };
    let distance = |id: &str| {
        let (own, of_claim) = in_parts(id)?;
        own.eq_ignore_ascii_case(series).then_some(of_claim.abs_diff(number))
    };
    let mut ranked: Vec<(u64, &str)> = claims().filter_map(|id| Some((distance(id)?, id))).collect();
    ranked.sort();
    match ranked[..] {
        [] => remedy_for(unknown, claims().collect::<Vec<_>>()),
        [(0, id), ..] => Some(format!("did you mean \"{id}\"?")),
        _ => {
            let nearest: Vec<&str> = ranked.iter().take(3).map(|(_, id)| *id).collect();
            Some(format!("the nearest are {}", nearest.join(", ")))
        }
    }
}

/// Series and number of a claim: "PR-007" is number 7 of "PR".
fn in_parts(id: &str) -> Option<(&str, u64)> {
    let (series, number) = id.split_once('-')?;
    Some((series, number.parse().ok()?))
}

/// What could have been asked for, in words, each once: systems share names of figures.
fn expected(selections: &[Selection]) -> String {
    let mut words: Vec<String> = Vec::new();
    for Selection { system, claims, .. } in selections {
        let series = |claim: &Claim| claim.id.split('-').next().map(str::to_owned);
        let ranges = claims.chunk_by(|a, b| series(a) == series(b)).filter_map(|own| {
            let [first, last] = [own.first()?, own.last()?];
            Some(format!("{} to {}", first.id, last.id))
        });
        for word in ranges.chain(parts(system).map(str::to_owned)) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.join(", ")
}
