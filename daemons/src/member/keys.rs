//! The keys of a member's sealed tunnel: when it asks for new ones, and what it does once there are.
use super::Member;
use crate::config::MemberConfig;
use crate::daemon::{self, DaemonError};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::SEALED_ROOM_BYTES;
use prismux_linux::clock::Clock;
use prismux_sealed::SessionEvent;
use prismux_units::{Duration, Instant};

/// Keys made so lately have not been lost.
const NEW_KEYS: Duration = Duration::from_secs(1);

/// The session with the proxy, if the tunnel is sealed.
///
/// # Errors
/// When a key is missing or wrong, or the operating system gives no randomness.
pub(super) fn open(
    config: &MemberConfig,
    mtu_bytes: usize,
    clock: Clock,
) -> Result<Option<Sealing>, DaemonError> {
    let bad = |(key, message)| DaemonError::Config(format!("{key}: {message}"));
    let Some((keys, proxy)) = config.read_keys().map_err(bad)? else { return Ok(None) };
    tracing::info!(public_key = %keys.public(), "sealed tunnel");
    let today = Duration::from_micros(daemon::time_of_day_micros());
    let sealing = Sealing::new(keys, clock, today, mtu_bytes + SEALED_ROOM_BYTES)?;
    sealing.add_peer(proxy, Some(config.tunnel.proxy.address));
    Ok(Some(sealing))
}

impl Member {
    /// A proxy that does not answer may have been restarted, and lost its keys.
    pub(super) fn call_if_unanswered(&mut self, now: Instant) {
        let are_new = self.keyed_at.is_some_and(|at| now.saturating_since(at) < NEW_KEYS);
        if let Some(sealing) = self.sender.sealing().filter(|_| self.registration.is_unanswered() && !are_new)
        {
            sealing.call(now, 0);
        }
    }

    /// New keys: the proxy is there, and may be a new one.
    pub(super) fn session_events(&mut self, now: Instant) {
        while let Some(event) = self.sender.sealing().and_then(Sealing::poll_event) {
            if let SessionEvent::Established { .. } = event
                && self.departure.is_none()
            {
                self.keyed_at = Some(now);
                self.registration.call_now(now);
                self.drain(now);
            }
        }
    }
}
