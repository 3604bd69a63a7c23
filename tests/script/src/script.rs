//! A script as lines: when, and which words.
use crate::words::Words;
use prismux_units::Duration;

/// When a step happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Together with the step before.
    Now,
    /// So long after the start.
    At(Duration),
    /// So long after the step before.
    After(Duration),
}

/// One line of a script that does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The line's number, from 1.
    pub line: usize,
    /// When it happens.
    pub when: When,
    /// What happens, in the machine's words.
    pub text: String,
}

/// A script: how the machine is made, and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The words after `config`; empty when there is no such line.
    pub config: String,
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// When a time cannot be read, or `config` is not the first line. The words of steps are judged when they are
    /// played.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        for (index, raw) in text.lines().enumerate() {
            let line = raw.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let located = |error: String| format!("line {}: {error}\n    {raw}", index + 1);
            let mut words = Words::of(line);
            if words.skip("config") {
                if !script.steps.is_empty() || !script.config.is_empty() {
                    return Err(located("config comes first, and once".to_owned()));
                }
                script.config = rest(&mut words);
                continue;
            }
            let when = when(&mut words).map_err(located)?;
            script.steps.push(Step { line: index + 1, when, text: rest(&mut words) });
        }
        Ok(script)
    }
}

fn when(words: &mut Words<'_>) -> Result<When, String> {
    if words.skip("at") {
        return words.duration().map(When::At);
    }
    if words.skip("after") {
        return words.duration().map(When::After);
    }
    Ok(When::Now)
}

fn rest(words: &mut Words<'_>) -> String {
    let mut rest = Vec::new();
    while let Ok(word) = words.word("") {
        rest.push(word);
    }
    rest.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_config_and_steps_with_times() {
        let text = "# why\nconfig modern a=b\n\nat 10 ms < DATA 0:100 # why\nafter 1 s nothing\n  > ACK";
        let script = Script::parse(text).unwrap();
        assert_eq!(script.config, "modern a=b");
        let steps: Vec<_> = script.steps.iter().map(|s| (s.line, s.when, s.text.as_str())).collect();
        let (ten, second) = (Duration::from_millis(10), Duration::from_secs(1));
        let expected = [
            (4, When::At(ten), "< DATA 0:100"),
            (5, When::After(second), "nothing"),
            (6, When::Now, "> ACK"),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        assert!(Script::parse("write 1\nat ten ms nothing").unwrap_err().starts_with("line 2: "));
        assert!(Script::parse("write 1\nconfig modern").unwrap_err().starts_with("line 2: config"));
    }
}
