//! The cores see no clock, socket, thread or seeded hash map: they compile without the standard library.
use prismux_house::workspace::{packages, read, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A target that has no standard library; when the toolchain has it, it is the strictest judge.
const BARE_TARGETS: &[&str] = &["x86_64-unknown-none", "thumbv7em-none-eabi", "riscv32imac-unknown-none-elf"];

/// Folders of the crates that must be pure: all protocols, the link model, the plan, and what they stand on.
fn pure_folders() -> Vec<PathBuf> {
    let folders: Vec<_> = packages().into_iter().map(|p| p.folder).collect();
    // What a protocol tells is text, which needs room that a core does not.
    let pure = |f: &PathBuf| {
        f.starts_with("protocols") && !f.ends_with("prism-trace")
            || ["network/link", "network/wireless", "network/cellular", "network/plan", "units"]
                .iter()
                .any(|pure| f.ends_with(pure))
    };
    folders.into_iter().filter(pure).collect()
}

#[test]
fn every_core_declares_itself_without_the_standard_library() {
    let folders = pure_folders();
    assert!(folders.len() >= 6, "{folders:?}");
    for folder in folders {
        let lib = read(&folder.join("src/lib.rs"));
        assert!(lib.lines().any(|line| line == "#![no_std]"), "{} lacks #![no_std]", folder.display());
        assert!(!lib.contains("extern crate std"), "{} brings std back in", folder.display());
    }
}

/// Checks a crate that has its own panic handler and uses `folders`: the compiler accepts it only if nothing below
/// brings the standard library in, which has a panic handler too.
fn check_without_std(name: &str, folders: &[PathBuf]) -> Result<(), String> {
    let crate_folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(crate_folder.join("src")).expect("the target folder is writable");
    let mut manifest =
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n");
    for (index, folder) in folders.iter().enumerate() {
        let package = package_name(folder);
        let _ = writeln!(manifest, "core{index} = {{ package = \"{package}\", path = {folder:?} }}");
    }
    let uses: String = (0..folders.len()).map(|k| format!("use core{k} as _;\n")).collect();
    let lib = format!(
        "#![no_std]\n{uses}#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n"
    );
    fs::write(crate_folder.join("Cargo.toml"), manifest).expect("writable");
    fs::write(crate_folder.join("src/lib.rs"), lib).expect("writable");
    // The same versions as the workspace uses, so that nothing need be fetched.
    fs::copy(root().join("Cargo.lock"), crate_folder.join("Cargo.lock")).expect("writable");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["check", "--offline", "--quiet", "--manifest-path"]).arg(crate_folder.join("Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-std"));
    if let Some(target) = installed_bare_target() {
        cargo.args(["--target", target]);
    }
    let output = cargo.output().expect("cargo runs");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn package_name(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let line = text.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name");
    line.trim_matches('"').to_string()
}

/// A bare target whose core library is installed, if any.
fn installed_bare_target() -> Option<&'static str> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let installed = |target: &&&str| sysroot.join("lib/rustlib").join(target).join("lib").is_dir();
    BARE_TARGETS.iter().find(installed).copied()
}

#[test]
fn the_cores_compile_without_the_standard_library() {
    let folders: Vec<_> = pure_folders().iter().map(|folder| root().join(folder)).collect();
    if let Err(message) = check_without_std("pure-cores", &folders) {
        panic!("a core or something it uses needs the standard library:\n{message}");
    }
}

#[test]
fn a_crate_with_the_standard_library_would_be_found() {
    let stained = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stained");
    fs::create_dir_all(stained.join("src")).expect("writable");
    fs::write(stained.join("Cargo.toml"), "[package]\nname = \"stained\"\nedition = \"2024\"\n")
        .expect("writable");
    fs::write(
        stained.join("src/lib.rs"),
        "pub fn now() -> std::time::Instant { std::time::Instant::now() }\n",
    )
    .expect("writable");
    let message = check_without_std("stained-cores", &[stained]).expect_err("the purity check accepts std");
    let reason = ["panic_impl", "can't find crate for `std`"].iter().any(|reason| message.contains(reason));
    assert!(reason, "refused for another reason:\n{message}");
}

/// What would let a clock, a socket, a file, a thread, the operating system's randomness or its order of hashing into
/// a machine.
const IMPURE: &[&str] = &[
    "std::time",
    "SystemTime",
    "Socket::",
    "std::fs",
    "std::thread",
    "std::env",
    "getrandom",
    "os_entropy",
    "HashMap",
    "HashSet",
    "prismux_linux",
    "nix::",
    "socket2",
];

/// The lines of `text` that hold anything impure.
fn impure_lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| IMPURE.iter().any(|word| line.contains(word))).collect()
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { source_files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_machines_of_fetch_see_only_bytes_time_and_a_seed() {
    let files = source_files(&root().join("fetch/src/machine"));
    assert!(files.len() > 30, "{files:?}");
    let found = files.iter().flat_map(|file| {
        let text = fs::read_to_string(file).expect("text");
        impure_lines(&text).into_iter().map(|line| format!("{}: {line}", file.display())).collect::<Vec<_>>()
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    // Beside their own modules they use nothing of the crate but its constants.
    let outside = ["crate::socket", "crate::fetch", "crate::serve", "crate::directory", "crate::partial"];
    for file in &files {
        let text = fs::read_to_string(file).expect("text");
        assert!(!outside.iter().any(|module| text.contains(module)), "{}", file.display());
    }
}

#[test]
fn a_machine_with_a_clock_or_a_seeded_hash_map_would_be_found() {
    for line in [
        "let now = std::time::Instant::now();",
        "use std::collections::HashMap;",
        "getrandom::fill(&mut seed)",
    ] {
        assert_eq!(impure_lines(line), [line]);
    }
    assert!(impure_lines("use prismux_units::Instant;").is_empty());
}
