use super::{correlation, why_no_steady_state};
use crate::run::{RunOptions, run};
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;

#[test]
fn a_run_without_steady_state_says_why() {
    let text = r#"
        duration = "4 s"
        nodes = { a = { kind = "host" }, b = { kind = "host" } }
        links.wire = { between = ["a", "b"], rate = "1 Mbit/s", delay = "20 ms" }
        flows.file = { from = "a", to = "b", bytes = "300 kB" }
        measure.warm_up = "1 s"
    "#;
    let why = |set: &[&str]| {
        let scenario = ScenarioFile::from_text("wire.toml", text).scenario(None, set).unwrap();
        let result = run(&scenario, Backend::Sim, &RunOptions { seed: 1, ..RunOptions::default() }).unwrap();
        why_no_steady_state(&scenario.plan, &result).unwrap_or_default()
    };
    assert_eq!(why(&[]), "");
    assert_eq!(why(&["duration=2 s"]), "the run ended before \"file\" had carried 95 % of its bytes");
    assert_eq!(why(&["flows.file.bytes=30 kB"]), "\"file\" did not outlast the warm-up");
    let later =
        ["duration=9 s", "flows.late={ from = \"a\", to = \"b\", bytes = \"300 kB\", start = \"5 s\" }"];
    assert_eq!(why(&later), "its flows were never in steady state together");
}

#[test]
fn series_that_mirror_each_other_correlate_by_minus_one() {
    let there = [1.0, 4.0, 2.0, 8.0];
    let back: Vec<f64> = there.iter().map(|value| 10.0 - value).collect();
    assert!((correlation(&there, &back).expect("both vary") + 1.0).abs() < 1e-12);
    assert!((correlation(&there, &there).expect("it varies") - 1.0).abs() < 1e-12);
}

#[test]
fn what_does_not_vary_correlates_with_nothing() {
    assert_eq!(correlation(&[1.0, 2.0], &[3.0, 3.0]), None);
    assert_eq!(correlation(&[], &[]), None);
}
