//! The project speaks of itself alone: of no machine it was written on, no service it was fetched from, no work left
//! over.
use prismux_house::workspace::{files, read};
use std::path::Path;

/// What no file may say. Each is written in two pieces, so that this list does not match itself.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("/wo", "rk/", "a path of somebody's machine"),
    ("/ro", "ot/", "a path of somebody's machine"),
    ("/home", "/", "a path of somebody's machine"),
    ("/Us", "ers/", "a path of somebody's machine"),
    ("/tmp", "/target", "a path of somebody's machine"),
    ("crates", ".io", "a package registry's host"),
    ("pypi", ".org", "a package registry's host"),
    ("pythonhosted", ".org", "a package registry's host"),
    ("npmjs", ".com", "a package registry's host"),
    ("npmjs", ".org", "a package registry's host"),
    ("proxy.golang", ".org", "a package registry's host"),
    ("TO", "DO", "work left over"),
    ("FIX", "ME", "work left over"),
    ("XX", "X", "work left over"),
    ("issue ", "#", "the number of a ticket"),
];

/// Written by tools, which name their registries.
const WRITTEN_BY_TOOLS: &[&str] = &["Cargo.lock", "fuzz/Cargo.lock"];

#[test]
fn no_file_speaks_of_the_machine_it_was_written_on() {
    let mut complaints = Vec::new();
    for path in files() {
        // What looks like letters in a picture is chance.
        let is_picture = path.extension().is_some_and(|extension| extension == "png");
        if is_picture || WRITTEN_BY_TOOLS.iter().any(|tool| path == Path::new(tool)) {
            continue;
        }
        let text = read(&path);
        for (number, line) in text.lines().enumerate() {
            for (head, tail, what) in FORBIDDEN {
                if line.contains(&format!("{head}{tail}")) {
                    complaints.push(format!("{}:{}: names {what}: {line}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
