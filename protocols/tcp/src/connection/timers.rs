//! Deadlines outside the engine, and what they are judged by.
use crate::config::TcpConfig;
use prismux_units::Instant;

/// Pending deadlines, [`Instant::MAX`] for none, and the instants they are judged by. In the order of use: what every
/// segment looks at comes first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Timers {
    pub(super) delayed_ack: Instant,
    pub(super) persist: Instant,
    pub(super) handshake: Instant,
    pub(super) keep_alive: Instant,
    pub(super) linger_until: Instant,
    /// Last time an acceptable segment arrived.
    pub(super) heard_at: Instant,
    /// Last time our stream's acknowledgement advanced, or began to be waited for.
    pub(super) progress_at: Instant,
    /// Last time SYN or SYN-ACK left.
    pub(super) syn_sent_at: Instant,
    /// When the first probe left that the peer has not answered yet.
    pub(super) unanswered_since: Instant,
    pub(super) syn_retransmissions: u8,
    pub(super) persist_backoff: u8,
    pub(super) keep_alive_probes: u8,
}

impl Timers {
    pub(super) const NONE: Self = Self {
        delayed_ack: Instant::MAX,
        persist: Instant::MAX,
        handshake: Instant::MAX,
        keep_alive: Instant::MAX,
        linger_until: Instant::MAX,
        heard_at: Instant::ZERO,
        progress_at: Instant::ZERO,
        syn_sent_at: Instant::ZERO,
        unanswered_since: Instant::ZERO,
        syn_retransmissions: 0,
        persist_backoff: 0,
        keep_alive_probes: 0,
    };

    pub(super) fn starting(now: Instant) -> Self {
        Self { heard_at: now, progress_at: now, ..Self::NONE }
    }

    /// The handshake is done.
    pub(super) fn establish(&mut self, now: Instant, config: &TcpConfig) {
        self.handshake = Instant::MAX;
        self.heard_at = now;
        self.progress_at = now;
        self.keep_alive = config.keep_alive.map_or(Instant::MAX, |probing| now + probing.idle);
    }

    /// The peer's window lets something through again.
    pub(super) fn window_opened(&mut self) {
        self.persist = Instant::MAX;
        self.persist_backoff = 0;
    }

    /// Nothing will be sent any more but acknowledgements.
    pub(super) fn stop_sending(&mut self) {
        self.persist = Instant::MAX;
        self.keep_alive = Instant::MAX;
        self.handshake = Instant::MAX;
    }
}
