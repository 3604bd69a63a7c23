//! The scenarios that come with prismux, embedded in the program.

use crate::file::ScenarioFile;

/// A shipped scenario.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// Its name: the file's, without `.toml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, by name.
pub const ALL: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The one called `name` (with or without `.toml`).
pub fn find(name: &str) -> Option<&'static Shipped> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    ALL.iter().find(|shipped| shipped.name == name)
}

impl Shipped {
    /// As a file to read.
    pub fn file(&self) -> ScenarioFile {
        ScenarioFile::from_text(format!("{}.toml", self.name), self.text)
    }
}
