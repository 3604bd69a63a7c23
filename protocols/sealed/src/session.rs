//! One pair of keys, and the numbers used under it.
use crate::events::Refusal;
use crate::limits::Limits;
use crate::replay::ReplayWindow;
use crate::session_keys::{Counter, SessionKeys};
use core::net::SocketAddr;
use prismux_units::{Duration, Instant};
use snow::StatelessTransportState;

/// Keys for both directions.
pub(crate) struct Session {
    keys: SessionKeys,
    /// By which the other end names this session.
    local: u32,
    created: Instant,
    /// We began the handshake.
    is_ours: bool,
    /// Where the answer to the other end's initiation went; its first packet shows that it arrived.
    answered_to: Option<SocketAddr>,
    next_counter: u64,
    window: ReplayWindow,
}

impl Session {
    /// A session that we began.
    pub fn begun(keys: StatelessTransportState, local: u32, remote: u32, now: Instant) -> Self {
        let (keys, window) = (SessionKeys::new(keys, remote), ReplayWindow::new());
        Self { keys, local, created: now, is_ours: true, answered_to: None, next_counter: 0, window }
    }

    /// A session that the other end began from `from`.
    pub fn answered(
        keys: StatelessTransportState,
        (local, remote): (u32, u32),
        now: Instant,
        from: SocketAddr,
    ) -> Self {
        Self { is_ours: false, answered_to: Some(from), ..Self::begun(keys, local, remote, now) }
    }

    pub const fn local(&self) -> u32 {
        self.local
    }

    pub const fn created(&self) -> Instant {
        self.created
    }

    pub const fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// The other end has used these keys: where our half of the handshake went, the first time.
    pub const fn confirm(&mut self) -> Option<SocketAddr> {
        self.answered_to.take()
    }

    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_since(self.created)
    }

    /// Whether something may be sealed now.
    pub fn may_seal(&self, now: Instant, limits: &Limits) -> bool {
        self.age(now) < limits.reject_after && self.next_counter < limits.reject_after_packets
    }

    /// Whether so much has been sealed or opened that new keys are due.
    pub fn is_used_up(&self, limits: &Limits) -> bool {
        self.next_counter.max(self.window.next()) >= limits.rekey_after_packets
    }

    /// The keys and the number of the next packet. The count of packets ends long before the numbers do.
    pub fn reserve(&mut self) -> (SessionKeys, Counter) {
        let counter = Counter(self.next_counter);
        self.next_counter += 1;
        (self.keys.clone(), counter)
    }

    /// Whether what came under `counter` may be opened; then also the keys to do it with.
    ///
    /// # Errors
    /// [`Refusal`]: too old, or played back.
    pub fn admit(&self, now: Instant, limits: &Limits, counter: u64) -> Result<&SessionKeys, Refusal> {
        if self.age(now) >= limits.reject_after || counter >= limits.reject_after_packets {
            return Err(Refusal::Expired);
        }
        if self.window.may_accept(counter) { Ok(&self.keys) } else { Err(Refusal::Replayed) }
    }

    /// Notes that what came under `counter` has been opened, and only then: a forged number must not shut out the true
    /// one. True when it is the newest so far.
    ///
    /// # Errors
    /// [`Refusal`]: too old, or played back meanwhile.
    pub fn accept(&mut self, now: Instant, limits: &Limits, counter: u64) -> Result<bool, Refusal> {
        self.admit(now, limits, counter)?;
        let is_newest = counter >= self.window.next();
        if self.window.accept(counter) { Ok(is_newest) } else { Err(Refusal::Replayed) }
    }
}
