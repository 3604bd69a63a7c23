//! Which modules of a crate import which, and the circles among them.
use crate::rust_source::blank_comments_and_literals;
use std::collections::{BTreeMap, BTreeSet};

/// The modules of a crate by path (`["flow", "history"]`; the root is empty), with those that each imports.
#[derive(Debug, Default)]
pub struct Imports {
    edges: BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
}

impl Imports {
    /// Reads the modules of a crate: path below `src` without `.rs`, and text. Modules of tests are left out.
    pub fn of(sources: &[(String, String)]) -> Self {
        let path_of = |file: &str| -> Vec<String> {
            let parts = file.trim_end_matches(".rs").split('/').map(str::to_owned);
            parts.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
        };
        let modules: BTreeMap<Vec<String>, &str> = sources
            .iter()
            .map(|(file, text)| (path_of(file), text.as_str()))
            .filter(|(path, _)| path.last().is_none_or(|last| last != "tests"))
            .collect();
        let known: BTreeSet<&Vec<String>> = modules.keys().collect();
        let mut edges = BTreeMap::new();
        for (path, text) in modules.iter().filter(|(path, _)| !path.is_empty()) {
            let imports = paths(text);
            let imported = imports.iter().filter_map(|import| target(&known, path, import));
            edges.insert(path.clone(), imported.filter(|to| to != path && !to.is_empty()).collect());
        }
        Self { edges }
    }

    /// The largest set of modules of which each imports every other, directly or not; sorted. Empty without a circle.
    pub fn largest_circle(&self) -> Vec<String> {
        let reach: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
            self.edges.keys().map(|from| (from, self.reachable(from))).collect();
        let circle = |of: &Vec<String>| -> Vec<String> {
            let mutual =
                reach[of].iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(of)));
            mutual.map(|module| module.join("::")).collect()
        };
        self.edges.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
    }

    fn reachable<'a>(&'a self, from: &Vec<String>) -> BTreeSet<&'a Vec<String>> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for next in self.edges.get(module).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

/// The module that a path names, seen from the module `here`: the longest part of it that is one.
fn target(known: &BTreeSet<&Vec<String>>, here: &[String], import: &[String]) -> Option<Vec<String>> {
    let mut base = here.to_vec();
    let mut rest = import;
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        _ => {
            let child = [here, &rest[..1]].concat();
            if !known.contains(&child) {
                return None;
            }
        }
    }
    base.extend(rest.iter().cloned());
    while !known.contains(&base) {
        base.pop()?;
    }
    Some(base)
}

/// Every path that `source` imports or writes out from `crate` or `super`, its tests left out.
fn paths(source: &str) -> Vec<Vec<String>> {
    let code = String::from_utf8_lossy(&blank_comments_and_literals(source)).into_owned();
    let code = code.split("mod tests {").next().unwrap_or_default();
    let mut paths = Vec::new();
    let mut rest = code;
    while let Some(at) = find_use(rest) {
        let Some(end) = rest[at..].find(';') else { break };
        expand("", rest[at + 4..at + end].trim(), &mut paths);
        rest = &rest[at + end..];
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let path = code[at..].split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next();
            paths.extend(path.map(words));
        }
    }
    paths
}

/// Offset of the next `use` statement.
fn find_use(code: &str) -> Option<usize> {
    let starts =
        |at: usize| code[..at].trim_end_matches(' ').chars().next_back().is_none_or(|c| "\n)};".contains(c));
    code.match_indices("use ")
        .map(|(at, _)| at)
        .find(|&at| starts(at) || code[..at].trim_end().ends_with("pub"))
}

/// Takes the braces of an import apart.
fn expand(prefix: &str, text: &str, paths: &mut Vec<Vec<String>>) {
    let Some(open) = text.find('{') else {
        let name = text.split(" as ").next().unwrap_or_default();
        return paths.push(words(&format!("{prefix}{name}")));
    };
    let prefix = format!("{prefix}{}", text[..open].trim());
    let inner = text[open + 1..].trim_end().trim_end_matches('}');
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    expand(&prefix, part, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

fn words(path: &str) -> Vec<String> {
    path.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::Imports;

    fn circle(modules: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> =
            modules.iter().map(|(file, text)| (file.to_string(), text.to_string())).collect();
        Imports::of(&sources).largest_circle()
    }

    #[test]
    fn a_circle_over_three_modules_is_found() {
        let found = circle(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::{self, Thing};"),
            ("b.rs", "mod inner;\nuse std::fmt;\nuse super::{c::{X, Y as Z}, d};"),
            ("b/inner.rs", "// use super::B;"),
            ("c.rs", "fn f() { crate::a::g() }"),
            ("d.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
        ]);
        assert_eq!(found, ["a", "b", "c"]);
    }

    #[test]
    fn a_parent_and_a_child_that_import_each_other_are_a_circle() {
        let found =
            circle(&[("flow.rs", "mod held;\nuse held::Held;"), ("flow/held.rs", "use super::Flow;")]);
        assert_eq!(found, ["flow", "flow::held"]);
        assert!(
            circle(&[("flow.rs", "mod held;\nuse held::Held;"), ("flow/held.rs", "use crate::micros;")])
                .is_empty()
        );
    }
}
