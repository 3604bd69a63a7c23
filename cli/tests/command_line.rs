//! The program as a shell sees it: what it prints, where, and how it exits.
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn prismux(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prismux")).args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder of this test's own, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SHORT: [&str; 4] = ["--set", "duration=5 s", "--set", "events=[]"];

#[test]
fn a_run_prints_the_documented_columns_as_json() {
    let output = prismux(&[&["run", "two-members", "--json", "--seed", "3"], &SHORT[..]].concat());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let result: Value = serde_json::from_str(&out(&output)).unwrap();
    for key in ["scenario", "backend", "seed", "version", "duration_s", "scenario_hash"] {
        assert!(!result[key].is_null(), "{key}");
    }
    assert_eq!(
        (&result["scenario"], &result["backend"], &result["seed"]),
        (&"two-members".into(), &"sim".into(), &3.into())
    );
    let flow = &result["flows"]["download"];
    for key in [
        "transport",
        "goodput_bps",
        "bytes",
        "retransmitted_segments",
        "spurious_retransmissions",
        "timeouts",
    ] {
        assert!(!flow[key].is_null(), "{key}");
    }
    assert!(flow.get("completion_s").is_some());
    for link in ["wwan1", "wwan2"] {
        for key in ["rate_bps", "delivered_bytes", "dropped_packets", "utilization"] {
            assert!(!result["links"][link][key].is_null(), "{link}.{key}");
        }
    }
    for key in ["goodput_bps", "capacity_bps", "efficiency"] {
        assert!(!result["total"][key].is_null(), "{key}");
    }
}

#[test]
fn the_same_seed_prints_the_same_bytes() {
    let run = || prismux(&[&["run", "prism-loss-disparity", "--json"], &SHORT[..]].concat()).stdout;
    assert_eq!(run(), run());
}

#[test]
fn several_runs_give_means_and_every_single_result() {
    let output = prismux(&[&["run", "demo-2005", "--runs", "3", "--json"], &SHORT[..]].concat());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let result: Value = serde_json::from_str(&out(&output)).unwrap();
    let seeds: Vec<u64> =
        result["runs"].as_array().unwrap().iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [1, 2, 3]);
    let goodputs: Vec<f64> = result["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["total"]["goodput_bps"].as_f64().unwrap())
        .collect();
    let mean = goodputs.iter().sum::<f64>() / 3.0;
    let summary = &result["total"]["goodput_bps"];
    assert!((summary["mean"].as_f64().unwrap() - mean).abs() < 1e-6 * mean);
    assert!(summary["ci95"][0].as_f64().unwrap() <= mean && summary["ci95"][1].as_f64().unwrap() >= mean);
}

#[test]
fn tables_for_people_fit_a_hundred_columns() {
    let fairness = prismux(&[&["run", "prism-delay-disparity"], &SHORT[..]].concat());
    let compared = prismux(&[&["compare", "demo-today"], &SHORT[..]].concat());
    let listed = prismux(&["scenarios"]);
    for output in [&fairness, &compared] {
        assert_eq!(code(output), 0, "{}", err(output));
        for line in out(output).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
    assert!(out(&compared).contains("striping") && out(&compared).contains("tcp-prism"));
    assert!(out(&listed).contains("prism-heterogeneity"));
}

#[test]
fn shipped_scenarios_are_listed_with_a_summary() {
    let list: Value = serde_json::from_str(&out(&prismux(&["scenarios", "--json"]))).unwrap();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|line| line["name"].as_str().unwrap()).collect();
    for name in ["prism-delay-disparity", "prism-loss-disparity", "prism-heterogeneity", "prism-aggregation"]
    {
        assert!(names.contains(&name), "{name}");
    }
    assert!(list.as_array().unwrap().iter().all(|line| !line["summary"].as_str().unwrap().is_empty()));
    let text = out(&prismux(&["scenarios", "--show", "two-members"]));
    assert!(text.contains("[links]"));
}

#[test]
fn a_bad_file_is_refused_by_line_with_exit_code_2() {
    let folder = Folder::new("bad-file");
    let path = folder.path("bad.toml");
    let good = out(&prismux(&["scenarios", "--show", "two-members"]));
    fs::write(&path, good.replace("delay = \"70 ms\"", "dealy = \"70 ms\"")).unwrap();
    let line = 1 + good.lines().position(|line| line.contains("delay = \"70 ms\"")).unwrap();
    for command in ["check", "run"] {
        let output = prismux(&[command, &path]);
        assert_eq!(code(&output), 2);
        let message = err(&output);
        assert!(
            message.contains(&format!("bad.toml:{line}:"))
                && message.contains("dealy")
                && message.contains("delay"),
            "{message}"
        );
        assert!(out(&output).is_empty());
    }
    let output = prismux(&["check", &path, "two-members", "--json"]);
    assert_eq!(code(&output), 2);
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&report[0]["good"], &report[1]["good"]), (&false.into(), &true.into()));
    assert_eq!(report[0]["errors"][0]["line"], line);
}

#[test]
fn usage_errors_exit_with_2_and_good_files_with_0() {
    assert_eq!(code(&prismux(&["check", "two-members", "demo-2005"])), 0);
    for wrong in [
        &["run", "no-such-scenario"][..],
        &["run", "two-members", "--set", "links.wwan3.delay=1ms"],
        &["run", "two-members", "--on", "moon"],
        &["run", "two-members", "--runs", "0"],
        &["run", "two-members", "--runs", "2", "--pcap", "x"],
        &["compare", "two-members", "--variants", "nonsense"],
        &["reproduce", "nonsense"],
        &["reproduce", "prism", "--only", "PR-999"],
        &["reproduce", "queueing", "--only", "T1"],
        &["reproduce", "prism", "--out", "x"],
        &["nonsense"],
    ] {
        let output = prismux(wrong);
        assert_eq!(code(&output), 2, "{wrong:?}: {}", err(&output));
        assert!(
            !err(&output).is_empty() && !err(&output).contains("panicked"),
            "{wrong:?}: {}",
            err(&output)
        );
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let commands =
        ["run", "check", "scenarios", "compare", "reproduce", "proxy", "member", "status", "doctor", "demo"];
    for command in commands {
        let output = prismux(&[command, "--help"]);
        assert_eq!(code(&output), 0);
        assert!(
            out(&output).contains("Example") && out(&output).contains(&format!("prismux {command}")),
            "{command}"
        );
    }
}

#[test]
fn captures_and_event_logs_are_written() {
    let folder = Folder::new("traces");
    let (captures, events) = (folder.path("captures"), folder.path("events.jsonl"));
    let arguments = ["run", "two-members", "--pcap", &captures, "--events", &events];
    let output = prismux(&[&arguments[..], &SHORT[..]].concat());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let capture = fs::read(folder.0.join("captures/two-members-seed1.pcapng")).unwrap();
    // Section header block, little-endian byte-order magic.
    assert_eq!(&capture[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert_eq!(&capture[8..12], [0x4d, 0x3c, 0x2b, 0x1a]);
    let text = fs::read_to_string(&events).unwrap();
    assert!(text.lines().count() > 100);
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_prismux"))
        .args(["scenarios", "--show", "dumbbell-s1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((status.code(), message.as_str()), (Some(0), ""));
}

#[test]
fn claims_are_judged_and_reported_as_json() {
    let output = prismux(&["reproduce", "prism", "--only", "PR-060", "--json"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    let energy = &report["claims"][0];
    assert_eq!(energy["id"], "PR-060");
    assert_eq!((&energy["reported"], &energy["verdict"]), (&1275.0.into(), &"holds".into()));
    assert!((energy["measured"].as_f64().unwrap() - 1269.3).abs() < 0.1);
    assert!(energy.get("ci95").is_some() && energy.get("cause").is_some());
    let output = prismux(&["reproduce", "prism", "--only", "PR-060", "--markdown"]);
    let page = out(&output);
    assert!(page.starts_with("1 of 1 by arithmetic or read back hold.\n"), "{page}");
    assert!(page.contains("| PR-060 | sim | energy | ~ 1275 J | 1269 | arithmetic | holds |"), "{page}");
}

#[test]
fn all_systems_answer_together_and_an_experiment_can_be_named() {
    let output = prismux(&["reproduce", "all", "--only", "d2,PR-060", "--quick", "--json"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    let claims = report["claims"].as_array().unwrap();
    let named: Vec<[&str; 2]> =
        claims.iter().map(|c| ["system", "id"].map(|key| c[key].as_str().unwrap())).collect();
    assert_eq!(named, [["prism", "PR-060"], ["tcp-ho", "HO-005"]]);
    let tables = report["series"].as_array().unwrap();
    let experiment = |entry: &Value| entry["table"]["experiment"].as_str().unwrap().to_string();
    assert!(tables.iter().any(|t| t["system"] == "tcp-ho" && experiment(t).starts_with("D2 ")));
}

#[test]
fn a_claim_about_the_design_of_a_study_needs_no_run() {
    let output = prismux(&["reproduce", "tcp-door", "--only", "TD-017", "--json"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (&report["claims"][0]["measured"], &report["claims"][0]["verdict"]),
        (&56.0.into(), &"holds".into())
    );
    let kinds = &report["totals"][0]["kinds"];
    assert_eq!(
        (&report["claims"][0]["kind"], &kinds["read-back"]["holds"]),
        (&"read-back".into(), &1.into())
    );
    assert_eq!(kinds["measured"]["claims"], 0);
}

#[test]
fn daemons_refuse_a_bad_configuration_and_status_says_who_is_missing() {
    let folder = Folder::new("daemons");
    let path = folder.path("proxy.toml");
    fs::write(&path, "receivers = [\"10.77.0.2\"]\ntokn = \"x\"\n").unwrap();
    let output = prismux(&["proxy", "--config", &path]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("proxy.toml:2:"), "{}", err(&output));
    let output = prismux(&["status", "--socket", &folder.path("nobody.sock")]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("no daemon answers"), "{}", err(&output));
}

#[test]
fn a_recorded_run_becomes_a_page_that_needs_nothing_else() {
    let folder = Folder::new("view");
    let (record, page) = (folder.path("record"), folder.path("page"));
    let arguments = ["run", "two-members", "--record", &record];
    let output = prismux(&[&arguments, &SHORT[..]].concat());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let output = prismux(&["view", &record, &record, "--export", &page]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert_eq!(out(&output).trim(), format!("{page}/index.html"));
    assert!(err(&output).contains("events in"), "{}", err(&output));
    let text = fs::read_to_string(format!("{page}/index.html")).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("two-members") && !text.contains("http://"));
}

#[test]
fn what_cannot_be_viewed_is_refused_with_a_remedy() {
    let folder = Folder::new("no-view");
    let (foreign, none) = (folder.path("foreign.csv"), folder.path("none"));
    fs::write(&foreign, "time,rate\n1,2\n").unwrap();
    for (file, expected, exit) in [(&foreign, "is no record of a run", 2), (&none, "cannot read", 1)] {
        let output = prismux(&["view", file, "--no-open"]);
        assert_eq!(code(&output), exit, "{}", err(&output));
        assert!(err(&output).contains(expected) && err(&output).contains("remedy:"), "{}", err(&output));
    }
    let output = prismux(&["run", "two-members", "--runs", "2", "--record", &none]);
    assert_eq!(code(&output), 2, "{}", err(&output));
}

#[test]
fn a_rough_cell_is_a_scenario_file_that_runs_as_the_cell_does() {
    let few = ["--quick", "--seconds", "5"];
    let several = prismux(&["rough", "--only", "b-outage", "--scenario"]);
    assert_eq!(code(&several), 2, "{}", err(&several));
    assert!(err(&several).contains("--only"), "{}", err(&several));
    let traced = prismux(&["rough", "--only", "lte-16+5", "--scenario"]);
    assert_eq!((code(&traced), err(&traced).contains("traces")), (2, true), "{}", err(&traced));

    let folder = Folder::new("rough-cell");
    let file = folder.path("b-rate-1s.toml");
    let text = prismux(&[&["rough", "--only", "b-rate-1s", "--scenario"], &few[..]].concat());
    fs::write(&file, out(&text)).unwrap();
    let run = prismux(&["run", &file, "--json"]);
    assert_eq!(code(&run), 0, "{}", err(&run));
    let run: Value = serde_json::from_str(&out(&run)).unwrap();
    let cell = prismux(&[&["rough", "--only", "b-rate-1s", "--json"], &few[..]].concat());
    let cell: Value = serde_json::from_str(&out(&cell)).unwrap();
    let outcomes = cell["cells"][0]["outcomes"].as_array().unwrap();
    let prism = outcomes.iter().find(|outcome| outcome["way"] == "prism").unwrap();
    assert_eq!(prism["goodput_bps"][0], run["flows"]["download"]["goodput_bps"]);
}

#[test]
fn rough_holds_a_download_against_the_best_link_and_refuses_what_it_does_not_know() {
    let listed = prismux(&["rough", "--list", "--only", "b-outage-1"]);
    assert_eq!((code(&listed), out(&listed).matches("\nb-outage-1-").count()), (0, 4), "{}", out(&listed));
    let unknown = prismux(&["rough", "--only", "b-outrage"]);
    assert!(code(&unknown) == 2 && err(&unknown).contains("--list"), "{}", err(&unknown));
    let kernels = prismux(&["rough", "--ways", "mptcp-bbr"]);
    assert!(code(&kernels) == 2 && err(&kernels).contains("--on lab"), "{}", err(&kernels));
    let quick = ["--quick", "--seconds", "5", "--json"];
    let folder = Folder::new("rough");
    for (name, seed) in [("one", "1"), ("two", "2")] {
        for way in ["down", "up"] {
            let trace = prismux(&["trace", "lte", "--rate", "8Mbit/s", "--seconds", "10", "--seed", seed]);
            fs::write(folder.path(&format!("{name}.{way}")), out(&trace)).unwrap();
        }
    }
    let traces = folder.0.to_string_lossy().into_owned();
    let output = prismux(&[&["rough", "--traces", &traces, "--only", "trace-"], &quick[..]].concat());
    assert_eq!(code(&output), 0, "{}", err(&output));
    let result: Value = serde_json::from_str(&out(&output)).unwrap();
    let cell = &result["cells"][0];
    assert_eq!((&cell["name"], &cell["ways"][0]["way"]), (&"trace-one+two".into(), &"prism".into()));
    let of_best = cell["ways"][0]["of_best_single"]["mean"].as_f64().unwrap();
    let alone = cell["best_single_bps"]["mean"].as_f64().unwrap();
    assert!(of_best > 0.0 && alone > 1e6 && alone < cell["capacity_bps"].as_f64().unwrap(), "{cell}");
}

/// One transfer over one link, in which nothing is random.
const CALM: &str = r#"
    duration = "2 s"
    nodes = { a = { kind = "host" }, b = { kind = "host" } }
    links.wire = { between = ["a", "b"], rate = "1 Mbit/s", delay = "20 ms" }
    flows.file = { from = "a", to = "b", bytes = "50 kB" }
    [variants.near]
    links.wire.delay = "10 ms"
    [variants.far]
    links.wire.delay = "40 ms"
"#;

#[test]
fn repetitions_that_are_all_equal_are_said_to_be_one_run() {
    let folder = Folder::new("one-run");
    let file = folder.path("calm.toml");
    fs::write(&file, CALM).unwrap();
    for command in ["run", "compare"] {
        let calm = out(&prismux(&[command, &file, "--runs", "3"]));
        assert!(calm.contains("one run, repeated 3 times") && !calm.contains('±'), "{calm}");
        let random = out(&prismux(&[command, &file, "--runs", "3", "--set", "links.wire.loss=0.1"]));
        assert!(!random.contains("one run") && random.contains('±'), "{random}");
    }
    let json = |set: &str| -> Value {
        let output = prismux(&["compare", &file, "--runs", "2", "--set", set, "--json"]);
        serde_json::from_str(&out(&output)).unwrap()
    };
    let calm = json("links.wire.loss=0");
    assert_eq!(calm["variants"][0]["one_run"], true);
    assert!(calm["variants"][0]["goodput_bps"]["ci95"].is_null());
    let random = json("links.wire.loss=0.1");
    assert_eq!(random["variants"][0]["one_run"], false);
    assert!(random["variants"][1]["times_first"]["ci95"].is_array());
}

#[test]
fn a_sweep_fails_on_a_knob_without_effect_and_on_rows_of_an_edited_file() {
    let folder = Folder::new("sweep");
    let (file, target) = (folder.path("calm.toml"), folder.path("runs.parquet"));
    fs::write(&file, CALM).unwrap();
    let sweep =
        |more: &[&str]| prismux(&[&["sweep", &file, "--out", &target, "--seeds", "2"], more].concat());
    let inert = sweep(&["--over", "links.wire.queue=60 packets,70 packets"]);
    assert_eq!(code(&inert), 1);
    assert!(err(&inert).contains("links.wire.queue changes nothing"), "{}", err(&inert));
    assert!(out(&inert).contains("each point: one run, repeated 2 times"), "{}", out(&inert));
    let delays = ["--over", "links.wire.delay=10ms,20ms"];
    let mixed = sweep(&delays);
    assert_eq!(code(&mixed), 1);
    assert!(err(&mixed).contains("4 rows there are of other experiments"), "{}", err(&mixed));
    let pruned = sweep(&[&delays[..], &["--prune"]].concat());
    assert_eq!(code(&pruned), 0, "{}", err(&pruned));
    assert!(out(&pruned).contains("(4 rows)"), "{}", out(&pruned));
}

#[test]
fn a_scenario_with_its_overrides_is_printed_as_a_file_of_the_same_experiment() {
    let folder = Folder::new("merged");
    let path = folder.path("mine.toml");
    let chosen = ["--variant", "vanilla", "--set", "links.wwan2.forward.delay=900ms"];
    let merged = prismux(&[&["check", "prism-delay-disparity", "--merged"], &chosen[..]].concat());
    fs::write(&path, &merged.stdout).unwrap();
    let checked = |arguments: &[&str]| -> Value {
        let output = prismux(&[&["check", "--json"], arguments].concat());
        assert_eq!(code(&output), 0, "{}{}", out(&output), err(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()[0]["scenario_hash"].clone()
    };
    assert_eq!(checked(&[&path]), checked(&[&["prism-delay-disparity"], &chosen[..]].concat()));
    assert_ne!(checked(&[&path]), checked(&["prism-delay-disparity"]));
}
