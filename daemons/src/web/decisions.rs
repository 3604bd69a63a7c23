//! What happened and what was decided, in words: the newest events of the status page, kept for longer.
use crate::events::is_trouble;
use prismux_trace::event::Line;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Decisions kept: the newest, 300 KB at most.
const MAX_DECISIONS: usize = 512;
/// Characters kept of a sentence.
const MAX_CHARACTERS: usize = 300;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Decision {
    /// Rises by one with each event of the daemon.
    pub number: u64,
    /// When, in milliseconds from the daemon's start.
    pub at_ms: u64,
    pub text: String,
    /// Whether a person should look at it.
    pub is_trouble: bool,
}

/// The newest decisions. Cloning copies pointers.
#[derive(Debug, Clone, Default)]
pub(super) struct Decisions(VecDeque<Arc<Decision>>);

impl Decisions {
    /// Reads the events of a status page, of which some are known.
    pub fn read(&mut self, events: &Value) {
        for event in events.as_array().into_iter().flatten() {
            let Some(number) = event["number"].as_u64() else { continue };
            if self.0.back().is_some_and(|newest| newest.number >= number) {
                continue;
            }
            let Ok(line) = Line::deserialize(event) else { continue };
            if self.0.len() >= MAX_DECISIONS {
                self.0.pop_front();
            }
            self.0.push_back(Arc::new(Decision {
                number,
                at_ms: line.time_ns / 1_000_000,
                text: line.to_string().chars().take(MAX_CHARACTERS).collect(),
                is_trouble: is_trouble(&line),
            }));
        }
    }

    /// Those with a number from this one on, the oldest first.
    pub fn from(&self, number: u64) -> Vec<Arc<Decision>> {
        self.0.iter().filter(|decision| decision.number >= number).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn events(numbers: std::ops::Range<u64>) -> Value {
        numbers
            .map(|number| {
                json!({ "number": number, "time_ns": number * 1_000_000, "event": "link_state_changed",
                    "node": "home", "member": "wan1", "state": "silent" })
            })
            .collect()
    }

    #[test]
    fn the_newest_decisions_are_kept_once_each_in_words() {
        let mut decisions = Decisions::default();
        // Each page repeats much of the one before.
        for first in 0..1000 {
            decisions.read(&events(first..first + 64));
        }
        let kept = decisions.from(0);
        assert_eq!(kept.len(), MAX_DECISIONS);
        assert!(kept.windows(2).all(|pair| pair[1].number == pair[0].number + 1));
        let last = kept.last().unwrap();
        assert_eq!((last.number, last.at_ms, last.is_trouble), (1062, 1062, true));
        assert_eq!(last.text, "home: the link of member wan1 is silent");
        assert_eq!(decisions.from(1060).len(), 3);
        decisions.read(&json!([{ "number": 2000, "event": "something of a later version" }, 7]));
        assert_eq!(decisions.from(0).len(), MAX_DECISIONS);
    }
}
