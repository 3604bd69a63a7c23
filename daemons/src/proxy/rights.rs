//! Rights that the operator takes away while the proxy runs, and gives back; and homes that a fleet's registry lists,
//! which come and go.
use super::community::{Community, Turn};
use super::fleet::{Fleet, TELL_INTERVAL, known_as};
use super::{Proxy, open_community};
use crate::config::{Home, SealedPeer};
use crate::fleet::News;
use crate::revoked::Revoked;
use prismux_prism::LinkId;
use prismux_trace::event::Event;
use prismux_units::Instant;
use std::collections::BTreeMap;

/// Of a link whose member has no rights.
pub(super) const NO_RIGHTS: &str = "its rights have been revoked";

/// Of a link whose home another gateway serves now.
const ELSEWHERE: &str = "another gateway serves its home";

/// Of a home that cannot come in.
const TAKEN: &str = "another one has its name, address or key";

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
                turn.expel(now, &name, NO_RIGHTS);
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
            let is_fleets = |fleet: &Fleet| fleet.bars(number, peer);
            match self.revoked.has(&peer.public_key) || self.fleet.as_ref().is_some_and(is_fleets) {
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

impl Proxy {
    /// When the registry is to be told something.
    pub(super) fn fleet_deadline(&self) -> Option<Instant> {
        self.fleet.as_ref().map(|fleet| fleet.next_told)
    }

    /// Tells whom this gateway serves.
    pub(super) fn tell_served(&mut self, now: Instant) {
        let Some(fleet) = self.fleet.as_mut().filter(|fleet| fleet.next_told <= now) else { return };
        fleet.next_told = now + TELL_INTERVAL;
        fleet.keep(None);
        let is_served = |community: &&Community| community.links.members.iter().any(|member| member.up);
        let served = self.communities.iter().filter(is_served);
        fleet.registry.serves(served.filter_map(|community| community.links.home.clone()).collect());
    }

    /// The registry has told something.
    pub(super) fn take_news(&mut self, now: Instant) {
        let Some(fleet) = &mut self.fleet else { return };
        let Some(News { homes, revoked, let_go, to_keep }) = fleet.registry.take() else { return };
        fleet.keep(to_keep);
        let newly_revoked: Vec<String> = revoked.difference(&fleet.revoked).cloned().collect();
        fleet.revoked = revoked.as_ref().clone();
        let listed: BTreeMap<&str, &Home> = homes.iter().map(|home| (home.name.as_str(), home)).collect();
        let is_gone = |(home, _): &&(Home, u16)| listed.get(home.name.as_str()) != Some(&home);
        let gone: Vec<(Home, u16)> = fleet.present.values().filter(is_gone).cloned().collect();
        for (home, first) in &gone {
            fleet.present.remove(&home.name);
            let keys = home.public_keys.len() as u16;
            fleet.gone.extend(*first..*first + keys);
        }
        for (home, _) in &gone {
            self.end_links(now, &home.name, NO_RIGHTS);
        }
        newly_revoked.iter().for_each(|home| self.end_links(now, home, NO_RIGHTS));
        let_go.iter().for_each(|home| self.end_links(now, home, ELSEWHERE));
        for home in homes.iter() {
            self.admit(home);
        }
        self.bar_revoked();
        // Whoever was called meanwhile is served from its first call on.
        self.tell_served(now);
    }

    /// A home of the registry may come in.
    fn admit(&mut self, home: &Home) {
        let Some(fleet) = &mut self.fleet else { return };
        if fleet.present.contains_key(&home.name) {
            return;
        }
        let known = known_as(&self.config.peers, home);
        let done = match known {
            Some(first) => self.readmit(home, first),
            None => self.add_home(home),
        };
        if let Err(why) = done {
            tracing::warn!(home = home.name, why, "a home of the registry cannot come in here");
        }
    }

    /// It has been here before, and has the numbers of its keys still.
    fn readmit(&mut self, home: &Home, first: u16) -> Result<(), String> {
        let numbers = first..first + home.public_keys.len() as u16;
        let is_gone = |fleet: &Fleet| numbers.clone().all(|number| fleet.gone.contains(&number));
        if !self.fleet.as_ref().is_some_and(is_gone) {
            return Err(TAKEN.to_owned());
        }
        self.check_free(home)?;
        for (number, peer) in numbers.zip(home.peers()) {
            for all in [&mut self.config.peers, &mut self.outlet.peers] {
                if let Some(place) = all.get_mut(usize::from(number)) {
                    place.name.clone_from(&peer.name);
                }
            }
            if let Some(fleet) = &mut self.fleet {
                fleet.gone.remove(&number);
            }
        }
        self.communities.lead_to(first, &home.addresses);
        if let Some(fleet) = &mut self.fleet {
            fleet.present.insert(home.name.clone(), (home.clone(), first));
        }
        Ok(())
    }

    /// Nobody who may come in has a home's name or addresses.
    fn check_free(&self, home: &Home) -> Result<(), String> {
        let receivers = home.peers().into_iter().next().map(|peer| peer.receivers).unwrap_or_default();
        let clashes = |peer: &SealedPeer| {
            peer.home.as_ref() == Some(&home.name) || peer.receivers.iter().any(|at| receivers.contains(at))
        };
        let is_gone = |number| self.fleet.as_ref().is_some_and(|fleet| fleet.gone.contains(&number));
        let mut others = (0_u16..).zip(&self.config.peers).filter(|&(number, _)| !is_gone(number));
        if others.any(|(_, peer)| clashes(peer)) { Err(TAKEN.to_owned()) } else { Ok(()) }
    }

    fn add_home(&mut self, home: &Home) -> Result<(), String> {
        self.check_free(home)?;
        let peers = home.peers();
        let first = u16::try_from(self.config.peers.len()).unwrap_or(u16::MAX);
        if usize::from(first) + peers.len() > usize::from(u16::MAX) {
            return Err("there are no numbers left for its keys. Remedy: start the gateway again".to_owned());
        }
        let has_key = |key| self.config.peers.iter().any(|peer| peer.public_key == key);
        if home.public_keys.iter().any(|&key| has_key(key)) {
            return Err("its keys were another home's. Remedy: start the gateway again".to_owned());
        }
        let community = open_community(&self.config, Some(&home.name), self.session, self.inner_mtu_bytes)
            .map_err(|error| error.to_string())?;
        if let Some(sealing) = self.outlet.sealing() {
            for peer in &peers {
                sealing.add_peer(peer.public_key, None);
            }
        }
        self.communities.add(community, &home.addresses, peers.len());
        // Names of those who have gone are not theirs any more.
        if let Some(fleet) = &self.fleet {
            for all in [&mut self.config.peers, &mut self.outlet.peers] {
                let gone = (0_u16..).zip(all).filter(|(number, _)| fleet.gone.contains(number));
                gone.for_each(|(number, peer)| peer.name = format!("gone/{number}"));
            }
        }
        self.config.peers.extend(peers.iter().cloned());
        self.outlet.peers.extend(peers);
        if let Some(fleet) = &mut self.fleet {
            fleet.present.insert(home.name.clone(), (home.clone(), first));
        }
        tracing::info!(home = home.name, "a home of the registry may come in");
        Ok(())
    }

    /// The links of a home end here.
    fn end_links(&mut self, now: Instant, home: &str, cause: &'static str) {
        let of_home = |peer: &&SealedPeer| peer.home.as_deref() == Some(home);
        let names: Vec<String> =
            self.config.peers.iter().filter(of_home).map(|peer| peer.name.clone()).collect();
        let is_its = |community: &Community| community.links.home.as_deref() == Some(home);
        let indices: Vec<usize> =
            self.communities.iter().enumerate().filter(|(_, c)| is_its(c)).map(|(index, _)| index).collect();
        for index in indices {
            if let Some(mut turn) = self.turn(index) {
                names.iter().for_each(|name| turn.expel(now, name, cause));
            }
        }
    }
}

/// Whether the rights of a home's or member's keys have been taken away, by its status page.
pub(super) fn has_none(revoked: &Revoked, home: Option<&str>, member: &str) -> bool {
    revoked.owners().contains(&home.unwrap_or(member))
}

impl Turn<'_> {
    /// A member has no rights any more: what was under way to it goes out again over the other links.
    pub(super) fn expel(&mut self, now: Instant, name: &str, cause: &'static str) {
        self.callers.known.forget(name);
        let Some(link) = self.links.members.expel(name) else { return };
        let event = Event::MemberLeft { member: name.to_owned().into(), cause: Some(cause.into()) };
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
