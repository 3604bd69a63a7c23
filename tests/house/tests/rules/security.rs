//! The page of security and the tree say the same: each finding has a cure, and tests that exist.
use prismux_house::workspace::{read, rust_sources};
use std::collections::BTreeSet;
use std::path::Path;

/// How many findings the audit had.
const FINDINGS: usize = 27;

#[test]
fn every_finding_names_tests_that_exist() {
    let page = read(Path::new("docs/security.md"));
    let table = page.split("## Findings").nth(1).and_then(|rest| rest.split("\n## ").next());
    let sources = rust_sources();
    let exists = |name: &str| {
        let [function, listed] = [format!("fn {name}()"), format!("\"{name}\"")];
        sources.iter().any(|(_, text)| text.contains(&function) || text.contains(&listed))
    };
    let (mut numbers, mut missing) = (BTreeSet::new(), Vec::new());
    for line in table.expect("a section of findings").lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [finding, cure, tests] = cells.as_slice() else { panic!("three cells, not {line}") };
        let Some(number) = finding.split(' ').next().and_then(|name| name.get(1..)?.parse::<usize>().ok())
        else {
            continue;
        };
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!cure.is_empty() && !named.is_empty(), "{finding}: no cure, or no test");
        missing
            .extend(named.into_iter().filter(|name| !exists(name)).map(|name| format!("{finding}: {name}")));
        numbers.insert(number);
    }
    assert_eq!(numbers, (1..=FINDINGS).collect());
    assert!(missing.is_empty(), "tests that do not exist:\n{}", missing.join("\n"));
}
