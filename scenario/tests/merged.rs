//! A scenario with its overrides as one file, which says the same.
use prismux_scenario::{ScenarioFile, hash, shipped};

#[test]
fn every_shipped_scenario_and_variant_reads_back_as_itself() {
    for shipped in shipped::ALL {
        let file = shipped.file();
        let variants = file.variants().unwrap();
        let chosen = variants.iter().map(|variant| Some(variant.name.as_str()));
        for variant in chosen.chain([None]) {
            let before = file.scenario(variant, &["duration=777 s"]).unwrap();
            let text = file.merged(variant, &["duration=777 s"]).unwrap();
            let after = ScenarioFile::from_text(shipped.name, text.clone()).in_folder(None);
            let after =
                after.scenario(None, &[]).unwrap_or_else(|error| panic!("{}: {error}\n{text}", shipped.name));
            assert_eq!(hash(&before.plan), hash(&after.plan), "{} {variant:?}\n{text}", shipped.name);
            assert_eq!(after.summary, before.summary);
            assert_eq!(after.variants.len(), if variant.is_some() { 0 } else { variants.len() });
        }
    }
}

#[test]
fn names_texts_and_numbers_stay_what_they_are() {
    let text = r#"
        duration = "1 s"
        summary = "a \"quoted\" \\ text\twith a tab"
        nodes = { "two words" = { kind = "host" }, b = { kind = "host" } }
        links.wire = { between = ["two words", "b"], rate = "1 Mbit/s", loss = 1e-7 }
        flows.file = { from = "two words", to = "b" }
        events = [{ at = "0.5 s", link = "wire", up = false }]
    "#;
    let file = ScenarioFile::from_text("odd.toml", text);
    let merged = file.merged(None, &["links.wire.delay=5ms"]).unwrap();
    assert!(merged.contains("\n[links]\nwire = { between = [\"two words\", \"b\"]"), "{merged}");
    assert!(merged.contains("delay = \"5ms\"") && merged.contains("loss = 1e-7"), "{merged}");
    let again = ScenarioFile::from_text("odd.toml", merged.clone());
    assert_eq!(again.merged(None, &[]).unwrap(), merged);
    let summary = again.scenario(None, &[]).unwrap().summary;
    assert_eq!(summary, "a \"quoted\" \\ text\twith a tab");
}
