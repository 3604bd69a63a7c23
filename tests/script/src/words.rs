//! The words of a line, one after the other.
use prismux_units::Duration;
use std::ops::Range;
use std::str::FromStr;

/// The words of a line that have not been read yet.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    words: std::vec::IntoIter<&'a str>,
}

impl<'a> Words<'a> {
    /// The words of `text`, which spaces separate.
    pub fn of(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect::<Vec<_>>().into_iter() }
    }

    /// The next word, which stays to be read.
    pub fn peek(&self) -> Option<&'a str> {
        self.words.as_slice().first().copied()
    }

    /// Reads `word` if it is the next one; says whether it was.
    pub fn skip(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        if is_next {
            self.words.next();
        }
        is_next
    }

    /// The next word; `what` says what it should have been.
    ///
    /// # Errors
    /// At the end of the line.
    pub fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.words.next().ok_or_else(|| format!("{what} is missing"))
    }

    /// The next word as a number; `what` says what it counts.
    ///
    /// # Errors
    /// At the end of the line, or when the word is no such number.
    pub fn number<N: FromStr>(&mut self, what: &str) -> Result<N, String> {
        number(self.word(what)?)
    }

    /// The next word as a range, `START:END` or `START` for an empty one.
    ///
    /// # Errors
    /// At the end of the line, or when the word is no range.
    pub fn range(&mut self, what: &str) -> Result<Range<u64>, String> {
        range(self.word(what)?)
    }

    /// The bounds of all blocks `START:END` that follow. Hostile far ends may name blocks that end before they begin.
    ///
    /// # Errors
    /// When a bound is no number.
    pub fn blocks(&mut self) -> Result<Vec<(u64, u64)>, String> {
        let mut blocks = Vec::new();
        while let Some((start, end)) = self.peek().and_then(|word| word.split_once(':')) {
            blocks.push((number(start)?, number(end)?));
            self.words.next();
        }
        Ok(blocks)
    }

    /// The next two words as a duration, `40 ms`.
    ///
    /// # Errors
    /// When they are none.
    pub fn duration(&mut self) -> Result<Duration, String> {
        duration(&format!("{} {}", self.word("a duration")?, self.word("the unit of a duration")?))
    }

    /// The rest of the line as switches, `key=value`.
    ///
    /// # Errors
    /// When one of them is none.
    pub fn switches(&mut self) -> Result<Vec<(&'a str, &'a str)>, String> {
        let pair = |word: &'a str| word.split_once('=').ok_or(format!("{word:?} is not key=value"));
        self.words.by_ref().map(pair).collect()
    }

    /// The line must end here.
    ///
    /// # Errors
    /// When it does not.
    pub fn end(&mut self) -> Result<(), String> {
        self.words.next().map_or(Ok(()), |word| Err(format!("{word:?} is not understood here")))
    }
}

/// `text` as a number.
///
/// # Errors
/// When it is none, or none that fits.
pub fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text:?} is not a fitting number"))
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once(':').unwrap_or((text, text));
    let (start, end) = (number(start)?, number(end)?);
    if start <= end { Ok(start..end) } else { Err(format!("{text:?} ends before it begins")) }
}

/// `text` as a duration, `40ms` or `40 ms`.
///
/// # Errors
/// When it is none.
pub fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error| format!("{error}"))
}
