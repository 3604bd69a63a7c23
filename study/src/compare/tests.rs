//! Variants are measured by one standard.
use super::{Outcome, compete, run_all};
use crate::run::{RunOptions, run};
use crate::variant::variants;
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;

/// A community of two members, the second of which leaves half way through: the others' links do not.
const TEXT: &str = r#"
    duration = "20 s"
    [nodes]
    server = { kind = "host" }
    proxy = { kind = "prism-proxy" }
    m1 = { kind = "member" }
    m2 = { kind = "member" }
    phone = { kind = "host" }
    [links]
    backbone = { between = ["server", "proxy"], rate = "100 Mbit/s", delay = "5 ms" }
    wwan1 = { between = ["proxy", "m1"], rate = "2 Mbit/s", delay = "20 ms" }
    wwan2 = { between = ["proxy", "m2"], rate = "1 Mbit/s", delay = "20 ms" }
    wlan1 = { between = ["m1", "phone"], rate = "11 Mbit/s", delay = "1 ms" }
    wlan2 = { between = ["m2", "phone"], rate = "11 Mbit/s", delay = "1 ms" }
    [flows]
    download = { from = "server", to = "phone" }
    [[events]]
    at = "10 s"
    leave = "m2"
"#;

fn outcomes(set: &[&str], seeds: &[u64]) -> Vec<Outcome> {
    let file = ScenarioFile::from_text("two.toml", TEXT);
    let names = ["single".to_string(), "prism".to_string()];
    let variants = variants(&file, &names, set, Backend::Sim).unwrap();
    let once =
        |scenario: &_, seed| run(scenario, Backend::Sim, &RunOptions { seed, ..RunOptions::default() });
    compete(&variants, seeds, 1, once, || ()).unwrap()
}

#[test]
fn efficiencies_of_all_variants_have_one_denominator() {
    let file = ScenarioFile::from_text("two.toml", TEXT);
    let capacity_of = |set: &[&str]| {
        let scenario = file.scenario(None, set).unwrap();
        run(&scenario, Backend::Sim, &RunOptions::default()).unwrap().total.capacity_bps
    };
    assert_ne!(
        capacity_of(&[]),
        capacity_of(&["flows.download.via=m1"]),
        "each alone has a denominator of its own"
    );
    let outcomes = outcomes(&[], &[1]);
    let totals: Vec<_> = outcomes.iter().map(|outcome| &outcome.results[0].total).collect();
    assert_eq!(totals[0].capacity_bps, totals[1].capacity_bps);
    for total in totals {
        assert_eq!(total.efficiency, Some(total.goodput_bps / total.capacity_bps));
    }
}

/// As in a table of many cells.
#[test]
fn networks_that_only_share_a_run_keep_their_own_capacities() {
    let file = ScenarioFile::from_text("two.toml", TEXT);
    let of = |rate: &str| variants(&file, &["prism".to_string()], &[rate], Backend::Sim).unwrap();
    let list = [of("links.wwan1.rate=2 Mbit/s"), of("links.wwan1.rate=8 Mbit/s")].concat();
    let once =
        |scenario: &_, seed| run(scenario, Backend::Sim, &RunOptions { seed, ..RunOptions::default() });
    let outcomes = run_all(&list, &[1], 1, once, || ()).unwrap();
    let capacity = |k: usize| outcomes[k].results[0].total.capacity_bps;
    assert!(capacity(1) > 2.0 * capacity(0), "{} and {}", capacity(0), capacity(1));
}

#[test]
fn repetitions_without_chance_are_one_run_and_ratios_are_taken_seed_by_seed() {
    let equal = outcomes(&[], &[1, 2]);
    assert!(equal.iter().all(Outcome::is_one_run));
    assert!(equal[1].times(&equal[0]).unwrap().all_equal);
    let random = outcomes(&["links.wwan1.loss=0.005", "links.wwan2.loss=0.005"], &[1, 2]);
    assert!(!random.iter().any(Outcome::is_one_run));
    let ratios = [0, 1].map(|k| {
        let goodput = |outcome: &Outcome| outcome.results[k].total.goodput_bps;
        goodput(&random[1]) / goodput(&random[0])
    });
    let paired = random[1].times(&random[0]).unwrap();
    assert_eq!((paired.n, paired.mean), (2, f64::midpoint(ratios[0], ratios[1])));
}
