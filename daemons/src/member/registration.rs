//! When a member calls the proxy, and what it concludes from the answers. No clock, no sockets: testable alone.
use crate::tunnel::control::{Accept, Bye, Challenge, Hello, Lost, MAX_LEAP, Message, Offer, Welcome};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_sharing::Tier;
use prismux_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// For this long after the last packet, hellos come at the short interval.
const ACTIVE_FOR: Duration = Duration::from_secs(10);

/// Unanswered hellos after which the proxy counts as silent.
const MAX_UNANSWERED: u32 = 3;

/// Offers of receipts in a session: a proxy that has not answered these does not know of receipts. All but the last say
/// that repairs are of use, which a proxy may not know of.
const MAX_OFFERS: u32 = 3;

/// How often a member calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// While traffic flows, and until the proxy has answered.
    pub active: Duration,
    /// While none does.
    pub idle: Duration,
}

/// Whether the proxy knows this member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not yet, or not any more.
    Calling,
    /// It answered.
    Registered,
}

/// What the proxy answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It accepted a hello.
    Welcome(Welcome),
    /// It wants the hello again: it has been restarted, or has heard this counter before.
    Challenge(Challenge),
    /// It wants receipts.
    Accept(Accept),
}

/// What a member learns about its registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationEvent {
    /// The proxy knows this member from now on.
    Registered,
    /// Nobody has answered since this instant. Told after three hellos, and again whenever their number has doubled.
    Unanswered {
        /// When the first unanswered hello went out.
        since: Instant,
    },
    /// The proxy has heard a later hello under this name than this member ever sent.
    NameContested,
    /// Receipts are offered: packets with numbers may come from now on.
    ReceiptsOffered {
        /// The epoch that receipts name.
        epoch: u32,
    },
}

/// The offer of receipts in one session of the proxy.
#[derive(Debug, Clone, Copy)]
struct Offered {
    session: u64,
    epoch: u32,
    count: u32,
    accepted: bool,
}

/// A member's side of the registration. It begins to call at once.
#[derive(Debug)]
pub struct Registration {
    name: String,
    rate: Option<Rate>,
    tier: Tier,
    limit: Option<Rate>,
    intervals: Intervals,
    state: State,
    session: u64,
    counter: u64,
    next_hello: Instant,
    last_traffic: Option<Instant>,
    /// When the proxy last sent a packet for a receiver.
    last_delivery: Option<Instant>,
    unanswered: u32,
    /// When the first hello without an answer was sent.
    silent_since: Instant,
    sent_at: Instant,
    rtt: Option<Duration>,
    /// Receipts can be written, and what came of that.
    offers_receipts: bool,
    offered: Option<Offered>,
    /// It has taken leave for a time.
    is_resting: bool,
    messages: VecDeque<Message>,
    events: VecDeque<RegistrationEvent>,
}

impl Registration {
    /// A member that nobody knows yet. `first_counter` must be greater than any used by this name before: the time of
    /// day in microseconds is.
    pub fn new(name: &str, rate: Option<Rate>, intervals: Intervals, first_counter: u64) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            tier: Tier::Primary,
            limit: None,
            intervals,
            state: State::Calling,
            session: 0,
            counter: first_counter,
            next_hello: Instant::ZERO,
            last_traffic: None,
            last_delivery: None,
            unanswered: 0,
            silent_since: Instant::ZERO,
            sent_at: Instant::ZERO,
            rtt: None,
            offers_receipts: false,
            offered: None,
            is_resting: false,
            messages: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Has it offer receipts to the proxy.
    #[must_use]
    pub fn with_receipts(mut self, offers_receipts: bool) -> Self {
        self.offers_receipts = offers_receipts;
        self
    }

    /// Has it say that its link is to stand by while one of a better tier lives, and how much it wants at most.
    #[must_use]
    pub const fn with_terms(mut self, tier: Tier, limit: Option<Rate>) -> Self {
        (self.tier, self.limit) = (tier, limit);
        self
    }

    /// Has it begin with what a session of the proxy was called before this member was restarted: if it still is, the
    /// first hello is answered by a welcome.
    #[must_use]
    pub const fn in_session(mut self, session: u64) -> Self {
        self.session = session;
        self
    }

    /// What the proxy calls its session; 0 when it has not said.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// Notes a data packet in either direction. The first after a quiet time calls for a hello at once, because the
    /// proxy must now hear from this member soon.
    pub fn note_traffic(&mut self, now: Instant) {
        if !self.is_active(now) && self.state == State::Registered {
            self.next_hello = self.next_hello.min(now);
        }
        self.last_traffic = Some(now);
    }

    /// Notes a packet from the proxy for a receiver: such packets go to members that the proxy knows, so that it is no
    /// silence of the proxy's if hellos are lost in a full queue on the way there.
    pub fn note_delivery(&mut self, now: Instant) {
        self.note_traffic(now);
        self.last_delivery = Some(now);
    }

    /// Has it call at once: the proxy is there again, or another one.
    pub fn call_now(&mut self, now: Instant) {
        if !self.is_resting {
            self.next_hello = self.next_hello.min(now);
            self.handle_timeout(now);
        }
    }

    /// Takes leave for a time: nothing is sent until [`Registration::resume`].
    pub fn rest(&mut self) {
        if self.state == State::Registered {
            self.bye();
        }
        (self.state, self.is_resting, self.unanswered) = (State::Calling, true, 0);
        self.next_hello = Instant::MAX;
    }

    /// Calls again after a rest.
    pub fn resume(&mut self, now: Instant) {
        (self.is_resting, self.next_hello) = (false, now);
    }

    /// Whether there is a session of the proxy to take leave of.
    pub const fn is_known(&self) -> bool {
        self.session != 0
    }

    /// Whether it has taken leave for a time.
    pub const fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// Whether a hello before the last has had no answer yet.
    pub const fn is_unanswered(&self) -> bool {
        self.unanswered > 1
    }

    /// Takes leave: the last message.
    pub fn bye(&mut self) {
        self.counter = self.counter.saturating_add(1);
        let bye = Bye { session: self.session, counter: self.counter, name: self.name.clone() };
        self.messages.push_back(Message::Bye(bye));
        self.next_hello = Instant::MAX;
    }

    /// Tells of an uplink of the same home that is lost.
    pub fn tell_lost(&mut self, name: &str) {
        self.counter = self.counter.saturating_add(1);
        let lost = Lost { session: self.session, counter: self.counter, name: name.to_owned() };
        self.messages.push_back(Message::Lost(lost));
    }

    /// Whether the proxy knows this member.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Time between the last answered hello and its answer.
    pub const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    fn hello(&mut self, now: Instant) {
        let interval = self.interval(now);
        self.counter = self.counter.saturating_add(1);
        self.next_hello = now + interval;
        let has_answered_by_data = self.last_delivery.is_some_and(|at| at > self.sent_at);
        if self.state == State::Registered && has_answered_by_data {
            self.unanswered = 0;
        }
        self.sent_at = now;
        if self.unanswered == 0 {
            self.silent_since = now;
        }
        self.unanswered = self.unanswered.saturating_add(1);
        if self.unanswered > MAX_UNANSWERED {
            self.state = State::Calling;
            if self.unanswered.is_power_of_two() {
                self.events.push_back(RegistrationEvent::Unanswered { since: self.silent_since });
            }
        }
        self.messages.push_back(Message::Hello(Hello {
            session: self.session,
            counter: self.counter,
            next_within: interval,
            rate: self.rate,
            tier: self.tier,
            limit: self.limit,
            name: self.name.clone(),
        }));
    }

    fn welcome(&mut self, now: Instant, welcome: Welcome) {
        if welcome.session != self.session || welcome.counter != self.counter {
            return;
        }
        self.rtt = Some(now.saturating_since(self.sent_at));
        self.unanswered = 0;
        if std::mem::replace(&mut self.state, State::Registered) == State::Calling {
            self.events.push_back(RegistrationEvent::Registered);
        }
        if self.offers_receipts {
            self.offer();
        }
    }

    /// Offers receipts, unless this proxy has accepted them or does not know of them.
    fn offer(&mut self) {
        let offered = match self.offered {
            Some(offered) if offered.session == self.session => offered,
            _ => {
                let epoch = self.counter.wrapping_add(1) as u32;
                self.events.push_back(RegistrationEvent::ReceiptsOffered { epoch });
                Offered { session: self.session, epoch, count: 0, accepted: false }
            }
        };
        if !offered.accepted && offered.count < MAX_OFFERS {
            self.counter = self.counter.saturating_add(1);
            let (session, counter) = (self.session, self.counter);
            let repairs = offered.count + 1 < MAX_OFFERS;
            self.messages.push_back(Message::Offer(Offer {
                session,
                counter,
                epoch: offered.epoch,
                repairs,
            }));
        }
        self.offered = Some(Offered { count: offered.count.saturating_add(1), ..offered });
    }

    fn accepted(&mut self, accept: Accept) {
        if let Some(offered) = &mut self.offered
            && accept.session == offered.session
        {
            offered.accepted = true;
        }
    }

    fn challenge(&mut self, now: Instant, challenge: Challenge) {
        let same_session = challenge.session == self.session;
        if same_session && challenge.counter > self.counter.saturating_add(MAX_LEAP) {
            self.events.push_back(RegistrationEvent::NameContested);
        }
        let repeated = same_session && challenge.counter < self.counter;
        self.session = challenge.session;
        self.counter = self.counter.max(challenge.counter);
        // The same challenge again must not make this member call faster than the interval.
        if !repeated || self.unanswered == 0 {
            self.next_hello = self.next_hello.min(now);
        }
    }

    fn is_active(&self, now: Instant) -> bool {
        self.last_traffic.is_some_and(|last| now.saturating_since(last) < ACTIVE_FOR)
    }

    fn interval(&self, now: Instant) -> Duration {
        let quiet = self.state == State::Registered && !self.is_active(now) && self.unanswered == 0;
        if quiet { self.intervals.idle } else { self.intervals.active }
    }
}

impl Endpoint for Registration {
    type Input<'a> = Answer;
    type Transmit = Message;
    type Event = RegistrationEvent;

    fn handle_input(&mut self, now: Instant, answer: Answer) {
        if self.is_resting {
            return;
        }
        match answer {
            Answer::Welcome(welcome) => self.welcome(now, welcome),
            Answer::Challenge(challenge) => self.challenge(now, challenge),
            Answer::Accept(accept) => self.accepted(accept),
        }
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.next_hello {
            self.hello(now);
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Message> {
        self.messages.pop_front()
    }

    fn poll_event(&mut self) -> Option<RegistrationEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        (self.next_hello != Instant::MAX).then_some(Deadline { at: self.next_hello, why: "hello" })
    }
}

#[cfg(test)]
mod tests;
