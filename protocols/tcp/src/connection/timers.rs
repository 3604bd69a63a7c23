//! Deadlines outside the engine, and what they are judged by.
use crate::config::TcpConfig;
use prismux_units::Instant;

/// Pending deadlines but the engine's and that of a delayed acknowledgement, [`Instant::MAX`] for none, and the
/// instants they are judged by. In the order of use: for most segments nothing but the first of them matters.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Timers {
    /// The first of the four below.
    first: Instant,
    pub(super) syn_retransmissions: u8,
    pub(super) persist_backoff: u8,
    pub(super) keep_alive_probes: u8,
    persist: Instant,
    handshake: Instant,
    keep_alive: Instant,
    linger_until: Instant,
    /// Last time an acceptable segment arrived while that mattered: while a deadline was pending or a probe was out.
    pub(super) heard_at: Instant,
    /// Last time SYN or SYN-ACK left.
    pub(super) syn_sent_at: Instant,
    /// When the first probe left that the peer has not answered yet.
    pub(super) unanswered_since: Instant,
}

impl Timers {
    pub(super) const NONE: Self = Self {
        first: Instant::MAX,
        persist: Instant::MAX,
        handshake: Instant::MAX,
        keep_alive: Instant::MAX,
        linger_until: Instant::MAX,
        heard_at: Instant::ZERO,
        syn_sent_at: Instant::ZERO,
        unanswered_since: Instant::ZERO,
        syn_retransmissions: 0,
        persist_backoff: 0,
        keep_alive_probes: 0,
    };

    pub(super) fn starting(now: Instant) -> Self {
        Self { heard_at: now, ..Self::NONE }
    }

    /// The first deadline.
    #[inline]
    pub(super) fn first(&self) -> Instant {
        self.first
    }

    /// What the first deadline is for.
    pub(super) fn why(&self) -> &'static str {
        match self.first {
            first if first == self.persist => "persist",
            first if first == self.handshake => "handshake",
            first if first == self.keep_alive => "keep-alive",
            _ => "time-wait",
        }
    }

    pub(super) fn persist(&self) -> Instant {
        self.persist
    }

    pub(super) fn handshake(&self) -> Instant {
        self.handshake
    }

    pub(super) fn keep_alive(&self) -> Instant {
        self.keep_alive
    }

    pub(super) fn linger_until(&self) -> Instant {
        self.linger_until
    }

    pub(super) fn set_persist(&mut self, at: Instant) {
        self.persist = at;
        self.settle();
    }

    pub(super) fn set_handshake(&mut self, at: Instant) {
        self.handshake = at;
        self.settle();
    }

    pub(super) fn set_keep_alive(&mut self, at: Instant) {
        self.keep_alive = at;
        self.settle();
    }

    fn settle(&mut self) {
        self.first = self.persist.min(self.handshake).min(self.keep_alive).min(self.linger_until);
    }

    /// An acceptable segment has arrived.
    #[inline]
    pub(super) fn hear(&mut self, now: Instant) {
        if self.first < Instant::MAX || self.persist_backoff > 0 {
            self.heard_at = now;
        }
    }

    /// The handshake is done.
    pub(super) fn establish(&mut self, now: Instant, config: &TcpConfig) {
        self.handshake = Instant::MAX;
        self.heard_at = now;
        self.keep_alive = config.keep_alive.map_or(Instant::MAX, |probing| now + probing.idle);
        self.settle();
    }

    /// The peer's window lets something through again.
    pub(super) fn window_opened(&mut self) {
        if self.first < Instant::MAX && self.persist < Instant::MAX {
            self.set_persist(Instant::MAX);
        }
        self.persist_backoff = 0;
    }

    /// Nothing will be sent any more but acknowledgements, until `linger` at most.
    pub(super) fn linger(&mut self, until: Instant) {
        self.persist = Instant::MAX;
        self.keep_alive = Instant::MAX;
        self.handshake = Instant::MAX;
        self.linger_until = until;
        self.settle();
    }
}
