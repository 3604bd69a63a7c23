//! How long keys last and how patient a handshake is.
use prismux_units::Duration;

/// When keys are renewed and given up. The defaults are WireGuard's (paper, section 6.1), but for the handshake's
/// first retry, which comes after a second (RFC 6298 section 2.1) and then backs off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The end that began a session begins the next one when it is this old.
    pub rekey_after: Duration,
    /// Nothing is sealed or opened under keys this old.
    pub reject_after: Duration,
    /// New keys after so many packets of one end.
    pub rekey_after_packets: u64,
    /// No packet under the same keys after so many.
    pub reject_after_packets: u64,
    /// The first wait for an answer to a handshake; each next one is twice as long.
    pub handshake_retry: Duration,
    /// The longest of these waits.
    pub handshake_retry_max: Duration,
    /// A handshake without an answer for so long is given up until somebody wants to send again.
    pub handshake_give_up: Duration,
    /// Who has heard something and has nothing to say for so long says that it lives.
    pub keepalive_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rekey_after: Duration::from_secs(120),
            reject_after: Duration::from_secs(180),
            rekey_after_packets: 1 << 60,
            // The replay window's numbers end at 2^64 - 1, which is nobody's.
            reject_after_packets: u64::MAX - (1 << 13),
            handshake_retry: Duration::from_secs(1),
            handshake_retry_max: Duration::from_secs(5),
            handshake_give_up: Duration::from_secs(90),
            keepalive_after: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Data has been sent and nothing heard for so long: the other end has lost the session.
    pub(crate) fn no_answer_after(&self) -> Duration {
        self.keepalive_after + self.handshake_retry_max
    }

    /// Whoever began a session renews it on hearing something when it is this old, because it may have nothing to
    /// send itself.
    pub(crate) fn rekey_on_hearing_after(&self) -> Duration {
        self.reject_after.saturating_sub(self.no_answer_after())
    }
}
