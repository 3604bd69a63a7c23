//! What is wrong with a scenario, where, and what to do about it.

use std::fmt;
use std::ops::Range;

/// A text that a scenario was read from: the file, or one override of the command line.
#[derive(Debug, Clone)]
pub struct Source {
    /// File name, or the option (`--set`) that carried the text.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// True for a file: places are then given as line and column.
    pub is_file: bool,
}

/// Where a key or value stands: a byte range of one [`Source`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Index into the list of sources; 0 is the scenario file.
    pub source: usize,
    /// Bytes of that source.
    pub span: Range<usize>,
}

/// One thing wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Source name with line and column (`two.toml:12:9`), or the override.
    pub location: String,
    /// Line of the file, counted from 1 (0 for an override).
    pub line: usize,
    /// Dotted key it is about, such as `links.wwan2.delay`; empty for the file as a whole.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What was expected instead.
    pub expected: String,
    /// What to do.
    pub remedy: Option<String>,
    /// The line of the source and the marked columns, for display.
    snippet: Option<(String, Range<usize>)>,
}

/// Everything wrong with a scenario, in the order of the file. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl ScenarioError {
    /// An error about a file as a whole (it does not exist, it cannot be read).
    pub fn whole_file(name: &str, found: String, expected: &str, remedy: Option<String>) -> Self {
        let diagnostic = Diagnostic {
            location: name.to_string(),
            line: 0,
            key: String::new(),
            found,
            expected: expected.to_string(),
            remedy,
            snippet: None,
        };
        Self { diagnostics: vec![diagnostic] }
    }
}

impl Diagnostic {
    /// A finding at `place` of `sources`.
    pub fn new(sources: &[Source], place: &Place, key: &str, found: String, expected: String) -> Self {
        let source = &sources[place.source];
        let (line, column, snippet) = locate(&source.text, &place.span);
        let location = if source.is_file {
            format!("{}:{line}:{column}", source.name)
        } else {
            format!("{} '{}'", source.name, source.text)
        };
        let line = if source.is_file { line } else { 0 };
        let snippet = source.is_file.then_some(snippet);
        Self { location, line, key: key.to_string(), found, expected, remedy: None, snippet }
    }

    /// The same with advice.
    pub fn with_remedy(mut self, remedy: Option<String>) -> Self {
        self.remedy = remedy;
        self
    }
}

/// Line and column (from 1, in characters) of a span's start, the line's text, and the marked columns in it.
fn locate(text: &str, span: &Range<usize>) -> (usize, usize, (String, Range<usize>)) {
    let start = floor_boundary(text, span.start);
    let end = floor_boundary(text, span.end.max(start));
    let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let line_text = text[line_start..].lines().next().unwrap_or("");
    let line = text[..start].matches('\n').count() + 1;
    let column = text[line_start..start].chars().count();
    let width = text[start..end].lines().next().unwrap_or("").chars().count().max(1);
    (line, column + 1, (line_text.to_string(), column..column + width))
}

/// The last character boundary of `text` at or before `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.location)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        writeln!(f, "{}", self.found)?;
        if let Some((text, marked)) = &self.snippet {
            let number = self.line.to_string();
            let margin = " ".repeat(number.len());
            // Tabs would move the marks.
            writeln!(f, "  {number} | {}", text.replace('\t', " "))?;
            writeln!(f, "  {margin} | {}{}", " ".repeat(marked.start), "^".repeat(marked.len()))?;
        }
        write!(f, "  expected: {}", self.expected)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "\n  remedy: {remedy}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// Keys and names of earlier versions, each with what it is called now.
const FORMER: [(&str, &str); 2] = [("parking", "standby"), ("dealt", "round-robin")];

/// What to write in place of the unknown `word`: what it is called now, or the closest of the candidates.
pub fn remedy_for<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let renamed = FORMER.iter().find(|(former, _)| *former == word).map(|(_, present)| *present);
    match renamed.filter(|present| candidates.clone().into_iter().any(|candidate| candidate == *present)) {
        Some(present) => Some(format!("write \"{present}\", as \"{word}\" is called now")),
        None => did_you_mean(word, candidates).map(|close| format!("did you mean \"{close}\"?")),
    }
}

/// The candidate closest to `word`, if any is close enough to be what was meant.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normal = |text: &str| text.to_lowercase().replace('_', "-");
    let word = normal(word);
    let scored = candidates.into_iter().map(|candidate| {
        let other = normal(candidate);
        let similar =
            strsim::jaro_winkler(&word, &other).max(strsim::normalized_damerau_levenshtein(&word, &other));
        // One slip in a short name, "tpc" or "rcp", is likelier than a longer name that looks alike.
        let slip = word.len() >= 3 && strsim::damerau_levenshtein(&word, &other) == 1;
        let score = if slip { similar.max(0.9) } else { similar };
        (score, candidate)
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score >= 0.72).map(|(_, candidate)| candidate)
}

/// Names as "a, b or c" for messages; at most thirty.
pub fn list_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_string(),
        [one] => (*one).to_string(),
        _ if names.len() > 30 => format!("{}, ... ({} in all)", names[..30].join(", "), names.len()),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
