//! The Python package takes the crates as the tests of the workspace have compiled them.
use prismux_house::workspace::root;
use std::collections::BTreeSet;
use std::env;
use std::process::Command;

/// The one crate that the package uses with fewer features, so that it builds where there is no lab.
const WITHOUT_LAB: &str = "prismux-study";

/// Packages with their features, as `cargo` would compile them for `selection`.
fn compiled(selection: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args([
        "tree",
        "--locked",
        "--offline",
        "--prefix",
        "none",
        "--format",
        "{p} {f}",
    ]);
    let output = cargo.args(selection).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_string()).collect()
}

#[test]
fn the_python_package_compiles_no_crate_a_second_time() {
    let workspace = compiled(&["--workspace", "--edges", "all"]);
    let package = compiled(&["--package", "prismux-python", "--edges", "normal,build"]);
    assert!(package.len() > 50, "{package:?}");
    let anew: Vec<_> =
        package.difference(&workspace).filter(|package| !package.starts_with(WITHOUT_LAB)).collect();
    assert!(anew.is_empty(), "name the features that the workspace asks for in python/Cargo.toml: {anew:?}");
}
