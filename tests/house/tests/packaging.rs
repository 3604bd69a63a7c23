//! The crates can be published and embedded: each packs by itself, reads no file outside its folder, says what it is,
//! and stands on dependencies of allowed licences.
use prismux_house::workspace::{packages, read, root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Crates that an outside program embeds: the protocol cores and what they stand on.
const EMBEDDABLE: &[&str] = &[
    "units",
    "endpoint",
    "wire",
    "tcp",
    "tcp-ho",
    "tcp-door",
    "prism",
    "prism-trace",
    "ptcp",
    "rcp",
    "r2cp",
    "striping",
    "receipts",
    "shared-bottleneck",
    "fec",
    "datagrams",
    "sharing",
    "community",
    "sealed",
    "routing",
    "dsr",
    "aodv",
    "dsdv",
    "link",
    "trace",
];

fn cargo(arguments: &[&str], folder: &Path) -> Output {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(folder).output().expect("cargo runs")
}

fn must_succeed(output: &Output, doing: &str) {
    assert!(output.status.success(), "{doing}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Packs the crates in `names` as for publication and unpacks them side by side; the folder they lie in.
fn unpacked(names: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    let target = folder.to_string_lossy().into_owned();
    // The lock file is left out, since making it anew would ask for crates of other systems.
    let mut arguments = vec![
        "package",
        "--offline",
        "--no-verify",
        "--allow-dirty",
        "--exclude-lockfile",
        "--target-dir",
        &target,
    ];
    let packages: Vec<String> = names.iter().map(|name| format!("prismux-{name}")).collect();
    arguments.extend(packages.iter().flat_map(|package| ["-p", package.as_str()]));
    must_succeed(&cargo(&arguments, &root()), "cargo package");
    let packed = folder.join("package");
    for entry in fs::read_dir(&packed).expect("packages were made") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "crate") {
            let tar =
                Command::new("tar").arg("-xzf").arg(&path).arg("-C").arg(&folder).output().expect("tar runs");
            must_succeed(&tar, "tar");
        }
    }
    fs::remove_dir_all(packed).expect("removable");
    folder
}

#[test]
fn every_core_packs_and_builds_away_from_the_workspace() {
    let folder = unpacked(EMBEDDABLE);
    let version = env!("CARGO_PKG_VERSION");
    let (mut members, mut patches) = (String::new(), String::new());
    for name in EMBEDDABLE {
        let place = format!("prismux-{name}-{version}");
        assert!(folder.join(&place).join("README.md").is_file(), "{name} is published without a README.md");
        members += &format!("{place:?}, ");
        patches += &format!("prismux-{name} = {{ path = {place:?} }}\n");
    }
    let manifest =
        format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n[patch.crates-io]\n{patches}");
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    // The same versions as the workspace uses, so that nothing need be fetched.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("writable");
    must_succeed(&cargo(&["check", "--offline", "--quiet"], &folder), "cargo check of the packed crates");
}

#[test]
fn every_published_crate_says_what_it_is() {
    for package in packages() {
        let text = read(&package.folder.join("Cargo.toml"));
        let manifest: toml::Table = toml::from_str(&text).expect("a manifest");
        let about = manifest["package"].as_table().expect("a table");
        if about.get("publish").and_then(toml::Value::as_bool) == Some(false) {
            continue;
        }
        for key in ["description", "license", "repository", "keywords", "categories"] {
            assert!(about.contains_key(key), "{}: [package] lacks `{key}`", package.name);
        }
        let page = root().join(&package.folder).join("README.md");
        let page = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for heading in ["Scope and limitations", "Usage", "Examples", "Validation", "References"] {
            let found = page.lines().any(|line| line.starts_with("## ") && line.contains(heading));
            assert!(found, "{}: README.md lacks the heading \"{heading}\"", package.name);
        }
    }
}

#[test]
fn path_dependencies_carry_the_version_of_the_workspace() {
    let shared = prismux_house::workspace::shared_dependencies();
    for (name, dependency) in shared.iter().filter(|(name, _)| name.starts_with("prismux-")) {
        let version = dependency.get("version").and_then(toml::Value::as_str);
        // What is for tests alone is not published.
        let support =
            ["prismux-script", "prismux-adhoc", "prismux-properties", "prismux-namespaces", "prismux-house"];
        let is_support = support.contains(&name.as_str());
        let expected = (!is_support).then_some(env!("CARGO_PKG_VERSION"));
        assert_eq!(version, expected, "[workspace.dependencies] {name}");
    }
}

/// Whether `text` is a date as in `2026-11-22`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn the_changelog_has_what_is_unreleased_and_then_this_version_with_its_date() {
    let changelog = read(Path::new("CHANGELOG.md"));
    let headings: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let [unreleased, newest, ..] = headings.as_slice() else { panic!("two headings at least: {headings:?}") };
    assert_eq!(*unreleased, "Unreleased");
    let (version, date) = newest.split_once(" - ").unwrap_or_else(|| panic!("version and date: {newest}"));
    assert_eq!(version, env!("CARGO_PKG_VERSION"), "the newest release is the version of the workspace");
    assert!(is_date(date), "a date as in 2026-11-22: {date}");
}

/// The licences that `deny.toml` allows.
fn allowed_licences() -> Vec<String> {
    let rules: toml::Table = toml::from_str(&read(Path::new("deny.toml"))).expect("deny.toml is TOML");
    let allowed = rules["licenses"]["allow"].as_array().expect("a list");
    allowed.iter().map(|licence| licence.as_str().expect("a name").to_string()).collect()
}

/// Whether an SPDX expression can be met by allowed licences; `/` is the old form of OR.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let one = |licence: &str| allowed.iter().any(|known| known == licence.trim());
    // AND binds closer; without parentheses a product of choices is met when each of its factors is.
    let product = |product: &str| product.split(" AND ").all(one);
    expression.split(" OR ").any(product) || {
        expression.split(" AND ").all(|factor| factor.split(" OR ").any(one))
    }
}

#[test]
fn licences_of_dependencies_are_among_those_allowed() {
    let allowed = allowed_licences();
    let arguments = [
        "tree",
        "--offline",
        "--locked",
        "--workspace",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}\t{l}",
    ];
    let output = cargo(&arguments, &root());
    must_succeed(&output, "cargo tree");
    let text = String::from_utf8_lossy(&output.stdout);
    let licences: BTreeMap<&str, &str> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert!(licences.len() > 50, "cargo tree lists {} packages", licences.len());
    let refused: Vec<_> = licences.iter().filter(|(_, licence)| !is_met(licence, &allowed)).collect();
    assert!(refused.is_empty(), "not allowed by deny.toml: {refused:?}");
}

#[test]
fn licence_expressions_are_read_as_spdx_has_them() {
    let allowed = ["MIT".to_string(), "Apache-2.0".to_string(), "Unicode-3.0".to_string()];
    for met in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for refused in ["GPL-3.0", "MIT AND GPL-3.0", "", "GPL-3.0 OR (MIT AND GPL-2.0)"] {
        assert!(!is_met(refused, &allowed), "{refused}");
    }
}
