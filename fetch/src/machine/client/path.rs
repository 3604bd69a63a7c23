//! One interface towards one server: closed, opening, open, and so on again.
use super::PathSpec;
use super::carrier::Carried;
use super::event::{PathEnd, Rejection};
use crate::channel::Channel;
use crate::handshake::{Initiator, Refusal};
use crate::wire::{COOKIE_BYTES, ConnectionId, RESET_TOKEN_BYTES};
use prismux_endpoint::Deadline;
use prismux_sealed::Entropy;
use prismux_units::{Duration, Instant};

/// A Hello is repeated after this, then after twice as long, and so on.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(4);
/// So many Hellos of one handshake; then another begins, with new keys.
const MAX_HELLOS: u32 = 5;
/// A lost path waits for this before it is opened again, then for twice as long, and so on; so does one whose server
/// is busy.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);
/// A server that prepares the object is asked again after this, then after twice as long, and so on: soon for small
/// files, seldom for large ones.
const FIRST_PREPARING_PAUSE: Duration = Duration::from_millis(20);
const MAX_PREPARING_PAUSE: Duration = Duration::from_secs(1);

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
    /// The server cannot serve now, and why.
    busy: Option<Refusal>,
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
    Refused(Rejection),
}

pub(super) struct Opening {
    pub(super) id: ConnectionId,
    pub(super) initiator: Initiator,
    pub(super) hello: Vec<u8>,
    pub(super) cookie: [u8; COOKIE_BYTES],
    pub(super) is_due: bool,
    /// A Retry has been obeyed: RFC 9000 section 17.2.5.2 allows one.
    pub(super) is_retried: bool,
    repeat_at: Instant,
    hellos: u32,
}

pub(super) struct Open {
    /// Ours.
    pub(super) id: ConnectionId,
    pub(super) channel: Channel,
    pub(super) reset_token: [u8; RESET_TOKEN_BYTES],
}

impl Opening {
    /// A Hello leaves.
    pub(super) fn sent(&mut self, now: Instant) {
        let wait = (FIRST_WAIT * (1 << self.hellos.min(8))).min(MAX_WAIT);
        self.hellos += 1;
        self.is_due = false;
        self.repeat_at = now + wait;
    }
}

impl Path {
    pub(super) fn new(spec: PathSpec, now: Instant) -> Self {
        let state = State::Waiting { until: now };
        Self { spec, state, past: Past::default(), is_leaving: false, losses: 0, preparing: 0, busy: None }
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
            State::Waiting { .. } | State::Opening(_) if self.busy.is_some() => "server busy",
            State::Waiting { .. } | State::Opening(_) => "opening",
            State::Open(_) if self.is_leaving => "closing",
            State::Open(_) => "open",
            State::Closed => "closed",
            State::Refused(_) => "refused",
        }
    }

    /// How far it has come, when the download fails.
    pub(super) fn end(&self) -> PathEnd {
        match (&self.state, self.busy) {
            (State::Refused(why), _) => PathEnd::Refused(*why),
            (State::Opening(_) | State::Waiting { .. }, Some(why)) => PathEnd::Busy(why),
            (State::Opening(_) | State::Waiting { .. }, None) if self.preparing == 0 => PathEnd::NoAnswer,
            _ => PathEnd::Other(self.state_name()),
        }
    }

    /// It was lost: it is tried again, later each time.
    pub(super) fn wait(&mut self, now: Instant) {
        let pause = (FIRST_PAUSE * (1 << self.losses.min(8))).min(MAX_PAUSE);
        self.losses += 1;
        self.state = State::Waiting { until: now + pause };
    }

    /// The server is there but cannot serve now.
    pub(super) fn wait_for_place(&mut self, now: Instant, why: Refusal) {
        self.busy = Some(why);
        self.wait(now);
    }

    /// The server is there but not ready.
    pub(super) fn wait_for_server(&mut self, now: Instant) {
        let pause = (FIRST_PREPARING_PAUSE * (1 << self.preparing.min(8))).min(MAX_PREPARING_PAUSE);
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
        self.busy = None;
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        match &self.state {
            State::Waiting { until } => Some(Deadline { at: *until, why: "open" }),
            State::Opening(opening) if !opening.is_due => {
                Some(Deadline { at: opening.repeat_at, why: "handshake" })
            }
            _ => None,
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, entropy: &mut Entropy) {
        match &mut self.state {
            State::Waiting { until } if *until <= now => self.begin(now, entropy),
            State::Opening(opening) if opening.repeat_at <= now => {
                if opening.hellos < MAX_HELLOS {
                    opening.is_due = true;
                } else {
                    self.begin(now, entropy);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Instant, entropy: &mut Entropy) {
        let (initiator, hello) = Initiator::new(&self.spec.key, &self.spec.object, entropy);
        self.state = State::Opening(Box::new(Opening {
            id: ConnectionId(entropy.number()),
            initiator,
            hello,
            cookie: [0; COOKIE_BYTES],
            is_due: true,
            is_retried: false,
            repeat_at: now,
            hellos: 0,
        }));
    }
}
