//! When a member calls the proxy, and what it concludes from the answers. No clock, no sockets: testable alone.
use crate::tunnel::control::{Bye, Challenge, Hello, Message, Welcome};
use prismux_units::{Duration, Instant, Rate};

/// For this long after the last packet, hellos come at the short interval.
const ACTIVE_FOR: Duration = Duration::from_secs(10);

/// Unanswered hellos after which the proxy counts as silent.
const PATIENCE_HELLOS: u32 = 3;

/// How often a member calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// While traffic flows, and until the proxy has answered.
    pub active: Duration,
    /// While none does.
    pub idle: Duration,
}

/// Whether the proxy knows us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not yet, or not any more.
    Calling,
    /// It answered.
    Registered,
}

/// A member's side of the registration.
#[derive(Debug)]
pub struct Registration {
    name: String,
    rate: Option<Rate>,
    intervals: Intervals,
    state: State,
    session: u64,
    counter: u64,
    next_hello: Instant,
    last_traffic: Option<Instant>,
    unanswered: u32,
    sent_at: Instant,
    rtt: Option<Duration>,
}

impl Registration {
    /// Starts calling at once. `first_counter` must be greater than any used by this name before: the time of day in
    /// microseconds is.
    pub fn new(name: &str, rate: Option<Rate>, intervals: Intervals, first_counter: u64) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            intervals,
            state: State::Calling,
            session: 0,
            counter: first_counter,
            next_hello: Instant::ZERO,
            last_traffic: None,
            unanswered: 0,
            sent_at: Instant::ZERO,
            rtt: None,
        }
    }

    /// When [`Registration::poll_hello`] will have one.
    pub const fn deadline(&self) -> Instant {
        self.next_hello
    }

    /// The hello that is due, if one is.
    pub fn poll_hello(&mut self, now: Instant) -> Option<Message> {
        if now < self.next_hello {
            return None;
        }
        let interval = self.interval(now);
        self.counter += 1;
        self.next_hello = now + interval;
        self.sent_at = now;
        self.unanswered += 1;
        if self.unanswered > PATIENCE_HELLOS {
            self.state = State::Calling;
        }
        Some(Message::Hello(Hello {
            session: self.session,
            counter: self.counter,
            next_within: interval,
            rate: self.rate,
            name: self.name.clone(),
        }))
    }

    /// Notes a data packet in either direction. The first after a quiet time calls for a hello at once, because the
    /// proxy must now hear from us soon.
    pub fn note_traffic(&mut self, now: Instant) {
        if !self.is_active(now) && self.state == State::Registered {
            self.next_hello = self.next_hello.min(now);
        }
        self.last_traffic = Some(now);
    }

    /// The proxy accepted a hello. Says whether that is news.
    pub fn welcome(&mut self, now: Instant, welcome: Welcome) -> bool {
        if welcome.session != self.session || welcome.counter != self.counter {
            return false;
        }
        self.rtt = Some(now - self.sent_at);
        self.unanswered = 0;
        std::mem::replace(&mut self.state, State::Registered) == State::Calling
    }

    /// The proxy wants the hello again: it has been restarted, or has heard this counter before.
    pub fn challenge(&mut self, now: Instant, challenge: Challenge) {
        let repeated = challenge.session == self.session && challenge.counter < self.counter;
        self.session = challenge.session;
        self.counter = self.counter.max(challenge.counter);
        // The same challenge again must not make us call faster than the interval.
        if !repeated || self.unanswered == 0 {
            self.next_hello = self.next_hello.min(now);
        }
    }

    /// The last message: we leave.
    pub fn bye(&mut self) -> Message {
        self.counter += 1;
        Message::Bye(Bye { session: self.session, counter: self.counter, name: self.name.clone() })
    }

    /// Whether the proxy knows us.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Time between the last answered hello and its answer.
    pub const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    fn is_active(&self, now: Instant) -> bool {
        self.last_traffic.is_some_and(|last| now - last < ACTIVE_FOR)
    }

    fn interval(&self, now: Instant) -> Duration {
        let quiet = self.state == State::Registered && !self.is_active(now) && self.unanswered == 0;
        if quiet { self.intervals.idle } else { self.intervals.active }
    }
}

#[cfg(test)]
mod tests;
