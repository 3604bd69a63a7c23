//! A script against a machine: time passes, packets come and leave.
use crate::packet::Packet;
use crate::script::{Script, Step, When};
use crate::words::Words;
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;
use std::fmt::Debug;

/// How far from its time an expected packet may leave.
const TOLERANCE: Duration = Duration::from_millis(1);

/// What a script is played against: a machine, and the far ends and the application in whose place the script acts.
pub trait Subject: Sized {
    /// First words of the steps that only ask: they may stand between packets that have left and their expectation.
    const QUESTIONS: &'static [&'static str];

    /// Makes the machine as the words after `config` say.
    ///
    /// # Errors
    /// When they cannot be understood.
    fn new(config: &mut Words<'_>) -> Result<Self, String>;

    /// Plays a step other than an expectation: `<` and a packet, a call of the application, or a question.
    ///
    /// # Errors
    /// When the step cannot be understood, or a question is answered otherwise than expected.
    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String>;

    /// The next packet that leaves.
    fn sent(&mut self, now: Instant) -> Option<Packet>;

    /// When the machine wants to be woken.
    fn deadline(&self) -> Option<Instant>;

    /// That time has come.
    fn wake(&mut self, now: Instant);

    /// The instant from which `at` counts.
    fn start(&self) -> Instant {
        Instant::ZERO
    }
}

struct Player<S> {
    subject: S,
    now: Instant,
    sent: VecDeque<(Instant, Packet)>,
}

/// Plays the script `text`.
///
/// # Errors
/// The first step that fails, with its line.
pub fn play<S: Subject>(text: &str) -> Result<(), String> {
    let script = Script::parse(text)?;
    let mut config = Words::of(&script.config);
    let subject = S::new(&mut config).and_then(|subject| config.end().map(|()| subject));
    let subject = subject.map_err(|error| format!("config {}: {error}", script.config))?;
    let mut player = Player { now: subject.start(), subject, sent: VecDeque::new() };
    player.drain();
    for step in &script.steps {
        player.play(step).map_err(|error| format!("line {}: {error}\n    {}", step.line, step.text))?;
    }
    player.nothing_sent().map_err(|error| format!("at the end: {error}"))
}

impl<S: Subject> Player<S> {
    fn play(&mut self, step: &Step) -> Result<(), String> {
        let target = match step.when {
            When::Now => self.now,
            When::At(time) => self.subject.start() + time,
            When::After(time) => self.now + time,
        };
        let mut words = Words::of(&step.text);
        if words.skip(">") {
            return self.expect(target, words);
        }
        self.advance(target, false);
        if target < self.now {
            return Err("the time is in the past".to_owned());
        }
        self.now = target;
        if !words.peek().is_some_and(|word| S::QUESTIONS.contains(&word)) {
            self.nothing_sent()?;
        }
        if !words.skip("nothing") {
            self.subject.step(self.now, &mut words)?;
            self.drain();
        }
        words.end()
    }

    fn drain(&mut self) {
        while let Some(packet) = self.subject.sent(self.now) {
            self.sent.push_back((self.now, packet));
        }
    }

    fn nothing_sent(&self) -> Result<(), String> {
        match self.sent.front() {
            Some((at, packet)) => Err(format!("unexpected at {}: {packet}", self.since_start(*at))),
            None => Ok(()),
        }
    }

    fn since_start(&self, at: Instant) -> Duration {
        at.saturating_since(self.subject.start())
    }

    /// Wakes the machine as often as it wants up to `target`; stops when a packet leaves, if asked.
    fn advance(&mut self, target: Instant, until_sent: bool) {
        while !until_sent || self.sent.is_empty() {
            let Some(deadline) = self.subject.deadline().filter(|&deadline| deadline <= target) else {
                return;
            };
            self.now = self.now.max(deadline);
            self.subject.wake(self.now);
            self.drain();
        }
    }

    fn expect(&mut self, target: Instant, expected: Words<'_>) -> Result<(), String> {
        self.advance(target + TOLERANCE, true);
        let Some((at, packet)) = self.sent.pop_front() else {
            let next = self.subject.deadline().map(|at| self.since_start(at));
            return Err(format!("nothing was sent; next deadline {next:?}"));
        };
        if at + TOLERANCE < target {
            return Err(format!("sent too early, at {}: {packet}", self.since_start(at)));
        }
        self.now = self.now.max(at);
        packet.check(expected).map_err(|error| format!("{error}; sent {packet}"))
    }
}

/// The answer to a question.
///
/// # Errors
/// When `found` is not what was expected.
pub fn same<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, expected {expected:?}")) }
}

#[cfg(test)]
mod tests;
