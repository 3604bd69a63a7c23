//! Packet scripts: one file per behaviour under `cases/`, one test per mechanism. The language is described
//! in `parse.rs`.
mod parse;
mod run;

use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/cases")
}

fn scripts_in(folder: &str) -> Vec<PathBuf> {
    let folder = cases().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn play(folder: &str) {
    let mut failures = Vec::new();
    let files = scripts_in(folder);
    assert!(!files.is_empty(), "no scripts in {folder}");
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(cases()).unwrap().display();
        if let Err(error) = parse::parse(&text).and_then(|script| run::run(&script)) {
            failures.push(format!("{name}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

macro_rules! mechanisms {
    ($($test:ident: $folder:literal,)*) => {
        $(#[test] fn $test() { play($folder); })*
        const FOLDERS: &[&str] = &[$($folder),*];
    };
}

mechanisms! {
    handshake: "handshake",
    options: "options",
    timestamps: "timestamps",
    acceptability: "acceptability",
    reset_and_challenge: "reset-and-challenge",
    delayed_ack: "delayed-ack",
    reassembly_and_sack: "reassembly-and-sack",
    receive_window: "receive-window",
    zero_window_and_persist: "persist",
    nagle_and_silly_windows: "nagle",
    closing: "closing",
    keep_alive: "keep-alive",
    polling: "polling",
    ecn: "ecn",
    retransmission: "retransmission",
    profiles: "profiles",
}

#[test]
fn every_folder_of_scripts_is_played() {
    let mut found: Vec<String> = fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut played: Vec<&str> = FOLDERS.to_vec();
    played.sort_unstable();
    assert_eq!(found, played);
    let count: usize = FOLDERS.iter().map(|folder| scripts_in(folder).len()).sum();
    assert!(count >= 60, "{count} scripts");
}
