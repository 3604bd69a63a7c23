//! Rights that the operator takes away while the proxy runs, and gives back.
use super::Proxy;
use super::community::Turn;
use crate::revoked::Revoked;
use prismux_prism::LinkId;
use prismux_trace::event::Event;
use prismux_units::Instant;

/// Of a link whose member has no rights.
pub(super) const NO_RIGHTS: &str = "its rights have been revoked";

impl Proxy {
    /// Ends the sessions of a home or member, whose keys open nothing from now on, also after a restart.
    pub(super) fn revoke(&mut self, now: Instant, owner: &str) -> Result<String, String> {
        let numbers = self.numbers_of(owner)?;
        let peers = &self.config.peers;
        let keys = numbers.iter().filter_map(|&number| Some(peers.get(usize::from(number))?.public_key));
        let kept = self.revoked.add(owner, keys);
        self.bar_revoked();
        for &number in &numbers {
            let index = self.communities.of_number(number);
            let name = self.config.peers.get(usize::from(number)).map(|peer| peer.name.clone());
            if let (Some(mut turn), Some(name)) = (self.turn(index), name) {
                turn.expel(now, &name);
            }
        }
        tracing::warn!(owner, "rights revoked");
        match kept {
            Ok(()) => {
                Ok(format!("{owner} is out: its sessions have ended, and its keys open nothing any more"))
            }
            Err(error) => Err(format!(
                "{owner} is out, but only until this daemon ends: {} cannot be written ({error})",
                self.revoked.file().display()
            )),
        }
    }

    /// Lets a home or member come back.
    pub(super) fn restore(&mut self, owner: &str) -> Result<String, String> {
        let gone = self.revoked.remove(owner).map_err(|error| {
            format!("{owner} stays out: {} cannot be written ({error})", self.revoked.file().display())
        })?;
        if !gone {
            return Err(format!("the rights of {owner} have not been revoked"));
        }
        self.bar_revoked();
        tracing::warn!(owner, "rights given back");
        Ok(format!("{owner} may come back: it will when it calls next"))
    }

    /// Bars the keys that have no rights, and no others.
    pub(super) fn bar_revoked(&self) {
        let Some(sealing) = self.outlet.sealing() else { return };
        for (number, peer) in (0_u16..).zip(&self.config.peers) {
            match self.revoked.has(&peer.public_key) {
                true => sealing.bar(number),
                false => sealing.unbar(number, None),
            }
        }
    }

    /// The numbers of the keys of a home or a member.
    fn numbers_of(&self, owner: &str) -> Result<Vec<u16>, String> {
        let owners = || self.config.peers.iter().map(|peer| peer.home.as_deref().unwrap_or(&peer.name));
        let numbers: Vec<u16> =
            (0_u16..).zip(owners()).filter(|(_, name)| *name == owner).map(|(number, _)| number).collect();
        if !numbers.is_empty() {
            return Ok(numbers);
        }
        let mut members = self.communities.iter().flat_map(|community| community.links.members.iter());
        if members.any(|member| member.name == owner) {
            return Err(format!("{owner} has no key of its own, only the token of all: change the token"));
        }
        let mut known: Vec<&str> = owners().collect();
        known.dedup();
        let known = if known.is_empty() { "nobody".to_owned() } else { known.join(", ") };
        Err(format!("nobody is called {owner}. Those with keys: {known}"))
    }
}

/// Whether the rights of a home's or member's keys have been taken away, by its status page.
pub(super) fn has_none(revoked: &Revoked, home: Option<&str>, member: &str) -> bool {
    revoked.owners().contains(&home.unwrap_or(member))
}

impl Turn<'_> {
    /// A member has no rights any more: what was under way to it goes out again over the other links.
    fn expel(&mut self, now: Instant, name: &str) {
        self.callers.known.forget(name);
        let Some(link) = self.links.members.expel(name) else { return };
        let event = Event::MemberLeft { member: name.to_owned().into(), cause: Some(NO_RIGHTS.into()) };
        self.tell(now, &event);
        self.links.homes.end_silence(link);
        self.rank(now);
        self.abandon(now, link);
    }

    /// The core leaves a link of which nothing arrives any more.
    pub(super) fn abandon(&mut self, now: Instant, link: LinkId) {
        if !self.links.members.get(link).is_some_and(|member| member.joined) {
            return;
        }
        self.leave(now, link);
        // What a departed member has under way may still arrive; a new life gives it up, so that it goes out again
        // over the other links at once.
        self.rejoin(now, link);
        self.leave(now, link);
        self.drain(now);
    }
}
