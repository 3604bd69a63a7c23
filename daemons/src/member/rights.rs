//! The proxy's right to this member's link, which the link's owner takes away at once, and gives back.
use super::Member;
use crate::commands::Command;
use crate::daemon::Role;
use prismux_sealed::PublicKey;
use prismux_trace::event::{Event, EventSink, LinkState};
use prismux_units::Instant;

/// What the other end is called in commands.
const PROXY: &str = "proxy";
/// The number of its key.
const ITS_NUMBER: u16 = 0;
/// Why the link is not used.
pub(super) const NO_RIGHTS: &str = "the proxy's rights have been revoked";

impl Member {
    /// Does what the link's owner asks.
    ///
    /// # Errors
    /// Why it has not, or not for good.
    pub(super) fn obey(&mut self, now: Instant, command: &Command) -> Result<String, String> {
        let (Command::Revoke { name } | Command::Restore { name }) = command;
        if name != PROXY {
            return Err(format!(
                "this member lends its link to nobody called {name}, only to its \"{PROXY}\""
            ));
        }
        let no_key = "the proxy has no key, only the token of all: change the token";
        let key = self.config.tunnel.proxy_public_key.ok_or(no_key)?;
        match command {
            Command::Revoke { .. } => self.revoke(now, key),
            Command::Restore { .. } => self.restore(now),
        }
    }

    /// It takes its leave, and has no keys with the proxy from then on, also after a restart.
    fn revoke(&mut self, now: Instant, key: PublicKey) -> Result<String, String> {
        self.registration.rest();
        self.drain(now);
        self.flush();
        self.return_rules.set(&self.config, false);
        let kept = self.revoked.add(PROXY, std::iter::once(key));
        self.bar_if_revoked();
        self.tell_state(now, LinkState::Standby, NO_RIGHTS);
        kept.map(|()| "the link is lent no more: its session has ended".to_owned()).map_err(|error| {
            let file = self.revoked.file().display();
            format!("the link is lent no more, but only until this daemon ends: {file} cannot be written ({error})")
        })
    }

    fn restore(&mut self, now: Instant) -> Result<String, String> {
        let gone = self.revoked.remove(PROXY).map_err(|error| {
            format!("the link stays unlent: {} cannot be written ({error})", self.revoked.file().display())
        })?;
        if !gone {
            return Err("the proxy's rights have not been revoked".to_owned());
        }
        if let Some(sealing) = self.sender.sealing() {
            sealing.unbar(ITS_NUMBER, Some(self.config.tunnel.proxy.address));
        }
        if self.share.rest().is_none() {
            self.registration.resume(now);
            self.drain(now);
        }
        self.tell_state(now, LinkState::Active, "its owner lends it again");
        Ok("the link is lent again".to_owned())
    }

    /// Whether the proxy has no rights.
    pub(super) fn is_revoked(&self) -> bool {
        self.config.tunnel.proxy_public_key.is_some_and(|key| self.revoked.has(&key))
    }

    /// Has no dealings with a proxy that has no rights.
    pub(super) fn bar_if_revoked(&mut self) {
        if let Some(sealing) = self.sender.sealing().filter(|_| self.is_revoked()) {
            sealing.bar(ITS_NUMBER);
            self.registration.rest();
        }
    }

    /// Tells what becomes of the link, and why.
    pub(super) fn tell_state(&mut self, now: Instant, state: LinkState, cause: &str) {
        let name = || self.config.name.clone().into();
        let event =
            Event::LinkStateChanged { node: name(), member: name(), state, cause: Some(cause.into()) };
        self.events.event(now, &event);
    }
}
