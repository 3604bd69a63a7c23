//! The workspace's files and manifests.
use std::fs;
use std::path::{Path, PathBuf};

/// The workspace's root folder.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("the crate lies two folders below the root").to_path_buf()
}

/// Every file below the root that belongs to the project, in a fixed order; paths are relative to the root.
pub fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&root(), Path::new(""), &mut files);
    files.sort();
    files
}

/// Folders that hold what is built or fetched, not what is written.
const GENERATED: &[&str] = &[
    "target",
    ".git",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    "corpus",
    "artifacts",
    "results",
    "dist",
];

fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(root.join(folder)).expect("the workspace can be read");
    for entry in entries {
        let entry = entry.expect("the workspace can be read");
        let name = entry.file_name();
        let path = folder.join(&name);
        let kind = entry.file_type().expect("the workspace can be read");
        let built = path.extension().is_some_and(|extension| extension == "so");
        // In a second work tree `.git` is a file.
        if kind.is_file() && !built && name != ".git" {
            files.push(path);
        } else if kind.is_dir() && !GENERATED.iter().any(|g| name == *g) {
            collect(root, &path, files);
        }
    }
}

/// The Rust sources of the workspace, with their text.
pub fn rust_sources() -> Vec<(PathBuf, String)> {
    let sources = files().into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    sources.map(|path| (path.clone(), read(&path))).collect()
}

/// The text of a file given relative to the root; bytes that are no text become replacement characters.
pub fn read(path: &Path) -> String {
    let bytes = fs::read(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// True for files whose code only runs in tests, benchmarks, examples or fuzz targets.
pub fn is_test_code(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    let file = path.file_name().is_some_and(|name| name == "tests.rs");
    file || parts.any(|part| ["tests", "benches", "examples", "fuzz"].contains(&part.as_ref()))
}

/// One crate of the workspace.
#[derive(Debug)]
pub struct Package {
    /// Its name, without the project's prefix.
    pub name: String,
    /// Its folder, relative to the root.
    pub folder: PathBuf,
    /// The dependencies it names, of every kind and for every target, with the section that names them.
    pub dependencies: Vec<(String, &'static str)>,
}

/// The members of the workspace, read from their manifests.
pub fn packages() -> Vec<Package> {
    let root_manifest = manifest(Path::new("Cargo.toml"));
    let members = root_manifest["workspace"]["members"].as_array().expect("a list of members");
    members.iter().map(|member| package(Path::new(member.as_str().expect("a path")))).collect()
}

/// Dependencies shared by the workspace's manifests (`[workspace.dependencies]`).
pub fn shared_dependencies() -> toml::Table {
    let root_manifest = manifest(Path::new("Cargo.toml"));
    root_manifest["workspace"]["dependencies"].as_table().expect("a table").clone()
}

fn package(folder: &Path) -> Package {
    let manifest = manifest(&folder.join("Cargo.toml"));
    let name = manifest["package"]["name"].as_str().expect("a name");
    let mut dependencies = Vec::new();
    let targets = manifest.get("target").and_then(|t| t.as_table()).into_iter().flatten();
    let tables: Vec<&toml::Table> =
        targets.filter_map(|(_, table)| table.as_table()).chain([&manifest]).collect();
    for table in tables {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = table.get(section).and_then(|s| s.as_table()).into_iter().flat_map(|s| s.keys());
            dependencies.extend(names.map(|name| (name.clone(), section)));
        }
    }
    Package { name: short_name(name), folder: folder.to_path_buf(), dependencies }
}

fn manifest(path: &Path) -> toml::Table {
    toml::from_str(&read(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A crate's name as the architecture speaks of it; the command's own crate is the `cli`.
pub fn short_name(name: &str) -> String {
    match name {
        "prismux" => "cli".to_string(),
        _ => name.strip_prefix("prismux-").unwrap_or(name).to_string(),
    }
}
