//! Every bad file in `bad/` is refused with the words kept beside it: file, line, key, what was found, what was
//! expected, what to do. `PRISMUX_BLESS=1 cargo test` writes the words anew.
use prismux_scenario::ScenarioFile;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn read(name: &str) -> ScenarioFile {
    let text = fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    ScenarioFile::from_text(format!("{name}.toml"), text)
}

fn compare(name: &str, message: &str) {
    let path = folder().join(format!("{name}.txt"));
    let message = format!("{message}\n");
    if env::var_os("PRISMUX_BLESS").is_some() {
        fs::write(&path, &message).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(message, expected, "message of {name} changed");
}

#[test]
fn every_bad_file_is_refused_with_its_words() {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 12);
    for name in names {
        // What a variant overrides is read when it is chosen.
        let variant = (name == "bad-variant").then_some("striping");
        let error = read(&name).scenario(variant, &[]).expect_err(&name);
        for diagnostic in &error.diagnostics {
            assert!(!diagnostic.expected.is_empty(), "{name}: {diagnostic}");
            assert!(diagnostic.location.starts_with(&format!("{name}.toml:")), "{name}: {diagnostic}");
        }
        compare(&name, &error.to_string());
    }
}

const GOOD: &str = r#"
    duration = "60 s"
    [nodes]
    server = { kind = "host" }
    proxy = { kind = "prism-proxy" }
    m1 = { kind = "member" }
    receiver = { kind = "host" }
    [links]
    backbone = { between = ["server", "proxy"], rate = "100 Mbit/s" }
    wwan1 = { between = ["proxy", "m1"], rate = "1800 kbit/s", delay = "500 ms" }
    wlan1 = { between = ["m1", "receiver"], rate = "11 Mbit/s" }
    [flows]
    download = { from = "server", to = "receiver" }
"#;

#[test]
fn an_override_names_itself_when_it_is_wrong() {
    let file = ScenarioFile::from_text("good.toml", GOOD);
    let message = |set: &str| file.scenario(None, &[set]).unwrap_err().to_string();
    let all = [
        "links.wwan2.delay=900ms",
        "links.wwan1.dealy=900ms",
        "links.wwan1.delay=900",
        "links.wwan1.delay",
        "flows.download.transport=tpc",
        "nonsense=1",
        "links.wwan1.forward={ loss = \"5 percent\" }",
        "links={ wwan1 = { between = [\"proxy\", \"m2\"] } }",
    ];
    let text: Vec<String> = all.iter().map(|set| message(set)).collect();
    compare("overrides", &text.join("\n\n"));
}

#[test]
fn overrides_reach_every_link_by_a_star_and_list_entries_by_number() {
    let file = ScenarioFile::from_text("good.toml", GOOD);
    let scenario = file.scenario(None, &["links.*.queue=7 packets", "links.wwan1.between.1=m1"]).unwrap();
    for link in &scenario.plan.links {
        assert_eq!(link.forward.link.queue, prismux_link::QueueLimit::Packets(7), "{}", link.name);
    }
}

#[test]
fn an_override_that_a_more_specific_key_masks_is_refused_with_that_key() {
    let text = GOOD.replace("delay = \"500 ms\"", "delay = \"500 ms\", forward = { delay = \"700 ms\" }");
    let file = ScenarioFile::from_text("masked.toml", &text);
    for set in ["links.wwan1.delay=900ms", "links.*.delay=900ms"] {
        let error = file.scenario(None, &[set]).unwrap_err().to_string();
        assert!(error.contains("\"links.wwan1.forward.delay\" is set"), "{error}");
        assert!(error.contains("--set links.wwan1.forward.delay=900ms"), "{error}");
    }
    // What masks nothing, and who says both, is understood.
    let link = |set: &[&str]| file.scenario(None, set).unwrap().plan.links.remove(1);
    assert_eq!(
        link(&["links.wwan1.rate=1 Mbit/s"]).forward.link.rate,
        link(&["links.wwan1.rate=1 Mbit/s"]).reverse.link.rate
    );
    let both = link(&["links.wwan1.delay=10ms", "links.wwan1.forward.delay=20ms"]);
    let delays = [both.forward, both.reverse].map(|direction| direction.link.delay.as_millis());
    assert_eq!(delays, [20, 10]);
}
