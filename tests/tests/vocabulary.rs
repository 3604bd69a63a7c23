//! No event without somebody who tells it and somebody who reads it, and no reason for a drop without somebody who
//! has it.
use prismux_house::rust_source::words;
use prismux_house::workspace::{is_test_code, rust_sources};
use prismux_trace::event::{DropReason, EventKind};
use std::path::Path;

/// Where events are told: the hosts, and what describes a run.
const TELLERS: &[&str] = &[
    "network/simulator/src",
    "lab/src",
    "daemons/src",
    "protocols/prism-trace/src",
    "study/src",
    "scenario/src",
];
/// Where all events are read.
const READER: &str = "view/src/build.rs";

/// Product code below the folders, with comments, texts and tests blanked.
fn product_code(folders: &[&str]) -> Vec<(String, Vec<String>)> {
    rust_sources()
        .into_iter()
        .filter(|(path, _)| folders.iter().any(|folder| path.starts_with(folder)) && !is_test_code(path))
        .map(|(path, source)| {
            let product = source.split("#[cfg(test)]").next().unwrap_or_default().to_string();
            (path.display().to_string(), words(&product))
        })
        .collect()
}

/// Whether `first::second` stands in the words of some file.
fn names(code: &[(String, Vec<String>)], first: &str, second: &str) -> bool {
    code.iter().any(|(_, words)| words.windows(2).any(|pair| pair == [first, second]))
}

#[test]
fn every_event_is_told_by_a_host_and_read_by_the_viewer() {
    let (tellers, reader) = (product_code(TELLERS), product_code(&[READER]));
    assert!(!reader.is_empty() && Path::new(READER).extension().is_some());
    let mut complaints = Vec::new();
    for kind in EventKind::ALL {
        let variant = format!("{kind:?}");
        if !names(&tellers, "Event", &variant) {
            complaints.push(format!("`{kind}` is told by nobody below {TELLERS:?}"));
        }
        if !names(&reader, "EventKind", &variant) {
            complaints.push(format!("`{kind}` is not read by {READER}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_reason_for_a_drop_has_a_host_that_drops_for_it() {
    let tellers = product_code(TELLERS);
    let unused: Vec<_> = DropReason::ALL
        .iter()
        .filter(|reason| !names(&tellers, "DropReason", &format!("{reason:?}")))
        .map(|reason| reason.name())
        .collect();
    assert!(unused.is_empty(), "no host drops for {unused:?}");
}
