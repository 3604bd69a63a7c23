use super::{Finding, Verdict, judge};
use crate::claims::reported::{self, Claim, Comparison, Reported};

fn claim(comparison: Comparison, reported: f64) -> Claim {
    let mut claim = reported::read(reported::PRISM).unwrap().remove(0);
    (claim.comparison, claim.reported) = (comparison, Reported::Number(reported));
    claim
}

fn verdict(comparison: Comparison, reported: f64, values: &[f64]) -> Verdict {
    judge(&claim(comparison, reported), Some(&Finding::values("PR-001", values.to_vec()))).verdict
}

#[test]
fn about_equal_allows_a_tenth_beyond_the_interval() {
    // Mean 0.9, interval 0.9 +- 0.0248.
    let values = [0.89, 0.90, 0.91];
    assert_eq!(verdict(Comparison::About, 0.99, &values), Verdict::Holds);
    assert_eq!(verdict(Comparison::About, 1.03, &values), Verdict::Differs);
    assert_eq!(verdict(Comparison::About, 0.80, &values), Verdict::Holds);
    assert_eq!(verdict(Comparison::About, 0.78, &values), Verdict::Differs);
}

#[test]
fn bounds_are_met_by_the_mean() {
    assert_eq!(verdict(Comparison::AtLeast, 3.1, &[3.2, 3.1, 3.05]), Verdict::Holds);
    assert_eq!(verdict(Comparison::AtLeast, 3.1, &[3.1, 3.0, 3.1]), Verdict::Differs);
    assert_eq!(verdict(Comparison::AtMost, 0.5, &[0.5, 0.4]), Verdict::Holds);
    assert_eq!(verdict(Comparison::AtMost, 0.5, &[0.6, 0.5]), Verdict::Differs);
}

#[test]
fn without_a_measurement_nothing_holds() {
    let claim = claim(Comparison::About, 1.0);
    assert_eq!(judge(&claim, None).verdict, Verdict::NotYet);
    assert_eq!(judge(&claim, Some(&Finding::values("PR-001", vec![]))).verdict, Verdict::NotYet);
    assert_eq!(judge(&claim, Some(&Finding::not_testable("PR-001", "x"))).verdict, Verdict::NotTestable);
}

#[test]
fn the_tables_have_every_claim_once() {
    let tables = [
        (reported::PRISM, "PR", 69),
        (reported::TCP_HO, "HO", 9),
        (reported::QUEUEING, "QM", 35),
        (reported::PTCP, "PT", 22),
        (reported::STRIPING, "ST", 18),
        (reported::RCP, "RC", 21),
        (reported::R2CP, "R2", 17),
    ];
    for (text, prefix, count) in tables {
        let claims = reported::read(text).unwrap();
        let ids: Vec<String> = claims.iter().map(|claim| claim.id.clone()).collect();
        let expected: Vec<String> = (1..=count).map(|n| format!("{prefix}-{n:03}")).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn a_verdict_on_repetitions_that_are_all_equal_says_so() {
    let judged = |values: &[f64]| {
        let finding = Finding::values("PR-001", values.to_vec()).because("short queues");
        judge(&claim(Comparison::About, 1.0), Some(&finding))
    };
    let equal = judged(&[1.02, 1.02, 1.02]);
    assert_eq!((equal.verdict, equal.ci95), (Verdict::Holds, None));
    assert_eq!(equal.cause, "short queues; the same value in all 3 repetitions: it counts as one");
    assert_eq!(judged(&[1.02, 1.03]).cause, "short queues");
}
