//! Reading Rust source exactly enough to find functions and their ends.

/// A function and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of the `fn` keyword, from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both included.
    pub lines: usize,
}

/// The functions of `source` that have a body, in order of appearance.
pub fn functions(source: &str) -> Vec<Function> {
    let code = blank_comments_and_literals(source);
    let line_of = |at: usize| 1 + code[..at].iter().filter(|&&b| b == b'\n').count();
    let mut functions = Vec::new();
    let mut at = 0;
    while let Some(found) = find_word(&code, at, b"fn") {
        at = found + 2;
        let name = word_at(&code, at);
        if name.is_empty() {
            continue; // A function pointer type.
        }
        if let Some(end) = body_end(&code, at) {
            let line = line_of(found);
            functions.push(Function { name, line, lines: line_of(end) - line + 1 });
        }
    }
    functions
}

/// The words of the code (keywords, names, numbers), comments and literals aside.
pub fn words(source: &str) -> Vec<String> {
    let code = String::from_utf8_lossy(&blank_comments_and_literals(source)).into_owned();
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

/// The named fields of the struct `name` of `source`, in order.
pub fn fields(source: &str, name: &str) -> Vec<String> {
    let code = String::from_utf8_lossy(&blank_comments_and_literals(source)).into_owned();
    let Some(start) = code.find(&format!("struct {name} {{")) else { return Vec::new() };
    let body = &code[start..start + code[start..].find("\n}").unwrap_or(0)];
    let field = |line: &str| {
        let (field, _) = line.trim().split_once(": ")?;
        let field = field.rsplit(' ').next()?;
        (!field.is_empty() && field.bytes().all(is_word_byte)).then(|| field.to_string())
    };
    body.lines().skip(1).filter_map(field).collect()
}

/// True when the code reads the field `name` of something (`x.name`), or takes it out of a pattern by its name.
pub fn reads_field(source: &str, name: &str) -> bool {
    if !source.contains(name) {
        return false;
    }
    let code = blank_comments_and_literals(source);
    let mut at = 0;
    while let Some(found) = find_word(&code, at, name.as_bytes()) {
        at = found + name.len();
        let before = code[..found].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        let after = code[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        let in_pattern = matches!(before, Some(b'{' | b',')) && matches!(after, Some(b',' | b'}'));
        if before == Some(&b'.') || in_pattern {
            return true;
        }
    }
    false
}

/// Offset of the brace that ends the body of the function whose signature starts at `at`; `None` without a body.
fn body_end(code: &[u8], at: usize) -> Option<usize> {
    let mut nesting = 0i32; // Parentheses and brackets: `[u8; 4]` in a signature holds a semicolon.
    let mut depth = 0i32;
    for (offset, byte) in code.iter().enumerate().skip(at) {
        match byte {
            b'(' | b'[' if depth == 0 => nesting += 1,
            b')' | b']' if depth == 0 => nesting -= 1,
            b';' if depth == 0 && nesting == 0 => return None,
            b'{' if nesting == 0 => depth += 1,
            b'}' if nesting == 0 && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(offset);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn find_word(code: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    (from..code.len().saturating_sub(word.len())).find(|&at| {
        code[at..].starts_with(word)
            && (at == 0 || !is_word_byte(code[at - 1]))
            && !is_word_byte(code[at + word.len()])
    })
}

/// The word behind blanks at `at`; empty when something else stands there.
fn word_at(code: &[u8], at: usize) -> String {
    let rest = code[at..].iter().skip_while(|b| b.is_ascii_whitespace());
    rest.take_while(|b| is_word_byte(**b)).map(|b| char::from(*b)).collect()
}

/// `source` with comments and the insides of literals replaced by blanks; lines stay where they are.
pub(crate) fn blank_comments_and_literals(source: &str) -> Vec<u8> {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match literal_end(bytes, at) {
            Some(end) => end.min(bytes.len()),
            None => {
                at += 1;
                continue;
            }
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    code
}

/// The end of the comment, string or character that starts at `at`; `None` when code stands there.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let starts_word = at > 0 && is_word_byte(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => Some(at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(at + block_comment_length(rest)),
        [b'"', ..] => Some(at + 1 + quoted_length(&rest[1..], b'"')),
        [b'r', b'"' | b'#', ..] if !starts_word => {
            raw_string_length(&rest[1..]).map(|length| at + 1 + length)
        }
        [b'b', b'r', b'"' | b'#', ..] if !starts_word => {
            raw_string_length(&rest[2..]).map(|length| at + 2 + length)
        }
        // A character is 'x' or '\...'; anything else after a quote is a lifetime.
        [b'\'', b'\\', ..] => Some(at + 1 + quoted_length(&rest[1..], b'\'')),
        [b'\'', ..] => {
            let text = core::str::from_utf8(&rest[1..]).unwrap_or("");
            let character = text.chars().next()?;
            let end = 1 + character.len_utf8();
            (rest.get(end) == Some(&b'\'')).then_some(at + end + 1)
        }
        _ => None,
    }
}

/// Length of a quoted text behind its opening quote, the closing quote included.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of a raw string behind its `r`; `None` when it is a raw identifier.
fn raw_string_length(text: &[u8]) -> Option<usize> {
    let hashes = text.iter().take_while(|&&b| b == b'#').count();
    if text.get(hashes) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = [b'"'].into_iter().chain(std::iter::repeat_n(b'#', hashes)).collect();
    let inside = &text[hashes + 1..];
    let end = inside.windows(close.len()).position(|w| w == close).unwrap_or(inside.len());
    Some(hashes + 1 + end + close.len())
}

/// Length of a block comment, which may nest.
fn block_comment_length(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Function, fields, functions, reads_field, words};

    #[test]
    fn functions_end_at_their_own_brace() {
        let source = r##"
trait T { fn declared(&self, x: [u8; 4]); }
fn one() {}
fn two<'a>(f: fn(u8) -> u8, x: &'a str) -> [u8; 2] {
    let s = "}"; // }
    let c = '}'; let r = r#"}"}"#; /* } /* } */ } */
    if c == '\'' { one() }
    [f(1), 2]
}
"##;
        let found: Vec<_> = functions(source).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(found, [("one".to_string(), 3, 1), ("two".to_string(), 4, 6)]);
        assert_eq!(functions("fn cut() {"), Vec::<Function>::new());
    }

    #[test]
    fn fields_are_known_and_their_readers_found() {
        let source =
            "pub struct S {\n    /// text: a\n    pub one: u8,\n    two: Vec<u8>,\n}\nfn f(s: S) { s.one; }";
        assert_eq!(fields(source, "S"), ["one", "two"]);
        assert!(reads_field(source, "one") && !reads_field(source, "two"));
        assert!(reads_field("let S { two, .. } = s;", "two"));
    }

    #[test]
    fn words_in_comments_and_texts_do_not_count() {
        assert_eq!(
            words("// Event::A\nlet x = \"B\"; Event::C { d: 1 }"),
            ["let", "x", "Event", "C", "d", "1"]
        );
    }
}
