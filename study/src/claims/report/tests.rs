use super::{Claim, Judged, Kind, Tally, totals};
use crate::claims::SYSTEMS;
use crate::claims::reported::{self, read};
use crate::claims::verdict::{Finding, Judgement, Verdict, judge};
use std::collections::BTreeMap;
use std::path::Path;

fn claims(kinds: &[Kind]) -> Vec<Claim> {
    let of = |kind: &Kind| Claim { kind: *kind, ..read(reported::PRISM).unwrap().remove(0) };
    kinds.iter().map(of).collect()
}

fn judgement(claim: &Claim, found: bool) -> Judgement {
    judge(claim, Some(&Finding::shape("PR-001", found, "")))
}

#[test]
fn what_is_not_measured_is_counted_apart() {
    let all = claims(&[Kind::Measured, Kind::Measured, Kind::Arithmetic, Kind::ReadBack]);
    let verdicts = [true, false, true, true];
    let mut judged: Vec<Judged<'_>> =
        all.iter().zip(verdicts).map(|(claim, found)| (claim, vec![judgement(claim, found)])).collect();
    assert_eq!(totals(&judged, 0), "1 of 2 measured hold, 1 differ; 2 of 2 by arithmetic or read back hold");
    assert_eq!(Tally::of(&judged, 0, &Kind::ALL).claims(), 4);
    judged[3].1[0] = judge(judged[3].0, None);
    assert_eq!(
        totals(&judged, 0),
        "1 of 2 measured hold, 1 differ; 1 of 2 by arithmetic or read back hold, 1 not-yet"
    );
    assert_eq!(totals(&judged[..2], 0), "1 of 2 measured hold, 1 differ");
    assert_eq!(Tally::of(&judged, 1, &Kind::ALL).claims(), 0, "no second backend answered");
}

#[test]
fn a_claim_without_a_kind_or_with_another_is_refused() {
    for system in SYSTEMS {
        let without = system.claims.replacen("kind = \"measured\"\n", "", 1);
        assert!(without.len() < system.claims.len(), "{}", system.name);
        let refused = read(&without).unwrap_err().to_string();
        assert!(refused.contains("missing field `kind`"), "{refused}");
        let other = system.claims.replacen("kind = \"measured\"", "kind = \"believed\"", 1);
        assert!(read(&other).is_err());
    }
}

/// Rows of the first table of a page by heading, and the line above that table.
fn printed(page: &str) -> (String, Vec<BTreeMap<String, String>>) {
    let lines: Vec<&str> = page.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("| claim |")).expect("a table of claims");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').replace("\\|", "/").split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let names = cells(lines[head]);
    let rows = lines[head + 2..].iter().take_while(|line| line.starts_with('|'));
    (lines[head - 2].to_string(), rows.map(|row| names.iter().cloned().zip(cells(row)).collect()).collect())
}

/// The pages that print all verdicts say of each claim what its table says, and their totals are those of their rows.
#[test]
fn totals_of_the_pages_are_those_of_their_rows_and_kinds_those_of_the_tables() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let known: BTreeMap<String, Claim> =
        read(reported::PRISM).unwrap().into_iter().map(|claim| (claim.id.clone(), claim)).collect();
    for (page, count) in [("claims-prism.md", 69), ("claims-prism-lab.md", 15)] {
        let (said, rows) = printed(&std::fs::read_to_string(docs.join(page)).unwrap());
        assert_eq!(rows.len(), count, "{page}");
        let judged: Vec<Judged<'_>> = rows
            .iter()
            .map(|row| {
                let claim = &known[&row["claim"]];
                assert_eq!(row["kind"], claim.kind.name(), "{page}: {}", claim.id);
                let verdict = Verdict::ALL.into_iter().find(|v| super::verdict_name(*v) == row["verdict"]);
                (claim, vec![Judgement { verdict: verdict.unwrap(), ..judgement(claim, true) }])
            })
            .collect();
        assert_eq!(said, format!("{}.", totals(&judged, 0)), "{page}");
    }
}

/// A page that says "14 of 16 measured hold" must know how many there are.
#[test]
fn pages_of_protocols_count_as_many_claims_as_the_tables_have() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let pages = [
        ("rcp", "protocols/rcp.md"),
        ("r2cp", "protocols/r2cp.md"),
        ("ptcp", "protocols/ptcp.md"),
        ("striping", "protocols/striping.md"),
        ("tcp-ho", "protocols/tcp-ho.md"),
        ("tcp-door", "protocols/tcp-door.md"),
        ("queueing", "theory/queueing.md"),
        ("network-models", "protocols/cellular.md"),
    ];
    for (name, page) in pages {
        let system = SYSTEMS.iter().find(|system| system.name == name).unwrap();
        let claims = read(system.claims).unwrap();
        let measured = claims.iter().filter(|claim| claim.kind == Kind::Measured).count();
        let text = std::fs::read_to_string(docs.join(page)).unwrap().replace('\n', " ");
        let mut parts = vec![format!(" of {measured} measured hold")];
        if measured < claims.len() {
            parts.push(format!(" of {} by arithmetic or read back", claims.len() - measured));
        }
        for part in parts {
            assert!(text.contains(&part), "{page} does not say \"...{part}\"");
        }
    }
}
