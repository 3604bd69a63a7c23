//! Small where it hurts: functions to 70 lines, files near 400 and never past 800.
//!
//! What is larger today stands in `size-ratchet.txt` with its size; it may shrink and must not grow.
use prismux_house::rust_source::functions;
use prismux_house::workspace::{is_test_code, read, rust_sources};
use std::collections::BTreeMap;
use std::path::Path;

const MAX_FUNCTION_LINES: usize = 70;
const AIM_FILE_LINES: usize = 400;
const MAX_FILE_LINES: usize = 800;
const MAX_COLUMNS: usize = 120;

/// Names and sizes of the functions and product files past their aim.
fn oversized() -> BTreeMap<String, usize> {
    let mut oversized = BTreeMap::new();
    for (path, source) in rust_sources() {
        let (path_text, lines) = (path.display().to_string(), source.lines().count());
        if lines > AIM_FILE_LINES && !is_test_code(&path) {
            oversized.insert(path_text.clone(), lines);
        }
        for function in functions(&source) {
            if function.lines > MAX_FUNCTION_LINES {
                oversized.insert(format!("{path_text}::{}", function.name), function.lines);
            }
        }
    }
    oversized
}

fn ratchet() -> BTreeMap<String, usize> {
    let text = read(Path::new("tests/house/size-ratchet.txt"));
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let (size, name) = line.trim().split_once(' ').expect("lines are `SIZE NAME`");
            (name.trim().to_string(), size.parse().expect("lines are `SIZE NAME`"))
        })
        .collect()
}

#[test]
fn no_file_passes_800_lines() {
    for (path, source) in rust_sources() {
        let lines = source.lines().count();
        assert!(lines <= MAX_FILE_LINES, "{} has {lines} lines: split it by idea", path.display());
    }
}

#[test]
fn no_line_passes_120_columns() {
    let mut complaints = Vec::new();
    for (path, source) in rust_sources() {
        for (number, line) in
            source.lines().enumerate().filter(|(_, line)| line.chars().count() > MAX_COLUMNS)
        {
            complaints.push(format!("{}:{}: {line}", path.display(), number + 1));
        }
    }
    assert!(complaints.is_empty(), "longer than {MAX_COLUMNS} columns:\n{}", complaints.join("\n"));
}

#[test]
fn nothing_large_grows_and_nothing_new_becomes_large() {
    let (now, allowed) = (oversized(), ratchet());
    let mut complaints = Vec::new();
    for (name, size) in &now {
        match allowed.get(name) {
            None => {
                complaints.push(format!("{name} has {size} lines: split it (functions to 70, files to 400)"))
            }
            Some(limit) if size > limit => {
                complaints.push(format!("{name} grew from {limit} to {size} lines"))
            }
            Some(_) => {}
        }
    }
    for (name, limit) in &allowed {
        match now.get(name) {
            None => complaints
                .push(format!("{name} is small now: take its line out of tests/house/size-ratchet.txt")),
            Some(size) if size < limit => {
                complaints.push(format!(
                    "{name} shrank to {size} lines: lower its {limit} in tests/house/size-ratchet.txt"
                ));
            }
            Some(_) => {}
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
