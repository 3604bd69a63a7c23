//! What a machine has told its host, for a script to ask about.
use crate::words::Words;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Events that no question has passed yet, in the words of their `Debug` form.
#[derive(Debug, Clone, Default)]
pub struct Events {
    told: VecDeque<String>,
}

impl Events {
    /// The first words of the questions that [`Events::answer`] answers.
    pub const QUESTIONS: [&'static str; 2] = ["event", "no-event"];

    /// The machine has told this.
    pub fn push(&mut self, event: impl Debug) {
        self.told.push_back(format!("{event:?}"));
    }

    /// Answers `event NAME`: an event whose form begins with `NAME` was told; the questions that follow are about
    /// later ones. Or `no-event NAME`: none was.
    ///
    /// # Errors
    /// When it is otherwise.
    pub fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        let name = words.word("an event")?;
        let found = self.told.iter().position(|event| event.starts_with(name));
        match (question, found) {
            ("event", Some(position)) => {
                self.told.drain(..=position);
                Ok(())
            }
            ("event", None) => Err(format!("no event {name}; told were {:?}", self.told)),
            (_, Some(_)) => Err(format!("event {name} was told")),
            (_, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_answers_once_and_takes_those_before_it_along() {
        let mut events = Events::default();
        events.push(Some(1));
        events.push(Some(2));
        let mut ask = |question, name| events.answer(question, &mut Words::of(name)).is_ok();
        assert!(ask("no-event", "None") && ask("event", "Some(2)"));
        assert!(!ask("event", "Some") && ask("no-event", "Some"));
        assert!(!ask("event", ""));
    }
}
