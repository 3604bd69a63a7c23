//! What a shell reads when a command was given something that does not exist or cannot be: what is wrong, and what
//! would do.
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// Exit code and standard error of a command that must fail.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_prismux")).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!message.contains("panicked"), "{message}");
    (output.status.code().unwrap(), message)
}

/// Fails unless the command ends with `code` and says all of `words`.
fn says(arguments: &[&str], code: i32, words: &[&str]) {
    let (ended, message) = refused(arguments);
    let missing: Vec<&&str> = words.iter().filter(|word| !message.contains(**word)).collect();
    assert!(
        ended == code && missing.is_empty(),
        "{arguments:?} ended with {ended}, lacks {missing:?}: {message}"
    );
}

#[test]
fn seeds_and_counts_below_the_least_are_told_their_range() {
    for command in [&["run"][..], &["compare"], &["sweep"], &["mixes"]] {
        let scenario: &[&str] = if command == ["mixes"] { &[] } else { &["two-members"] };
        for value in [&["--seed", "-1"][..], &["--seed=-1"], &["--seed", "1.5"], &["--seed", "one"]] {
            says(&[command, scenario, value].concat(), 2, &["--seed", "seeds are whole numbers from 0 to"]);
        }
    }
    for (command, option) in [("run", "--runs"), ("compare", "--runs"), ("sweep", "--seeds")] {
        for value in ["-1", "0", "many"] {
            says(&[command, "two-members", option, value], 2, &[option, "a whole number from 1 to 1000000"]);
        }
    }
}

#[test]
fn more_workers_than_processors_are_refused() {
    for command in [&["up"][..], &["proxy", "--config", "proxy.toml"], &["member", "--config", "member.toml"]]
    {
        says(&[command, &["--workers", "65"]].concat(), 2, &["65 are too many, expected 64 at most"]);
        says(&[command, &["--workers", "many"]].concat(), 2, &["it is no number"]);
    }
}

#[test]
fn an_unknown_variant_is_told_which_there_are() {
    let built_in =
        "single, striping, mptcp, prism or tcp-prism (from \"single\" on also with -cubic, -newreno or -bbr)";
    says(&["compare", "two-members", "--variants", "nosuch"], 2, &["\"nosuch\"", built_in]);
    says(
        &["compare", "prism-delay-disparity", "--variants", "nosuch"],
        2,
        &["linux24-newreno, single, striping"],
    );
    says(&["compare", "r2cp-rates", "--variants", "nosuch"], 2, &["expected: r2cp, r2cp-s or dealt\n"]);
    says(&["compare", "two-members", "--variants", "prsim"], 2, &["did you mean \"prism\"?"]);
    says(&["compare", "two-members", "--variants", "prismatic"], 2, &["there is no variant \"prismatic\""]);
    says(
        &["sweep", "two-members", "--variants", "prism"],
        2,
        &["the file has none of its own", "`prismux compare`"],
    );
    // No TCP through a proxy: what is built in has nothing to work on.
    says(
        &["compare", "r2cp-rates", "--variants", "prism-bbr"],
        2,
        &["needs a TCP flow through a prism-proxy"],
    );
}

#[test]
fn a_claim_that_is_none_is_told_the_nearest() {
    says(
        &["reproduce", "prism", "--only", "PR-70"],
        2,
        &["PR-001 to PR-069", "the nearest are PR-069, PR-068"],
    );
    says(&["reproduce", "prism", "--only", "PR-1"], 2, &["did you mean \"PR-001\"?"]);
}

#[test]
fn a_range_that_leads_nowhere_is_told_what_does() {
    let over = "links.wwan2.delay=900ms..500ms/50ms";
    let remedy = "\"500ms..900ms/50ms\" or \"900ms..500ms/-50ms\"";
    says(&["sweep", "two-members", "--over", over], 2, &["\"900ms..500ms\" falls", remedy]);
}

#[test]
fn a_full_disk_is_named_with_its_file() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("full-disk");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let full = |name: &str| {
        let path = folder.join(name);
        symlink("/dev/full", &path).unwrap();
        path.to_string_lossy().into_owned()
    };
    let run = |option: &str, value: &str| {
        let short = ["--set", "duration=5 s", "--set", "events=[]"];
        [&["run", "two-members", option, value], &short[..]].concat().iter().map(|s| s.to_string()).collect()
    };
    let told = |arguments: Vec<String>, path: &str| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        says(&arguments, 1, &[&format!("cannot write {path}: No space left on device")]);
    };
    let (capture, events) = (full("two-members-seed1.pcapng"), full("events.jsonl"));
    told(run("--pcap", &folder.to_string_lossy()), &capture);
    told(run("--events", &events), &events);
    let file: Vec<String> = run("--pcap", &events);
    let file: Vec<&str> = file.iter().map(String::as_str).collect();
    says(&file, 1, &["cannot write", "it is there, and no folder"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_host_of_an_ad_hoc_network_is_told_what_it_lacks() {
    let route = |protocol: &'static str, address: &'static str, radio: &'static str| {
        ["route", "--protocol", protocol, "--address", address, "--radio", radio]
    };
    says(
        &route("ospf", "10.9.0.3/16", "wlan0"),
        2,
        &["\"ospf\"", "expected one of dsr,", "aodv-ns2", "dsdv-ns2", "dsdv-sq"],
    );
    for address in ["10.9.0.3", "10.9.0.0/16", "10.9.255.255/16", "224.0.0.5/4", "fd00::3/64", "there"] {
        says(&route("dsr", address, "wlan0"), 2, &["--address", "such as"]);
    }
    says(&route("dsr", "10.9.0.3/16", "udp:10"), 2, &["--radio", "such as wlan0"]);
    let hello = [&route("dsr", "10.9.0.3/16", "wlan0")[..], &["--hello"]].concat();
    says(&hello, 2, &["\"dsr\" has no hello messages, AODV has"]);
}
