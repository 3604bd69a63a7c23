//! What doc comments promise their readers: each stands alone, and a function that can fail says when.
use prismux_house::workspace::{is_test_code, rust_sources};

/// Whether a line begins or goes on with a doc comment, and its text.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

#[test]
fn every_doc_comment_stands_alone() {
    let mut complaints = Vec::new();
    for (path, source) in rust_sources() {
        for (number, line) in source.lines().enumerate() {
            // An editor shows the comment of one item alone: a sentence strung over several means nothing there.
            if doc_text(line).is_some_and(|text| text.trim_start().starts_with("...")) {
                complaints.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(complaints.is_empty(), "these go on from elsewhere:\n{}", complaints.join("\n"));
}

/// Public functions that return a `Result` and whose doc comment has no `# Errors`, by name.
fn silent_about_errors(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut silent = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = public_function(line) else { continue };
        let mut signature = String::new();
        for part in &lines[index..] {
            signature.push_str(part);
            if part.trim_end().ends_with(['{', ';']) {
                break;
            }
        }
        // The return type follows the arrow behind the arguments' closing parenthesis; closures' arrows lie inside.
        let Some(returned) = return_type(&signature) else { continue };
        let path = returned.trim_start().split(['<', ' ', '{']).next().unwrap_or_default();
        let fails = path.rsplit("::").next() == Some("Result") && path != "fmt::Result";
        let documented = lines[..index]
            .iter()
            .rev()
            .take_while(|above| doc_text(above).is_some() || above.trim_start().starts_with("#["))
            .any(|above| doc_text(above).is_some_and(|text| text.trim() == "# Errors"));
        if fails && !documented {
            silent.push(name.to_string());
        }
    }
    silent
}

/// What stands behind the arrow of a signature.
fn return_type(signature: &str) -> Option<&str> {
    let mut depth = 0_i32;
    for (at, letter) in signature.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '-' if depth == 0 => {
                if let Some(returned) = signature[at..].strip_prefix("->") {
                    // Bounds of type parameters have arrows too, before the arguments.
                    if signature[..at].contains(')') && !returned.contains(") ->") {
                        return Some(returned);
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// The name of the public function that `line` begins.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let rest = rest.strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

#[test]
fn every_public_function_that_can_fail_says_when() {
    let mut complaints = Vec::new();
    for (path, source) in rust_sources().into_iter().filter(|(path, _)| !is_test_code(path)) {
        complaints
            .extend(silent_about_errors(&source).iter().map(|name| format!("{}: {name}", path.display())));
    }
    assert!(
        complaints.is_empty(),
        "these return a Result and have no `# Errors`:\n{}",
        complaints.join("\n")
    );
}

#[test]
fn silence_about_errors_is_found() {
    let source = "
/// Opens it.
pub fn open(path: &Path) -> io::Result<Self> {
}
/// Reads it.
///
/// # Errors
/// When it is gone.
#[inline]
pub fn read(
    &self,
) -> Result<(), Error> {
}
/// Takes what may fail, and counts it.
pub fn count(&mut self, act: impl FnOnce() -> io::Result<()>) {
}
/// Its text.
pub fn fmt(&self) -> fmt::Result {
}
/// The answer.
pub fn result(&self) -> RunResult {
}
";
    assert_eq!(silent_about_errors(source), ["open"]);
}
