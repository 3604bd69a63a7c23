//! A scenario's text, from a file or shipped, and the scenario that variants and overrides make of it.

use crate::diagnostic::{Diagnostic, Place, ScenarioError, Source, did_you_mean, list_of, remedy_for};
use crate::document::{self, Table, Value};
use crate::model::{Scenario, VariantNote};
use crate::{read, shipped};
use std::path::{Path, PathBuf};

/// The text of a scenario.
#[derive(Debug, Clone)]
pub struct ScenarioFile {
    /// Shown in messages.
    name: String,
    text: String,
    /// Where relative file names start.
    folder: Option<PathBuf>,
}

impl ScenarioFile {
    /// A scenario from a text in memory; `name` is shown in messages.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), folder: None }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self { name, text, folder: path.parent().map(Path::to_path_buf) }),
            Err(error) => Err(ScenarioError::whole_file(
                &name,
                format!("cannot read the file: {error}"),
                "a scenario file",
                None,
            )),
        }
    }

    /// A file if `name` is the path of one, else the shipped scenario of that name.
    ///
    /// # Errors
    /// When there is neither, with the names that come close.
    pub fn find(name: &str) -> Result<Self, ScenarioError> {
        let path = Path::new(name);
        if path.is_file() {
            return Self::open(path);
        }
        if let Some(shipped) = shipped::find(name) {
            return Ok(Self::from_text(format!("{name}.toml"), shipped.text));
        }
        let close = did_you_mean(name.trim_end_matches(".toml"), shipped::ALL.iter().map(|s| s.name));
        let remedy = match close {
            Some(close) => format!("did you mean \"{close}\"? (`prismux scenarios` lists the shipped ones)"),
            None => "`prismux scenarios` lists the shipped ones".to_string(),
        };
        let found = "there is no such file, nor a shipped scenario of this name".to_string();
        Err(ScenarioError::whole_file(
            name,
            found,
            "the path of a scenario file, or a shipped scenario",
            Some(remedy),
        ))
    }

    /// The name shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder where relative file names of the scenario start.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The same text with relative file names starting in `folder`.
    pub fn in_folder(mut self, folder: Option<&str>) -> Self {
        self.folder = folder.map(PathBuf::from);
        self
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The variants that the file declares.
    ///
    /// # Errors
    /// Everything that is wrong with the file, by line.
    pub fn variants(&self) -> Result<Vec<VariantNote>, ScenarioError> {
        Ok(self.scenario(None, &[])?.variants)
    }

    /// The scenario, with the overrides of `variant` and then each `path=value` of `set` laid over the file.
    ///
    /// # Errors
    /// Everything that is wrong with the file and with the overrides, by line, and a variant that it does not
    /// declare.
    pub fn scenario(&self, variant: Option<&str>, set: &[&str]) -> Result<Scenario, ScenarioError> {
        self.scenario_with(variant, &[], set)
    }

    /// The same, with `between` laid over the file before `set`: overrides that a program makes, such as those of
    /// a built-in variant.
    ///
    /// # Errors
    /// Everything that is wrong with the file and with the overrides, by line, and a variant that it does not
    /// declare.
    pub fn scenario_with(
        &self,
        variant: Option<&str>,
        between: &[String],
        set: &[&str],
    ) -> Result<Scenario, ScenarioError> {
        let (sources, table) = self.laid_over(variant, between, set)?;
        self.read(&table, &sources)
    }

    /// The file that says what this one says with the overrides of `variant` and of `set`: another scenario of the same
    /// hash. Other variants are left out of that of a variant.
    ///
    /// # Errors
    /// As [`ScenarioFile::scenario`].
    pub fn merged(&self, variant: Option<&str>, set: &[&str]) -> Result<String, ScenarioError> {
        let (sources, mut table) = self.laid_over(variant, &[], set)?;
        self.read(&table, &sources)?;
        if variant.is_some() {
            table.remove("variants");
        }
        Ok(document::to_text(&table))
    }

    fn read(&self, table: &Table, sources: &[Source]) -> Result<Scenario, ScenarioError> {
        let stem = Path::new(&self.name).file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy());
        read::scenario(table, sources, self.folder.as_deref(), &stem)
    }

    /// The texts of the file and its overrides, and the tree that they make.
    fn laid_over(
        &self,
        variant: Option<&str>,
        between: &[String],
        set: &[&str],
    ) -> Result<(Vec<Source>, Table), ScenarioError> {
        let file = Source { name: self.name.clone(), text: self.text.clone(), is_file: true };
        let own = between.iter().map(|text| Source {
            name: "override".to_string(),
            text: text.clone(),
            is_file: false,
        });
        let given = set.iter().map(|text| Source {
            name: "--set".to_string(),
            text: (*text).to_string(),
            is_file: false,
        });
        let sources: Vec<Source> = std::iter::once(file).chain(own).chain(given).collect();
        let mut table = document::parse(&sources, 0)?;
        if let Some(variant) = variant {
            apply_variant(&mut table, variant, &sources)?;
        }
        for index in 1..sources.len() {
            document::apply_override(&sources, index, &mut table)?;
        }
        let first_given = sources.len() - set.len();
        for index in first_given..sources.len() {
            document::refuse_masked(&sources, index, first_given, &table)?;
        }
        Ok((sources, table))
    }
}

/// Lays `[variants.NAME]` over the rest of the file.
fn apply_variant(table: &mut Table, name: &str, sources: &[Source]) -> Result<(), ScenarioError> {
    let variants = match table.get("variants").map(|entry| &entry.item.value) {
        Some(Value::Table(variants)) => variants.clone(),
        _ => Table::default(),
    };
    let Some(Value::Table(variant)) = variants.get(name).map(|entry| &entry.item.value) else {
        let known: Vec<&str> = variants.entries.iter().map(|entry| entry.key.as_str()).collect();
        let found = format!("there is no variant \"{name}\"");
        let expected = match known[..] {
            [] => "no variant: the file has none of its own".to_string(),
            _ => format!("one of the variants of the file: {}", list_of(&known)),
        };
        let elsewhere =
            || "those that are built in, such as \"prism\", run in `prismux compare` alone".to_string();
        let remedy = remedy_for(name, known.iter().copied()).or_else(|| Some(elsewhere()));
        let diagnostic =
            Diagnostic::new(sources, &Place::default(), "variants", found, expected).with_remedy(remedy);
        return Err(ScenarioError { diagnostics: vec![diagnostic] });
    };
    let mut variant = variant.clone();
    variant.remove("summary");
    table.merge(&variant);
    Ok(())
}
