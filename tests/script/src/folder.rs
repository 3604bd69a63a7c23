//! Folders of scripts: one for each mechanism, one file for each rule.
use crate::play::{Subject, play};
use std::fs;
use std::path::{Path, PathBuf};

/// The names of everything in `folder`, sorted.
///
/// # Panics
/// When it cannot be read.
pub fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a directory entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// Plays every script of the folder `name` below `cases`.
///
/// # Panics
/// When there is none, or when any fails: with all that do, and why.
pub fn play_folder<S: Subject>(cases: &Path, name: &str) {
    let files: Vec<PathBuf> =
        folders(&cases.join(name)).iter().map(|file| cases.join(name).join(file)).collect();
    assert!(!files.is_empty(), "no scripts in {name}");
    let mut failures = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if let Err(error) = play::<S>(&text) {
            failures.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), files.len(), failures.join("\n"));
}

/// One test for each folder below `tests/scripts/cases` of the crate that calls it, and one that no folder is left out:
///
/// ```ignore
/// prismux_script::scripts! { Machine;
///     handshake: "handshake",
///     persist: "persist",
/// }
/// ```
#[macro_export]
macro_rules! scripts {
    ($subject:ty; $($test:ident: $folder:literal,)*) => {
        fn cases() -> std::path::PathBuf {
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/cases")
        }

        $(#[test] fn $test() { $crate::play_folder::<$subject>(&cases(), $folder); })*

        #[test]
        fn every_folder_of_scripts_is_played() {
            let mut played = vec![$($folder),*];
            played.sort_unstable();
            assert_eq!($crate::folders(&cases()), played);
        }
    };
}
