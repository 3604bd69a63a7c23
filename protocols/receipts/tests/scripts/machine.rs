//! The machine under test: one of the two ends.
use crate::meter::Near;
use crate::writer::Far;
use prismux_script::{Packet, Subject, Words};
use prismux_units::Instant;

/// The end that a script plays.
pub enum Machine {
    Far(Box<Far>),
    Near(Box<Near>),
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] =
        &["event", "no-event", "count", "rtt", "queueing", "rate", "capacity", "busy", "loss", "threshold"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        match config.word("writer or meter")? {
            "writer" => Far::new(config).map(|far| Self::Far(Box::new(far))),
            "meter" => Ok(Self::Near(Box::default())),
            other => Err(format!("{other:?} is neither writer nor meter")),
        }
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match self {
            Self::Far(far) => far.step(now, words),
            Self::Near(near) => near.step(now, words),
        }
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        match self {
            Self::Far(far) => far.sent(now),
            Self::Near(_) => None,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Far(far) => far.deadline(),
            Self::Near(near) => near.deadline(),
        }
    }

    fn wake(&mut self, now: Instant) {
        match self {
            Self::Far(_) => {}
            Self::Near(near) => near.wake(now),
        }
    }
}
