//! One interface towards one server: closed, opening, open, and so on again.
use super::PathSpec;
use super::carrier::Carried;
use crate::channel::Channel;
use crate::cookie::COOKIE_BYTES;
use crate::handshake::Initiator;
use crate::random;
use crate::wire::{ConnectionId, PROOF_BYTES};
use prismux_units::{Duration, Instant};

/// A Hello is repeated after this, then after twice as long, and so on.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// So many Hellos of one handshake; then another begins, with new keys.
const MOST_HELLOS: u32 = 5;
/// A lost path waits for this before it is opened again, then for twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// A server that prepares the object is asked again after this, then after twice as long, and so on: soon for small files, seldom
/// for large ones.
const FIRST_PREPARING_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PREPARING_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Path {
    pub(super) spec: PathSpec,
    pub(super) state: State,
    /// What was done by pipes that are no more.
    pub(super) past: Past,
    /// The caller wants no more of it.
    pub(super) is_leaving: bool,
    /// Losses since it was last open.
    losses: u32,
    /// How often the server has said that it prepares the object.
    preparing: u32,
}

/// Counters of a path's pipes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    pub(super) received_bytes: u64,
    pub(super) asked_bytes: u64,
    pub(super) repeated_segments: u64,
    pub(super) timeouts: u64,
}

impl Past {
    /// With those of one more pipe.
    pub(super) const fn plus(self, pipe: &Carried) -> Self {
        Self {
            received_bytes: self.received_bytes + pipe.received_bytes,
            asked_bytes: self.asked_bytes + pipe.asked_bytes,
            repeated_segments: self.repeated_segments + pipe.repeated_segments,
            timeouts: self.timeouts + pipe.timeouts,
        }
    }
}

pub(super) enum State {
    /// Its interface is gone.
    Down,
    /// To be opened then.
    Waiting { until: Instant },
    /// The handshake.
    Opening(Box<Opening>),
    /// It may carry a pipe of the connection.
    Open(Box<Open>),
    /// By the caller's wish.
    Closed,
    /// For good, and why.
    Refused(String),
}

pub(super) struct Opening {
    pub(super) id: ConnectionId,
    pub(super) initiator: Initiator,
    pub(super) hello: Vec<u8>,
    pub(super) cookie: [u8; COOKIE_BYTES],
    pub(super) is_due: bool,
    repeat_at: Instant,
    hellos: u32,
}

pub(super) struct Open {
    /// Ours.
    pub(super) id: ConnectionId,
    pub(super) channel: Channel,
    pub(super) proof: [u8; PROOF_BYTES],
}

impl Opening {
    /// A Hello leaves.
    pub(super) fn sent(&mut self, now: Instant) {
        let wait = (FIRST_WAIT * (1 << self.hellos.min(8))).min(LONGEST_WAIT);
        self.hellos += 1;
        self.is_due = false;
        self.repeat_at = now + wait;
    }
}

impl Path {
    pub(super) fn new(spec: PathSpec, now: Instant) -> Self {
        let state = State::Waiting { until: now };
        Self { spec, state, past: Past::default(), is_leaving: false, losses: 0, preparing: 0 }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    pub(super) const fn id(&self) -> Option<ConnectionId> {
        match &self.state {
            State::Opening(opening) => Some(opening.id),
            State::Open(open) => Some(open.id),
            _ => None,
        }
    }

    pub(super) const fn is_refused(&self) -> bool {
        matches!(self.state, State::Refused(_))
    }

    pub(super) fn state_name(&self) -> &'static str {
        match self.state {
            State::Down => "interface gone",
            State::Waiting { .. } | State::Opening(_) if self.preparing > 0 => "server prepares",
            State::Waiting { .. } | State::Opening(_) => "opening",
            State::Open(_) if self.is_leaving => "closing",
            State::Open(_) => "open",
            State::Closed => "closed",
            State::Refused(_) => "refused",
        }
    }

    pub(super) fn describe(&self) -> String {
        match &self.state {
            State::Refused(why) => format!("{}: {why}", self.spec.address),
            State::Opening(_) | State::Waiting { .. } => format!("{}: does not answer", self.spec.address),
            _ => format!("{}: {}", self.spec.address, self.state_name()),
        }
    }

    /// It was lost: it is tried again, later each time.
    pub(super) fn wait(&mut self, now: Instant) {
        let pause = (FIRST_PAUSE * (1 << self.losses.min(8))).min(LONGEST_PAUSE);
        self.losses += 1;
        self.state = State::Waiting { until: now + pause };
    }

    /// The server is there but not ready.
    pub(super) fn wait_for_server(&mut self, now: Instant) {
        let pause = (FIRST_PREPARING_PAUSE * (1 << self.preparing.min(8))).min(LONGEST_PREPARING_PAUSE);
        self.preparing += 1;
        self.state = State::Waiting { until: now + pause };
    }

    pub(super) fn retry_now(&mut self, now: Instant) {
        if matches!(self.state, State::Down | State::Waiting { .. }) {
            self.state = State::Waiting { until: now };
        }
    }

    pub(super) fn opened(&mut self) {
        self.losses = 0;
        self.preparing = 0;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Waiting { until } => Some(*until),
            State::Opening(opening) if !opening.is_due => Some(opening.repeat_at),
            _ => None,
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match &mut self.state {
            State::Waiting { until } if *until <= now => self.begin(now),
            State::Opening(opening) if opening.repeat_at <= now => {
                if opening.hellos < MOST_HELLOS {
                    opening.is_due = true;
                } else {
                    self.begin(now);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Instant) {
        let (initiator, hello) = Initiator::new(&self.spec.key, &self.spec.object);
        self.state = State::Opening(Box::new(Opening {
            id: ConnectionId(random::number()),
            initiator,
            hello,
            cookie: [0; COOKIE_BYTES],
            is_due: true,
            repeat_at: now,
            hellos: 0,
        }));
    }
}
