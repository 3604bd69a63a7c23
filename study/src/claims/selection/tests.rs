use super::super::{ALL, SYSTEMS, find};
use super::select;
use crate::claims::ClaimsError;

fn selected(name: &str, only: &[&str]) -> Result<Vec<String>, String> {
    let only: Vec<String> = only.iter().map(|name| (*name).to_string()).collect();
    let selections = select(&find(name).unwrap(), &only).map_err(|failure| match failure {
        ClaimsError::Usage(text) => text,
        other => panic!("{other:?}"),
    })?;
    Ok(selections.into_iter().flat_map(|selection| selection.claims).map(|claim| claim.id).collect())
}

#[test]
fn nothing_named_is_everything_and_a_claim_is_itself() {
    assert_eq!(selected(ALL, &[]).unwrap().len(), 69 + 9 + 22 + 18 + 35 + 21 + 17 + 18 + 56);
    assert_eq!(selected(ALL, &["qm-024", "PR-060"]).unwrap(), ["PR-060", "QM-024"]);
}

#[test]
fn a_name_of_nothing_is_told_the_nearest() {
    let remedy = |name: &str| {
        let message = selected("prism", &[name]).unwrap_err();
        message.rsplit_once("remedy: ").map(|(_, remedy)| remedy.to_string())
    };
    assert_eq!(remedy("PR-70").unwrap(), "the nearest are PR-069, PR-068, PR-067");
    assert_eq!(remedy("pr-7").unwrap(), "did you mean \"PR-007\"?");
    assert_eq!(remedy("RP-007").unwrap(), "did you mean \"PR-007\"?");
    assert_eq!(remedy("T11").unwrap(), "did you mean \"T1\"?");
    assert_eq!(remedy("ZZ"), None);
}

#[test]
fn every_claim_has_an_experiment_that_judges_it() {
    for system in SYSTEMS.iter().filter(|system| system.model.is_none()) {
        for claim in crate::claims::reported::read(system.claims).unwrap() {
            let judges =
                |experiment: &&crate::claims::Experiment| experiment.claims.contains(&claim.id.as_str());
            assert!(system.experiments.iter().any(|experiment| judges(&experiment)), "{}", claim.id);
        }
    }
}

#[test]
fn an_experiment_and_a_figure_stand_for_their_claims() {
    assert_eq!(selected("tcp-ho", &["d2"]).unwrap(), ["HO-005"]);
    let figure = selected(ALL, &["Q6"]).unwrap();
    assert_eq!((figure.len(), figure[0].as_str(), figure[10].as_str()), (11, "QM-012", "QM-022"));
    // T1 judges claims that other experiments judge as well: those are not run for it.
    let selections = select(&find("prism").unwrap(), &["T1".to_string()]).unwrap();
    let needed = |id: &str| {
        let system = selections[0].system;
        selections[0].needs(system.experiments.iter().find(|experiment| experiment.id == id).unwrap())
    };
    assert!(needed("T1") && !needed("T2") && !needed("S1"));
}

#[test]
fn what_is_unknown_is_refused_with_what_there_is() {
    let complaint = selected("tcp-ho", &["T1"]).unwrap_err();
    assert!(complaint.contains("\"T1\"") && complaint.contains("HO-001 to HO-009, C, D1"), "{complaint}");
    let complaint = selected(ALL, &["ZZ"]).unwrap_err();
    assert_eq!(complaint.matches("P1, P2, P3").count(), 1, "{complaint}");
    assert!(complaint.contains("MM-001 to MM-006"), "{complaint}");
}
