//! The page of mechanisms and the tree say the same: what the page names exists, and no folder of scripts is missing.
use prismux_house::workspace::{files, read, root};
use std::collections::BTreeSet;
use std::path::Path;

/// A row of a table on the page: a mechanism, the script that shows it, its source.
struct Row {
    line: usize,
    script: String,
    source: String,
}

/// The rows of the page, with full paths: the sentence above a table says in which folders its scripts and sources lie.
fn rows(page: &str) -> Vec<Row> {
    let (mut scripts, mut sources, mut rows) = (String::new(), String::new(), Vec::new());
    for (index, line) in page.lines().enumerate() {
        let named: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if let (true, [folder, source_folder, ..]) = (line.starts_with("Scripts in `"), named.as_slice()) {
            (scripts, sources) = ((*folder).to_owned(), (*source_folder).to_owned());
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [_, _, script, source] = cells.as_slice()
            && script.starts_with('`')
        {
            let (script, source) = (script.trim_matches('`'), source.trim_matches('`'));
            let script = format!("{scripts}/{script}.txt");
            rows.push(Row { line: index + 1, script, source: format!("{sources}/{source}") });
        }
    }
    rows
}

/// The folders of scripts of all protocols.
fn script_folders() -> BTreeSet<String> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let of_scripts = |folder: &String| folder.contains("/tests/scripts/cases/");
    files().iter().filter_map(|file| file.parent().and_then(text)).filter(of_scripts).collect()
}

#[test]
fn every_script_and_source_of_the_page_exists() {
    let rows = rows(&read(Path::new("docs/mechanisms.md")));
    assert!(rows.len() >= 40, "{} rows", rows.len());
    let is_missing = |path: &String| !root().join(path).is_file();
    let missing: Vec<String> = rows
        .iter()
        .flat_map(|row| [(row.line, &row.script), (row.line, &row.source)])
        .filter(|(_, path)| is_missing(path))
        .map(|(line, path)| format!("docs/mechanisms.md:{line}: {path}"))
        .collect();
    assert!(missing.is_empty(), "not in the tree:\n{}", missing.join("\n"));
}

#[test]
fn every_folder_of_scripts_is_on_the_page_or_in_the_page_of_its_crate() {
    let rows = rows(&read(Path::new("docs/mechanisms.md")));
    let is_shown = |folder: &String| {
        let on_the_page = rows.iter().any(|row| row.script.starts_with(&format!("{folder}/")));
        let (krate, name) = folder.split_once("/tests/scripts/cases/").expect("a folder of scripts");
        let page = Path::new(krate).join("README.md");
        on_the_page || root().join(&page).is_file() && read(&page).contains(&format!("`{name}/"))
    };
    let missing: Vec<String> = script_folders().into_iter().filter(|folder| !is_shown(folder)).collect();
    assert!(missing.is_empty(), "no row shows a script of these folders:\n{}", missing.join("\n"));
}

#[test]
fn a_row_is_read_with_its_folders() {
    let page = "Scripts in `a/cases`, sources in `a/src`.\n\n| m | RFC 1 | `f/x` | `y.rs` |";
    let rows = rows(page);
    let [row] = rows.as_slice() else { panic!("one row, not {}", rows.len()) };
    assert_eq!((row.line, row.script.as_str(), row.source.as_str()), (3, "a/cases/f/x.txt", "a/src/y.rs"));
}
