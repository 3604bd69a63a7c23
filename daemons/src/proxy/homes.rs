//! Uplinks of homes: receipts for what comes over them with numbers, and links that have gone silent.
//!
//! A home shares its uplinks' directions alike: what it sends is striped as downloads are, so the gateway writes
//! receipts for it. An uplink that stops to answer is left at once, and joins again when a probe has been answered.
use super::community::Turn;
use super::members::Member;
use super::meters::Meters;
use crate::receipts::{Receipts, RecoveredPacket};
use crate::tunnel::Peer;
use crate::tunnel::control::{Lost, Message, Probe};
use crate::tunnel::path_mtu::PathSearch;
use crate::tunnel::socket::Frame;
use prismux_prism::{LinkConfig, LinkId};
use prismux_receipts::Receipt;
use prismux_receipts::{Liveness, MAX_RECEIPT_WAIT, STUCK, UNANSWERED};
use prismux_sharing::Tier;
use prismux_trace::event::{DropReason, Event, LinkState};
use prismux_units::{Duration, Instant};

/// Who asks, in a probe of the gateway's.
const ASKER: u64 = 0;
/// And in one of a size.
pub(super) const PATH_ASKER: u64 = 2;

/// The links of a proxy that are uplinks of homes.
#[derive(Debug, Default)]
pub(super) struct HomeLinks {
    by_link: Vec<Option<HomeLink>>,
}

#[derive(Debug)]
struct HomeLink {
    receipts: Receipts,
    liveness: Liveness,
    /// How large packets may be that go down by it.
    path: PathSearch,
}

impl HomeLinks {
    /// The member of `link` numbers what it sends from now on; receipts name `epoch`.
    fn agree(
        &mut self,
        now: Instant,
        link: LinkId,
        (overhead_bytes, widest_bytes): (usize, usize),
        epoch: u32,
    ) {
        let index = usize::from(link.0);
        if self.by_link.len() <= index {
            self.by_link.resize_with(index + 1, || None);
        }
        let mut receipts = Receipts::new(overhead_bytes).within(MAX_RECEIPT_WAIT);
        receipts.offered(now, epoch);
        if let Some(place) = self.by_link.get_mut(index) {
            let new = || (Liveness::default(), PathSearch::new(widest_bytes));
            let (liveness, path) = place.take().map_or_else(new, |old| (old.liveness, old.path));
            let mut home = HomeLink { receipts, liveness, path };
            home.path.begin(now);
            *place = Some(home);
        }
    }

    /// How large packets may be that go down by a link.
    pub fn path(&mut self, link: LinkId) -> Option<&mut PathSearch> {
        self.of(link).map(|home| &mut home.path)
    }

    /// The largest packet that a link takes on the way down, where that is less than the largest there may be.
    pub fn path_mtu_bytes(&self, link: LinkId) -> Option<usize> {
        self.by_link.get(usize::from(link.0))?.as_ref()?.path.limit()
    }

    fn of(&mut self, link: LinkId) -> Option<&mut HomeLink> {
        self.by_link.get_mut(usize::from(link.0))?.as_mut()
    }

    fn all(&mut self) -> impl Iterator<Item = (LinkId, &mut HomeLink)> {
        (0..=u8::MAX)
            .map(LinkId)
            .zip(&mut self.by_link)
            .filter_map(|(link, home)| Some((link, home.as_mut()?)))
    }

    /// A packet with a number went out.
    pub fn sent(&mut self, now: Instant, link: LinkId) {
        if let Some(home) = self.of(link) {
            home.liveness.sent(now);
            home.path.sent(now);
        }
    }

    /// Something came over the link.
    pub fn heard(&mut self, link: LinkId) {
        if let Some(home) = self.of(link) {
            home.liveness.heard();
        }
    }

    /// A packet came over the link. Says whether it is still wanted: false where a repair has stood in for it.
    pub fn arrived(&mut self, now: Instant, link: LinkId, frame: &Frame<'_>) -> bool {
        self.of(link).is_none_or(|home| {
            home.liveness.heard();
            home.receipts.arrived(now, frame)
        })
    }

    /// A repair came over the link.
    ///
    /// # Errors
    /// Nobody has asked for it, or it is of no block.
    pub fn repair(&mut self, now: Instant, link: LinkId, frame: &Frame<'_>) -> Result<(), DropReason> {
        let home = self.of(link).ok_or(DropReason::OtherProtocol)?;
        home.liveness.heard();
        home.receipts.repair(now, frame)
    }

    /// A packet that repairs have given back.
    pub fn poll_recovered(&mut self, now: Instant, link: LinkId) -> Option<RecoveredPacket> {
        self.of(link)?.receipts.poll_recovered(now)
    }

    /// The round trip of a link.
    pub fn measured(&mut self, link: LinkId, rtt: Duration) {
        if let Some(home) = self.of(link) {
            home.liveness.measured(rtt);
        }
    }

    /// The uplink has registered anew.
    pub fn end_silence(&mut self, link: LinkId) {
        if let Some(home) = self.of(link) {
            home.liveness.end_silence();
        }
    }

    /// When something is due.
    pub fn deadline(&self) -> Option<Instant> {
        let of = |home: &HomeLink| [home.receipts.deadline(), home.liveness.deadline(), home.path.deadline()];
        self.by_link.iter().flatten().flat_map(of).flatten().min()
    }

    /// Whether traffic has left the link.
    pub fn is_silent(&self, link: LinkId) -> bool {
        let home = self.by_link.get(usize::from(link.0)).and_then(Option::as_ref);
        home.is_some_and(|home| home.liveness.is_silent())
    }

    fn overdue(&mut self, now: Instant) -> Vec<LinkId> {
        self.all().filter(|(_, home)| home.liveness.is_overdue(now)).map(|(link, _)| link).collect()
    }

    fn stuck(&mut self, now: Instant, meters: &Meters) -> Vec<LinkId> {
        let is_stuck = |link, home: &mut HomeLink| home.liveness.is_stuck(now, meters.under_way(link));
        self.all().filter_map(|(link, home)| is_stuck(link, home).then_some(link)).collect()
    }

    fn probes(&mut self, now: Instant) -> Vec<(LinkId, u64)> {
        self.all().filter_map(|(link, home)| Some((link, home.liveness.poll_probe(now)?))).collect()
    }

    fn receipts(&mut self, now: Instant) -> Vec<(LinkId, Receipt)> {
        self.all().filter_map(|(link, home)| Some((link, home.receipts.poll(now)?))).collect()
    }
}

impl Turn<'_> {
    /// A member has offered receipts: where it is the uplink of a home it gets some too. Returns their epoch.
    pub(super) fn agree_return(&mut self, now: Instant, link: LinkId, peer: Peer, counter: u64) -> u32 {
        let epoch = counter as u32;
        if self.links.home.is_some() {
            let widest_bytes = self.config.tun_mtu_bytes() + self.config.overhead_bytes();
            self.links.homes.agree(now, link, (peer.overhead_bytes(), widest_bytes), epoch);
        }
        epoch
    }

    /// Whether other uplinks of the home carry traffic.
    fn has_other_uplink(&self, link: LinkId) -> bool {
        let carries = |member: &Member| member.up && !self.links.homes.is_silent(member.link);
        self.links.members.iter().any(|member| member.link != link && carries(member))
    }

    /// Receipts that are due, links that have gone silent, and their probes.
    pub(super) fn expire_homes(&mut self, now: Instant) {
        self.write_receipts(now);
        for link in self.links.homes.stuck(now, &self.links.meters) {
            if self.has_other_uplink(link) {
                self.fall_silent(now, link, STUCK);
            }
        }
        for link in self.links.homes.overdue(now) {
            if self.has_other_uplink(link) {
                self.fall_silent(now, link, UNANSWERED);
            } else {
                // Where there is no other way, this one is kept; the members' own rules decide.
                self.links.homes.heard(link);
            }
        }
        for (link, number) in self.links.homes.probes(now) {
            self.send_to(link, &Message::Probe(Probe { asker: ASKER, number }));
        }
        self.expire_paths(now);
    }

    /// Receipts for what came over uplinks of homes.
    pub(super) fn write_receipts(&mut self, now: Instant) {
        for (link, receipt) in self.links.homes.receipts(now) {
            self.send_to(link, &Message::Receipt(receipt));
        }
    }

    pub(super) fn send_to(&mut self, link: LinkId, message: &Message) {
        if let Some(peer) = self.links.members.get(link).filter(|member| member.up).map(|member| member.peer)
        {
            self.reply(peer, message);
        }
    }

    fn fall_silent(&mut self, now: Instant, link: LinkId, cause: &'static str) {
        let new = self.links.homes.of(link).is_some_and(|home| home.liveness.fall_silent(now));
        if new {
            self.tell_link(now, link, LinkState::Silent, Some(cause));
            // Whoever stands by is there before it is left.
            self.rank(now);
            self.abandon(now, link);
        }
    }

    /// The core may use the link, from the beginning.
    pub(super) fn rejoin(&mut self, now: Instant, link: LinkId) {
        let Some(member) = self.links.members.get(link) else { return };
        let round_trip = self.links.meters.estimate(now, link).and_then(|(estimate, _)| estimate.min_rtt);
        let config = LinkConfig { name: member.name.clone(), advertised_rate: member.rate, round_trip };
        self.join(now, link, config);
    }

    fn lives(&self, member: &Member) -> bool {
        member.up && !self.links.homes.is_silent(member.link)
    }

    /// The best tier of which a link lives.
    fn tier_in_use(&self) -> Option<Tier> {
        Tier::in_use(self.links.members.iter().filter(|member| self.lives(member)).map(|member| member.tier))
    }

    /// Whether the core is to use a link.
    pub(super) fn is_in_use(&self, link: LinkId) -> bool {
        let member = self.links.members.get(link).filter(|member| self.lives(member));
        member.is_some_and(|member| Some(member.tier) == self.tier_in_use())
    }

    /// Has the core use the living links of the best tier, and after that no longer those of others.
    pub(super) fn rank(&mut self, now: Instant) {
        self.tell_mtu();
        let in_use = self.tier_in_use();
        let lives = |member: &&Member| self.lives(member);
        let (wanted, others): (Vec<_>, Vec<_>) =
            self.links.members.iter().filter(lives).partition(|member| Some(member.tier) == in_use);
        let joining: Vec<_> =
            wanted.iter().filter(|member| !member.joined).map(|member| member.link).collect();
        let leaving: Vec<_> =
            others.iter().filter(|member| member.joined).map(|member| member.link).collect();
        joining.iter().for_each(|&link| self.rejoin(now, link));
        leaving.iter().for_each(|&link| self.leave(now, link));
        if !joining.is_empty() || !leaving.is_empty() {
            self.drain(now);
        }
    }

    fn tell_link(&mut self, now: Instant, link: LinkId, state: LinkState, cause: Option<&'static str>) {
        let Some(member) = self.links.members.get(link).map(|member| member.name.clone()) else { return };
        let (node, member) = (self.outlet.name.clone().into(), member.into());
        self.tell(now, &Event::LinkStateChanged { node, member, state, cause: cause.map(Into::into) });
    }

    /// The uplink that `peer` is, if it has registered.
    pub(super) fn uplink_of(&mut self, now: Instant, peer: Peer) -> Option<LinkId> {
        self.links.home.as_ref()?;
        self.links.members.heard(now, peer, 0)
    }

    /// A home or a member asks whether packets pass.
    pub(super) fn probed(&mut self, now: Instant, peer: Peer, probe: Probe) {
        if [ASKER, PATH_ASKER].contains(&probe.asker) {
            return self.refuse(now, peer, DropReason::MalformedControl);
        }
        match self.links.members.heard(now, peer, 0) {
            Some(_) => self.reply(peer, &Message::Echo(probe)),
            // It was away for so long that it has to register again.
            None => {
                self.outlet.drops.count(DropReason::UnknownPeer);
                self.challenge_known(now, peer);
            }
        }
    }

    /// A probe of the gateway's was answered.
    pub(super) fn echoed(&mut self, now: Instant, peer: Peer, probe: Probe) {
        let known = [ASKER, PATH_ASKER].contains(&probe.asker);
        let Some(link) = self.uplink_of(now, peer).filter(|_| known) else {
            return self.refuse(now, peer, DropReason::MalformedControl);
        };
        if probe.asker == PATH_ASKER {
            return self.path_answered(link, probe);
        }
        if self.links.homes.of(link).is_some_and(|home| home.liveness.answered(probe.number)) {
            self.begin_path(now, link);
            self.tell_link(now, link, LinkState::Active, None);
            self.rank(now);
        }
    }

    /// A home says over one uplink that it has lost another.
    pub(super) fn told_lost(&mut self, now: Instant, peer: Peer, lost: &Lost) {
        let named = self.links.members.iter().find(|member| member.up && member.name == lost.name);
        let named = named.filter(|_| self.links.home.is_some()).map(|member| member.link);
        match named {
            Some(link) if self.links.members.accepts(now, peer, lost.session, lost.counter).is_some() => {
                self.fall_silent(now, link, "its home has lost it");
            }
            _ => self.refuse(now, peer, DropReason::ForeignName),
        }
    }
}
