//! A packet in words, and an expectation against it.
use crate::words::Words;
use std::fmt;

/// A packet that left, in the words in which a script would expect it: what it is, then named fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packet {
    head: Vec<String>,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    values: Vec<String>,
    must_be_named: bool,
}

impl Packet {
    /// A packet whose first words are `head`: every expectation begins with them.
    pub fn new(head: impl fmt::Display) -> Self {
        let head = head.to_string().split_whitespace().map(str::to_owned).collect();
        Self { head, fields: Vec::new() }
    }

    /// Adds a field that an expectation may name, with values that spaces separate (perhaps none).
    #[must_use]
    pub fn with(self, name: &str, values: impl fmt::Display) -> Self {
        self.add(name, &values, false)
    }

    /// Adds a field that every expectation has to name.
    #[must_use]
    pub fn with_essential(self, name: &str, values: impl fmt::Display) -> Self {
        self.add(name, &values, true)
    }

    fn add(mut self, name: &str, values: &impl fmt::Display, must_be_named: bool) -> Self {
        let values = values.to_string().split_whitespace().map(str::to_owned).collect();
        self.fields.push(Field { name: name.to_owned(), values, must_be_named });
        self
    }

    /// Whether the packet is what `expected` says: its first words, then fields by name in any order with their values,
    /// or `-name` for a field that must not be there. Fields that are not named may be anything, essential ones aside.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn check(&self, mut expected: Words<'_>) -> Result<(), String> {
        for word in &self.head {
            let found = expected.word("more of the packet")?;
            if found != word {
                return Err(format!("{word} was sent, {found} expected"));
            }
        }
        let mut named = Vec::new();
        while let Ok(word) = expected.word("") {
            if let Some(absent) = word.strip_prefix('-') {
                if self.field(absent).is_some() {
                    return Err(format!("{absent} was sent"));
                }
                continue;
            }
            let field = self.field(word).ok_or_else(|| format!("no {word} was sent"))?;
            for value in &field.values {
                let found = expected.word(word)?;
                if found != value {
                    return Err(format!("{word} {} was sent, {found} expected", field.values.join(" ")));
                }
            }
            named.push(word);
        }
        let is_silent = |field: &&Field| field.must_be_named && !named.contains(&field.name.as_str());
        match self.fields.iter().find(is_silent) {
            Some(field) => Err(format!("{} {} was sent, not expected", field.name, field.values.join(" "))),
            None => Ok(()),
        }
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head.join(" "))?;
        for field in &self.fields {
            write!(f, " {}", field.name)?;
            for value in &field.values {
                write!(f, " {value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(expected: &str) -> Option<String> {
        let packet =
            Packet::new("ACK 1:1001").with("ack", 7).with("ts", "3 4").with_essential("sack", "9:10");
        packet.check(Words::of(expected)).err()
    }

    #[test]
    fn what_is_named_must_agree_and_essential_fields_must_be_named() {
        assert_eq!(difference("ACK 1:1001 ts 3 4 sack 9:10 -mss"), None);
        for expected in [
            "ACK 1:1001",
            "ACK 1:1002 sack 9:10",
            "ACK sack 9:10",
            "ACK 1:1001 sack 9:10 ack 8",
            "ACK 1:1001 sack 9:10 10:11",
            "ACK 1:1001 sack 9:10 -ts",
            "ACK 1:1001 sack 9:10 mss 4",
            "ACK 1:1001 sack",
        ] {
            assert!(difference(expected).is_some(), "{expected}");
        }
    }
}
