//! Communities: receivers, the links that lead to them, and the core that spreads their traffic over these links alone.
//!
//! A proxy with members has one community. A gateway has one for each home: one port, one device and one list of keys
//! for all, and for each home a table of links, since what is planned for one home's uplinks must not count on
//! another's.
use super::homes::HomeLinks;
use super::limits::Limits;
use super::members::Members;
use super::meters::Meters;
use super::outlet::{Outlet, Way};
use super::recorder::Recorder;
use super::registry::Callers;
use crate::carrier::Striping;
use crate::config::ProxyConfig;
use crate::tunnel::{Peer, Transport};
use prismux_linux::netconf::Prefix;
use prismux_trace::event::{Event, EventSink};
use prismux_units::Instant;
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

/// One community.
pub(super) struct Community {
    pub striping: Striping,
    pub links: Links,
}

/// Its links.
pub(super) struct Links {
    /// The home whose uplinks they are; `None` for members of their own.
    pub home: Option<String>,
    /// Which link is where.
    pub members: Members,
    /// Links whose members write receipts.
    pub meters: Meters,
    /// What uplinks of a home have beside.
    pub homes: HomeLinks,
    /// Members that want no more than so much.
    pub limits: Limits,
    /// What passes is recorded, if asked for.
    pub recorder: Option<Box<Recorder>>,
}

impl Links {
    /// No links yet.
    pub fn new(home: Option<String>, members: Members, recorder: Option<Recorder>) -> Self {
        let (meters, homes, limits) = (Meters::default(), HomeLinks::default(), Limits::default());
        Self { home, members, meters, homes, limits, recorder: recorder.map(Box::new) }
    }

    /// Adds to the recording, if there is one; a recording that cannot be written ends.
    pub fn record(&mut self, write: impl FnOnce(&mut Recorder) -> io::Result<()>) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = write(recorder)
        {
            tracing::warn!(%error, "the recording could not be written and ends here");
            self.recorder = None;
        }
    }
}

impl Community {
    /// Without links.
    pub fn new(striping: Striping, links: Links) -> Self {
        Self { striping, links }
    }

    /// When something is due.
    fn due(&self) -> Option<Instant> {
        let Links { members, meters, homes, limits, .. } = &self.links;
        let all = [members.deadline(), meters.deadline(), homes.deadline(), limits.deadline()];
        all.into_iter().chain([self.striping.deadline()]).flatten().min()
    }
}

/// All communities of a proxy.
pub(super) struct Communities {
    all: Vec<Community>,
    /// When something is due in each; of those that are touched it is to be worked out anew. Kept apart, because all
    /// are looked at whenever the daemon wakes up.
    due: Vec<Cell<Option<Instant>>>,
    touched: Cell<Vec<usize>>,
    is_recorded: bool,
    /// The community of each member that has a key, by its number.
    by_peer: Vec<usize>,
    by_address: HashMap<IpAddr, usize>,
    by_prefix: Vec<(Prefix, usize)>,
}

impl Communities {
    /// Those of a configuration. `make` is asked for each: for that of a home by the home's name.
    ///
    /// # Errors
    /// What `make` says.
    pub fn new<E>(
        config: &ProxyConfig,
        mut make: impl FnMut(Option<&str>) -> Result<Community, E>,
    ) -> Result<Self, E> {
        let mut names: Vec<Option<&str>> = Vec::new();
        let (mut by_peer, mut by_prefix) = (Vec::new(), Vec::new());
        for peer in &config.peers {
            let home = peer.home.as_deref();
            let known = names.iter().position(|name| *name == home);
            let index = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(home);
                let receivers = if home.is_some() { &peer.receivers } else { &config.receivers };
                by_prefix.extend(receivers.iter().map(|&prefix| (prefix, index)));
            }
            by_peer.push(index);
        }
        if names.is_empty() {
            names.push(None);
            by_prefix.extend(config.receivers.iter().map(|&prefix| (prefix, 0)));
        }
        let is_single = |prefix: &Prefix| prefix.length == if prefix.address.is_ipv6() { 128 } else { 32 };
        let (single, wide): (Vec<_>, Vec<_>) =
            by_prefix.into_iter().partition(|(prefix, _)| is_single(prefix));
        let by_address = single.into_iter().map(|(prefix, index)| (prefix.address, index)).collect();
        let all = names.into_iter().map(&mut make).collect::<Result<Vec<_>, E>>()?;
        let due = vec![Cell::new(None); all.len()];
        let touched = Cell::new((0..all.len()).collect());
        let is_recorded = all.iter().any(|community| community.links.recorder.is_some());
        Ok(Self { all, due, touched, is_recorded, by_peer, by_address, by_prefix: wide })
    }

    /// Adds that of a home with these addresses, and so many keys.
    pub fn add(&mut self, community: Community, addresses: &[IpAddr], keys: usize) {
        let index = self.all.len();
        self.by_address.extend(addresses.iter().map(|&address| (address, index)));
        self.by_peer.extend(std::iter::repeat_n(index, keys));
        self.is_recorded |= community.links.recorder.is_some();
        self.all.push(community);
        self.due.push(Cell::new(None));
        self.touched.get_mut().push(index);
    }

    /// The addresses of a home that is known already, by the number of a key of its, are its own again.
    pub fn lead_to(&mut self, number: u16, addresses: &[IpAddr]) {
        let index = self.of_number(number);
        self.by_address.extend(addresses.iter().map(|&address| (address, index)));
    }

    /// The community that a receiver belongs to.
    pub fn of_receiver(&self, address: IpAddr) -> Option<usize> {
        let wide = || self.by_prefix.iter().find(|(prefix, _)| prefix.contains(address));
        self.by_address.get(&address).copied().or_else(|| wide().map(|&(_, index)| index))
    }

    /// The community that whoever sends from there belongs to, or would.
    pub fn of_peer(&self, peer: Peer) -> usize {
        if peer.transport == Transport::Sealed { self.of_number(peer.number) } else { 0 }
    }

    /// The community of the member with a key that has this number.
    pub fn of_number(&self, number: u16) -> usize {
        self.by_peer.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// One of them, which may be changed thereby.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Community> {
        let community = self.all.get_mut(index)?;
        let touched = self.touched.get_mut();
        if touched.last() != Some(&index) && !touched.contains(&index) {
            touched.push(index);
        }
        Some(community)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Community> + Clone {
        self.all.iter()
    }

    /// When something is due anywhere.
    pub fn deadline(&self) -> Option<Instant> {
        self.renew();
        self.due.iter().filter_map(Cell::get).min()
    }

    /// Where something is due.
    pub fn due(&self, now: Instant) -> Vec<usize> {
        self.renew();
        let is_due = |(_, due): &(usize, &Cell<Option<Instant>>)| due.get().is_some_and(|at| at <= now);
        self.due.iter().enumerate().filter(is_due).map(|(index, _)| index).collect()
    }

    /// Which have been changed since they were last asked when something is due.
    pub fn touched(&self) -> Vec<usize> {
        let touched = self.touched.take();
        self.touched.set(touched.clone());
        touched
    }

    fn renew(&self) {
        let mut touched = self.touched.take();
        for index in touched.drain(..) {
            if let (Some(due), Some(community)) = (self.due.get(index), self.all.get(index)) {
                due.set(community.due());
            }
        }
        self.touched.set(touched);
    }

    /// Writes out what recordings have buffered.
    pub fn flush_recordings(&mut self) {
        if self.is_recorded {
            self.all.iter_mut().for_each(|community| community.links.record(Recorder::flush));
        }
    }
}

/// A community that something happens to, and what all communities share.
pub(super) struct Turn<'a> {
    pub striping: &'a mut Striping,
    pub links: &'a mut Links,
    pub outlet: &'a mut Outlet,
    pub callers: &'a mut Callers,
    pub config: &'a ProxyConfig,
}

impl Turn<'_> {
    /// Where packets leave.
    pub fn way(&mut self) -> (&mut Striping, Way<'_>) {
        (&mut *self.striping, Way { links: &mut *self.links, outlet: &mut *self.outlet })
    }

    /// Carries out what the core decided: to be called after every mutation of the core.
    pub fn drain(&mut self, now: Instant) {
        let (striping, mut way) = self.way();
        striping.drain(now, &mut way);
    }

    /// Tells an event to log, status page and recording.
    pub fn tell(&mut self, now: Instant, event: &Event<'_>) {
        self.outlet.events.event(now, event);
        self.links.record(|recorder| recorder.event(now, event));
    }
}

#[cfg(test)]
mod tests;
