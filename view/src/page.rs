//! The page as one document: markup, style, scripts and what it shows.
//!
//! The scripts are modules, each for one idea. Browsers refuse to load modules from files, and one document is
//! quicker than fifteen, so the modules are put one behind the other: `import` lines go, `export` before a
//! declaration goes. For that, every import names what it takes on one line, and no two modules declare the same
//! name.

const MARKUP: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");

/// Name and text of every module, each after those that it imports.
const MODULES: &[(&str, &str)] = &[
    ("units.js", include_str!("../page/units.js")),
    ("palette.js", include_str!("../page/palette.js")),
    ("ways.js", include_str!("../page/ways.js")),
    ("source.js", include_str!("../page/source.js")),
    ("axes.js", include_str!("../page/axes.js")),
    ("panel.js", include_str!("../page/panel.js")),
    ("sequence.js", include_str!("../page/sequence.js")),
    ("rates.js", include_str!("../page/rates.js")),
    ("lines.js", include_str!("../page/lines.js")),
    ("series.js", include_str!("../page/series.js")),
    ("labels.js", include_str!("../page/labels.js")),
    ("topology.js", include_str!("../page/topology.js")),
    ("air.js", include_str!("../page/air.js")),
    ("traffic.js", include_str!("../page/traffic.js")),
    ("states.js", include_str!("../page/states.js")),
    ("follow.js", include_str!("../page/follow.js")),
    ("hover.js", include_str!("../page/hover.js")),
    ("run.js", include_str!("../page/run.js")),
    ("clock.js", include_str!("../page/clock.js")),
    ("control.js", include_str!("../page/control.js")),
    ("main.js", include_str!("../page/main.js")),
];

/// The document with `data`, a JSON text, inside.
pub(crate) fn document(data: &str) -> String {
    let script: String = MODULES.iter().map(|(_, text)| without_modules(text)).collect();
    // Nothing inside a JSON text may begin or end an element; the sign occurs in strings alone.
    let data = data.replace('<', "\\u003c");
    MARKUP.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &script).replace("/*DATA*/", &data)
}

/// A module's text for one scope shared with all others.
fn without_modules(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("import "));
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).fold(String::new(), |mut all, line| {
        all.push_str(line);
        all.push('\n');
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Names declared at the top of a module.
    fn declared(text: &str) -> impl Iterator<Item = &str> {
        let name = |line: &'_ str| -> Option<usize> {
            ["function ", "async function ", "class ", "const ", "let "]
                .into_iter()
                .find(|word| line.starts_with(word))
                .map(str::len)
        };
        text.lines().map(|line| line.strip_prefix("export ").unwrap_or(line)).filter_map(move |line| {
            let rest = &line[name(line)?..];
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
        })
    }

    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (module, text) in MODULES {
            for name in declared(text).filter(|name| !name.is_empty()) {
                if let Some(other) = seen.insert(name, module) {
                    panic!("`{name}` is declared in {other} and in {module}");
                }
            }
        }
        assert!(seen.len() > 20, "the modules declare something");
    }

    #[test]
    fn imports_take_one_line_and_name_modules_that_come_before() {
        for (index, (module, text)) in MODULES.iter().enumerate() {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split("from \"./").nth(1).and_then(|rest| rest.strip_suffix("\";"));
                let from = from.unwrap_or_else(|| panic!("{module}: {line}"));
                let position = MODULES.iter().position(|(name, _)| *name == from);
                assert!(position.is_some_and(|p| p < index), "{module} imports {from}, which comes later");
            }
        }
    }

    #[test]
    fn the_document_needs_no_network() {
        let page = document("{}");
        for outside in ["http://", "https://", "@import", " src=", "url("] {
            assert!(!page.contains(outside), "the page refers to something outside: {outside}");
        }
        for place in ["/*STYLE*/", "/*SCRIPT*/", "/*DATA*/"] {
            assert!(!page.contains(place), "nothing was put in place of {place}");
        }
    }

    #[test]
    fn data_cannot_end_the_script() {
        let page = document(r#"{"label":"</script><script>alert(1)</script>"}"#);
        assert!(!page.contains("</script><script>alert"));
        assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"));
    }
}
