//! One mutation, then drain: what hosts may count on.
use prismux_endpoint::{Alarm, Deadline, Drain, Endpoint, Host, Output, drive, expire};
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;

/// Sends each word it is given back a second later, and counts what it sent.
#[derive(Default)]
struct Echo {
    waiting: VecDeque<(Instant, String)>,
    due: VecDeque<String>,
    sent: u32,
    told: u32,
}

impl Endpoint for Echo {
    type Input<'a> = &'a str;
    type Transmit = String;
    type Event = u32;

    fn handle_input(&mut self, now: Instant, input: &str) {
        self.waiting.push_back((now + Duration::from_secs(1), input.to_owned()));
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.waiting.front().is_some_and(|(at, _)| *at <= now) {
            self.due.extend(self.waiting.pop_front().map(|(_, word)| word));
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<String> {
        let word = self.due.pop_front()?;
        self.sent += 1;
        Some(word)
    }

    fn poll_event(&mut self) -> Option<u32> {
        (self.told < self.sent).then(|| {
            self.told = self.sent;
            self.sent
        })
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.waiting.front().map(|&(at, _)| Deadline { at, why: "echo" })
    }
}

struct Log(Vec<String>);

impl Host<Echo> for Log {
    fn transmit(&mut self, _now: Instant, word: String) {
        self.0.push(word);
    }

    fn event(&mut self, _now: Instant, sent: u32) {
        self.0.push(format!("sent {sent}"));
    }
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// Two words wait, the first since 0 s, the second since 1 s.
fn waiting() -> Echo {
    let mut echo = Echo::default();
    echo.handle_input(at(0), "a");
    echo.handle_input(at(1), "b");
    echo
}

#[test]
fn a_drain_gives_transmits_then_events_then_the_next_deadline() {
    let (mut echo, mut log) = (waiting(), Log(Vec::new()));
    echo.handle_timeout(at(1));
    let deadline = drive(&mut echo, at(1), &mut log);
    assert_eq!(log.0, ["a", "sent 1"]);
    assert_eq!(deadline, Some(Deadline { at: at(2), why: "echo" }));
    echo.handle_timeout(at(2));
    assert_eq!(drive(&mut echo, at(2), &mut log), None);
}

#[test]
fn a_host_that_owns_its_endpoint_drains_in_the_same_order() {
    let mut echo = waiting();
    echo.handle_timeout(at(2));
    let (mut drain, mut outputs) = (Drain::new(), Vec::new());
    while let Some(output) = drain.next(&mut echo, at(2)) {
        outputs.push(output);
        // The endpoint is free between two outputs.
        assert!(echo.poll_timeout().is_none());
    }
    let [a, b] = ["a", "b"].map(|word| Output::Transmit(word.to_owned()));
    assert_eq!(outputs, [a, b, Output::Event(2)]);
}

#[test]
fn nothing_expires_before_its_deadline() {
    let mut echo = waiting();
    assert!(!expire(&mut echo, at(1) - Duration::from_nanos(1)));
    assert!(expire(&mut echo, at(1)));
    assert!(!expire(&mut echo, at(1)), "once is enough");
}

#[test]
fn an_alarm_asks_for_an_entry_only_when_the_deadline_comes_closer() {
    let deadline = |seconds| Some(Deadline { at: at(seconds), why: "rto" });
    let mut alarm = Alarm::new();
    assert_eq!(alarm.set(at(0), None), None);
    assert_eq!(alarm.set(at(0), deadline(5)), Some(at(5)));
    assert_eq!(alarm.set(at(1), deadline(9)), None, "what stands in the queue comes earlier");
    assert_eq!(alarm.set(at(2), deadline(3)), Some(at(3)));
    assert!(alarm.rings(at(3)));
    assert!(!alarm.rings(at(5)), "replaced by the entry at 3 s");
    assert_eq!(alarm.set(at(6), deadline(4)), Some(at(6)), "the past is due at once");
}

#[test]
fn the_earlier_deadline_wins_and_the_first_of_equal_ones() {
    let deadline = |seconds, why| Some(Deadline { at: at(seconds), why });
    assert_eq!(Deadline::earliest(deadline(2, "a"), deadline(1, "b")), deadline(1, "b"));
    assert_eq!(Deadline::earliest(deadline(1, "a"), deadline(1, "b")), deadline(1, "a"));
    assert_eq!(Deadline::earliest(None, deadline(1, "b")), deadline(1, "b"));
    assert_eq!(Deadline::earliest(None, None), None);
}
