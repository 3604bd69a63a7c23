//! A file in TOML, read and checked: where its first mistake is, and what was expected.
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::{Path, PathBuf};

/// A configuration file that cannot be used: where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// Line and column, counted from 1, if the mistake has a place.
    pub place: Option<(usize, usize)>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// A configuration that can be checked once its syntax is right.
pub(super) trait Checked: DeserializeOwned {
    /// The first thing that makes no sense: the key at fault and what was expected of it.
    fn check(&self) -> Result<(), (&'static str, String)>;
}

/// Reads and checks a file.
pub(super) fn load<T: Checked>(file: &Path) -> Result<T, ConfigError> {
    parse(file, &read(file)?)
}

/// What is in a file.
pub(super) fn read(file: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(file).map_err(|error| ConfigError {
        file: file.to_owned(),
        place: None,
        message: format!("cannot be read: {error}"),
    })
}

/// Reads and checks the text of a file, which is named in messages.
pub(super) fn parse<T: Checked>(file: &Path, text: &str) -> Result<T, ConfigError> {
    let fail = |at: Option<usize>, message: String| ConfigError {
        file: file.to_owned(),
        place: at.map(|at| place(text, at)),
        message,
    };
    let config: T = toml::from_str(text)
        .map_err(|error| fail(error.span().map(|span| span.start), explained(error.message())))?;
    config.check().map_err(|(key, message)| fail(find_key(text, key), format!("{key}: {message}")))?;
    Ok(config)
}

/// Line and column of a byte offset.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (line, column)
}

/// Where the last part of a dotted key is first assigned, or its table begins.
fn find_key(text: &str, key: &str) -> Option<usize> {
    let name = key.rsplit('.').next()?;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let assigned = trimmed.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        if assigned || trimmed.trim_end() == format!("[{name}]") {
            return Some(at + line.len() - trimmed.len());
        }
        at += line.len();
    }
    None
}

/// What is wrong with a file in TOML, with the present name of a setting where it has its former one.
pub(super) fn explained(message: &str) -> String {
    let message = message.trim();
    match message.strip_prefix("unknown field `parking`") {
        Some(rest) => format!("unknown field `parking`, which is called `standby` now{rest}"),
        None => message.to_owned(),
    }
}
