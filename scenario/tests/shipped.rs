//! Every shipped scenario, and every variant it declares, is one.
use prismux_scenario::{Scenario, hash, shipped};

fn all() -> Vec<(String, Scenario)> {
    let mut all = Vec::new();
    for shipped in shipped::ALL {
        let file = shipped.file();
        let scenario = file.scenario(None, &[]).unwrap_or_else(|error| panic!("{}\n{error}", shipped.name));
        for variant in &scenario.variants {
            let name = format!("{}/{}", shipped.name, variant.name);
            let variant =
                file.scenario(Some(&variant.name), &[]).unwrap_or_else(|error| panic!("{name}\n{error}"));
            all.push((name, variant));
        }
        all.push((shipped.name.to_string(), scenario));
    }
    all
}

#[test]
fn shipped_scenarios_and_their_variants_are_readable_and_described() {
    assert!(shipped::ALL.len() >= 17);
    for (name, scenario) in all() {
        assert!(
            !scenario.summary.is_empty() && scenario.summary.len() <= 100,
            "{name}: {}",
            scenario.summary
        );
        let has_capacity = !scenario.plan.shared_links().is_empty() || !scenario.plan.media.is_empty();
        assert!(has_capacity, "{name} has no link that counts as capacity, and no air");
    }
}

#[test]
fn equal_experiments_have_equal_hashes_and_others_do_not() {
    let file = shipped::find("prism-delay-disparity").unwrap().file();
    let hashes: Vec<String> = ["500ms", "500 ms", "501 ms"]
        .iter()
        .map(|delay| {
            hash(&file.scenario(None, &[&format!("links.wwan2.forward.delay={delay}")]).unwrap().plan)
        })
        .collect();
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
    assert_eq!(hashes[0].len(), 64);
}

#[test]
fn a_plan_that_says_nothing_of_later_settings_has_the_hash_that_it_had_before_them() {
    for (name, set, expected) in [
        ("adhoc-tcp", "", "fba11549aef15e4b9e650f90e6950a25ff1971c84a40cb5ef379237b2dc44e50"),
        (
            "adhoc-cell",
            "routing.protocol=aodv",
            "7af78ffc8fcd940ebc68e825072b817dfe144197f47526d9dffcd67c98f43276",
        ),
        ("tcp-door-ad-hoc", "", "7ed0c887087c73f11f99bd036605c9838e0200872fef5a33002cafbcc430515f"),
    ] {
        let sets = [set];
        let sets = if set.is_empty() { &[] } else { &sets[..] };
        let plan = shipped::find(name).unwrap().file().scenario(None, sets).unwrap().plan;
        assert_eq!(hash(&plan), expected, "{name}");
    }
}
