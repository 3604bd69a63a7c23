use super::*;

/// A machine that says every word back after a time.
struct Echo {
    delay: Duration,
    queue: VecDeque<(Instant, String)>,
    said: u64,
}

impl Subject for Echo {
    const QUESTIONS: &'static [&'static str] = &["said"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let delay = Duration::from_millis(config.number("a delay")?);
        Ok(Self { delay, queue: VecDeque::new(), said: 0 })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        if words.skip("said") {
            return same("said", self.said, words.number("how often")?);
        }
        if !words.skip("<") {
            return Err("unknown step".to_owned());
        }
        self.queue.push_back((now + self.delay, words.word("a word")?.to_owned()));
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        self.queue.front().filter(|(at, _)| *at <= now)?;
        let (_, word) = self.queue.pop_front()?;
        self.said += 1;
        Some(Packet::new(word))
    }

    fn deadline(&self) -> Option<Instant> {
        self.queue.front().map(|(at, _)| *at)
    }

    fn wake(&mut self, _now: Instant) {}
}

fn error(text: &str) -> String {
    play::<Echo>(text).expect_err("it fails")
}

#[test]
fn packets_are_expected_at_their_time_and_all_of_them() {
    let good = "config 50\n< a\nnothing\nat 10 ms < b\nat 50 ms > a\nsaid 1\nafter 10 ms > b\nat 2 s nothing";
    assert_eq!(play::<Echo>(good), Ok(()));
    assert!(error("config 50\n< a\nat 60 ms > a").contains("too early"));
    assert!(error("config 50\n< a\nat 40 ms > a").contains("nothing was sent"));
    assert!(error("config 50\n< a\nat 60 ms nothing").contains("unexpected at 50"));
    assert!(error("config 50\n< a\nat 60 ms < b").contains("unexpected"));
    assert!(error("config 0\n< a").contains("at the end: unexpected"));
}

#[test]
fn what_is_not_understood_is_told_with_its_line() {
    assert!(error("config 50\n\nsing").starts_with("line 3: unknown step\n    sing"));
    assert!(error("config 50\n< a b").contains("\"b\" is not understood here"));
    assert!(error("config fifty").starts_with("config fifty: "));
    assert!(error("config 50 60").starts_with("config 50 60: "));
    assert!(error("config 50\nat 10 ms nothing\nat 5 ms nothing").contains("in the past"));
}
