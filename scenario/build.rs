//! Lists the shipped scenarios, so that adding a file is all it takes to ship it.
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("scenarios");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = folder.join(format!("{name}.toml"));
        // Writing to a string cannot fail.
        let _ = writeln!(list, "    Shipped {{ name: {name:?}, text: include_str!({path:?}) }},");
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("shipped.rs"), list)
}
