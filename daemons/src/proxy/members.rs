//! Who the members are, where they are, and whether they are still there. No clock, no sockets: testable alone.
mod ends;

use crate::tunnel::control::{Bye, Challenge, Hello, MAX_LEAP, Offer, Welcome};
use crate::tunnel::{Peer, Transport};
use ends::Ends;
use prismux_prism::LinkId;
use prismux_sharing::{Carried, Tier};
use prismux_units::{Duration, Instant, Rate};

/// Most members of one proxy, or uplinks of one home: as many as the core has numbers for. Numbers of members that left
/// are used again when all others are taken.
pub const MAX_MEMBERS: usize = LinkId::COUNT;

/// A hello that a member repeats too late may have been lost; two in a row have not.
const MISSED_HELLOS: u64 = 2;

/// For so long a member that has left may still deliver what was under way, and bring back the answers.
const FAREWELL: Duration = Duration::from_secs(2);

/// Hellos that a member would have to lose, all of them, before one passes for an answer from somewhere else: a
/// minute's, and by then it has long been missed.
const MIN_LEAP: u64 = 64;

/// A member that returns within this time to an address it has left moves to and fro.
const CONTEST: Duration = Duration::from_secs(60);

/// One member.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its link, numbered from 0 in order of first registration.
    pub link: LinkId,
    /// Its name.
    pub name: String,
    /// Where its tunnel ends now.
    pub peer: Peer,
    /// The rate it states.
    pub rate: Option<Rate>,
    /// It carries nothing while a link of a better tier lives.
    pub tier: Tier,
    /// True while it is there.
    pub up: bool,
    /// True while the core may use it.
    pub joined: bool,
    /// When anything was last heard from it.
    pub last_heard: Instant,
    /// What went to it and came from it.
    pub traffic: Traffic,
    /// What has passed on its line, headers of the tunnel and messages included.
    pub carried: Carried,
    /// Listed in the configuration: it never registers and never expires.
    listed: bool,
    /// The counter of its last hello.
    counter: u64,
    next_hello_by: Instant,
    /// A new address that it must answer from, and the counter that it was asked with.
    asked: Option<(Peer, u64)>,
    /// The address that it moved away from last, and when.
    moved: Option<(Peer, Instant)>,
    /// When it said goodbye; what its receivers answer meanwhile still passes for [`FAREWELL`].
    left_at: Option<Instant>,
    /// When the first packet was sent since anything was heard.
    unanswered_since: Option<Instant>,
}

/// Packets and bytes of inner IP packets, per direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Traffic {
    /// Sent to the member.
    pub forward_packets: u64,
    /// Sent to the member.
    pub forward_bytes: u64,
    /// Received from the member.
    pub return_packets: u64,
    /// Received from the member.
    pub return_bytes: u64,
}

/// What a control message leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Registration {
    /// The member is new, or back: its link joins.
    Joined(LinkId, Welcome),
    /// The member was there already.
    Refreshed(LinkId, Welcome),
    /// The member was there already, at another address.
    Moved {
        /// Its link.
        link: LinkId,
        /// The answer.
        welcome: Welcome,
        /// The address before.
        from: Peer,
        /// It is back at an address that it left a short time ago, as when two members have one name.
        contested: bool,
    },
    /// The member must repeat its hello with these values.
    Repeat(Challenge),
    /// The member left.
    Left(LinkId),
    /// It had left already, and says so once more.
    Gone,
    /// A bye from nobody, or one played back.
    Ignored,
    /// No room for another member.
    Full,
}

/// The members of a proxy.
#[derive(Debug)]
pub struct Members {
    members: Vec<Member>,
    ends: Ends,
    session: u64,
    dead_after: Duration,
    /// Nobody counts as gone before.
    expires_from: Option<Instant>,
}

impl Members {
    /// No members yet. `session` must differ from run to run.
    pub fn new(session: u64, dead_after: Duration) -> Self {
        Self { members: Vec::new(), ends: Ends::default(), session, dead_after, expires_from: None }
    }

    /// Adds a member that never registers; `None` without room.
    pub fn add_listed(&mut self, now: Instant, name: &str, peer: Peer, rate: Option<Rate>) -> Option<LinkId> {
        let member = Member { listed: true, ..self.blank(now, name, peer, rate)? };
        let link = member.link;
        self.place(member);
        Some(link)
    }

    /// Handles a hello whose tag was right.
    pub fn hello(&mut self, now: Instant, peer: Peer, hello: &Hello) -> Registration {
        let known = self.members.iter().find(|m| m.name == hello.name).map(|m| (m.link, m.counter));
        let counter = known.map_or(0, |(_, counter)| counter);
        if hello.session != self.session || hello.counter <= counter {
            return Registration::Repeat(Challenge { session: self.session, counter });
        }
        if let Some(counter) = self.asked_at_new_address(peer, hello) {
            return Registration::Repeat(Challenge { session: self.session, counter });
        }
        let welcome = Welcome { session: self.session, counter: hello.counter };
        let link = match known {
            Some((link, _)) => Some(link),
            None => self.blank(now, &hello.name, peer, hello.rate).map(|member| {
                let link = member.link;
                self.place(Member { up: false, ..member });
                link
            }),
        };
        let dead_after = self.dead_after;
        let Some(member) = link.and_then(|link| self.members.get_mut(usize::from(link.0))) else {
            return Registration::Full;
        };
        let from = std::mem::replace(&mut member.peer, peer);
        self.ends.moved(usize::from(member.link.0), Some(&from), &peer);
        member.rate = hello.rate;
        member.tier = hello.tier;
        member.counter = hello.counter;
        member.last_heard = now;
        member.unanswered_since = None;
        member.next_hello_by = now + hello.next_within * MISSED_HELLOS + dead_after;
        self.expires_from = self.expires_from.into_iter().chain([member.next_hello_by]).min();
        let link = member.link;
        if !std::mem::replace(&mut member.up, true) {
            return Registration::Joined(link, welcome);
        }
        if from == peer {
            return Registration::Refreshed(link, welcome);
        }
        let left = member.moved.replace((from, now));
        let contested = left.is_some_and(|(other, at)| other == peer && now.saturating_since(at) < CONTEST);
        Registration::Moved { link, welcome, from, contested }
    }

    /// A known member calls from a new address: the counter it must repeat its hello with there, unless it has just
    /// done so. Whoever only plays a hello back that was held up never sees the question, or cannot answer it. A sealed
    /// session has asked already.
    fn asked_at_new_address(&mut self, peer: Peer, hello: &Hello) -> Option<u64> {
        let session = self.session;
        let member = self.members.iter_mut().find(|m| m.name == hello.name && m.peer != peer)?;
        let is_answer = member.asked == Some((peer, hello.counter.saturating_sub(1)));
        if peer.transport == Transport::Sealed || is_answer {
            member.asked = None;
            return None;
        }
        member.counter = hello.counter;
        let counter = hello.counter.saturating_add(leap(session, hello.counter));
        member.asked = Some((peer, counter));
        Some(counter)
    }

    /// The member whose sealed session has moved: its name and where it was.
    pub fn moved(&mut self, now: Instant, peer: Peer) -> Option<(&str, Peer)> {
        let member = self.at(peer, |m| m.peer != peer)?;
        let from = std::mem::replace(&mut member.peer, peer);
        member.moved = Some((from, now));
        Some((&member.name, from))
    }

    /// Handles a bye whose tag was right.
    pub fn bye(&mut self, now: Instant, bye: &Bye) -> Registration {
        let session = self.session;
        match self.members.iter_mut().find(|m| m.name == bye.name) {
            Some(member) if bye.session == session && bye.counter > member.counter => {
                member.counter = bye.counter;
                member.left_at = Some(now);
                match std::mem::replace(&mut member.up, false) {
                    true => Registration::Left(member.link),
                    false => Registration::Gone,
                }
            }
            _ => Registration::Ignored,
        }
    }

    /// A member has no rights any more, and what it says is not heard out; its link, if it was there.
    pub fn expel(&mut self, name: &str) -> Option<LinkId> {
        let member = self.members.iter_mut().find(|member| member.name == name)?;
        member.left_at = None;
        std::mem::replace(&mut member.up, false).then_some(member.link)
    }

    /// Handles an offer of receipts whose tag was right; `None` when nobody has registered from there, or it is played
    /// back.
    pub fn offer(&mut self, now: Instant, peer: Peer, offer: &Offer) -> Option<LinkId> {
        self.accepts(now, peer, offer.session, offer.counter)
    }

    /// Notes a message that names this session and a greater counter than any before; `None` when nobody has registered
    /// from there, or it is played back.
    pub fn accepts(&mut self, now: Instant, peer: Peer, session: u64, counter: u64) -> Option<LinkId> {
        let this = self.session;
        let member = self.at(peer, |m| m.up)?;
        if session != this || counter <= member.counter {
            return None;
        }
        member.counter = counter;
        member.last_heard = now;
        Some(member.link)
    }

    /// The challenge for somebody who has to register (again) before anything else.
    pub fn challenge(&self) -> Challenge {
        Challenge { session: self.session, counter: 0 }
    }

    /// Notes a packet from `peer` with `packet_bytes` of a receiver's, 0 for a message; `None` when no member has
    /// registered from there.
    pub fn heard(&mut self, now: Instant, peer: Peer, packet_bytes: usize) -> Option<LinkId> {
        let answers = |m: &Member| m.up || m.left_at.is_some_and(|at| now.saturating_since(at) < FAREWELL);
        let dead_after = self.dead_after;
        let member = self.at(peer, answers)?;
        member.last_heard = now;
        member.unanswered_since = None;
        // Whoever carries receivers' packets is there, though a full queue on the way back swallows hellos.
        if packet_bytes > 0 && member.up {
            member.next_hello_by = member.next_hello_by.max(now + dead_after);
        }
        member.traffic.return_packets += u64::from(packet_bytes > 0);
        member.traffic.return_bytes += packet_bytes as u64;
        Some(member.link)
    }

    /// The first member of which this holds, of those that are where `peer` is.
    fn at(&mut self, peer: Peer, holds: impl Fn(&Member) -> bool) -> Option<&mut Member> {
        let members = &self.members;
        let mut places = self.ends.of(&peer).iter();
        let place = *places.find(|&&place| members.get(place).is_some_and(&holds))?;
        self.members.get_mut(place)
    }

    /// Notes a packet to a member and says where it goes; `None` for a link that does not exist.
    pub fn sent(&mut self, now: Instant, link: LinkId, packet_bytes: usize) -> Option<Peer> {
        let member = self.members.get_mut(usize::from(link.0))?;
        if member.unanswered_since.is_none() {
            member.unanswered_since = Some(now);
            self.expires_from = self.expires_from.into_iter().chain([now + self.dead_after]).min();
        }
        member.traffic.forward_packets += 1;
        member.traffic.forward_bytes += packet_bytes as u64;
        Some(member.peer)
    }

    /// Bytes have passed on the line of a link.
    pub fn carry(&mut self, link: LinkId, carried: Carried) {
        if let Some(member) = self.members.get_mut(usize::from(link.0)) {
            member.carried = member.carried.plus(carried);
        }
    }

    /// The link of the member that `peer` is, if it is one.
    pub fn link_of(&self, peer: Peer) -> Option<LinkId> {
        let place = *self.ends.of(&peer).first()?;
        self.members.get(place).map(|member| member.link)
    }

    /// Marks the next member that has been silent for too long as gone, and returns it; call until `None`.
    pub fn expire(&mut self, now: Instant) -> Option<&Member> {
        self.expires_from.filter(|&at| at <= now)?;
        let dead_after = self.dead_after;
        let is_due = |member: &Member| member.expires_at(dead_after).is_some_and(|at| at <= now);
        let Some(place) = self.members.iter().position(is_due) else {
            self.expires_from = self.members.iter().filter_map(|m| m.expires_at(dead_after)).min();
            return None;
        };
        let member = self.members.get_mut(place)?;
        member.up = false;
        Some(member)
    }

    /// When [`Members::expire`] is to be called, if nothing is heard; it may have nothing to do then.
    pub fn deadline(&self) -> Option<Instant> {
        self.expires_from
    }

    /// All members, in order of their links, those that left included.
    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// The member with this link.
    pub fn get(&self, link: LinkId) -> Option<&Member> {
        self.members.get(usize::from(link.0))
    }

    /// Whether the core may use a link.
    pub fn set_joined(&mut self, link: LinkId, joined: bool) {
        if let Some(member) = self.members.get_mut(usize::from(link.0)) {
            member.joined = joined;
        }
    }

    /// A member under the next free number.
    fn blank(&self, now: Instant, name: &str, peer: Peer, rate: Option<Rate>) -> Option<Member> {
        let gone = || self.members.iter().position(|m| !m.up && !m.listed);
        let index = if self.members.len() < MAX_MEMBERS { self.members.len() } else { gone()? };
        Some(Member {
            link: LinkId(u8::try_from(index).ok()?),
            name: name.to_owned(),
            peer,
            rate,
            tier: Tier::Primary,
            up: true,
            joined: false,
            last_heard: now,
            traffic: Traffic::default(),
            carried: Carried::default(),
            listed: false,
            counter: 0,
            next_hello_by: Instant::MAX,
            asked: None,
            moved: None,
            left_at: None,
            unanswered_since: None,
        })
    }

    fn place(&mut self, member: Member) {
        let place = usize::from(member.link.0);
        self.ends.moved(place, self.members.get(place).map(|old| &old.peer), &member.peer);
        match self.members.get_mut(place) {
            Some(place) => *place = member,
            None => self.members.push(member),
        }
    }
}

/// How far the counter leaps that is asked for at a new address, at least [`MIN_LEAP`]: a member gets there in one
/// hello by the challenge, and in as many as it leaps without.
fn leap(session: u64, counter: u64) -> u64 {
    MIN_LEAP + (session ^ counter).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (MAX_LEAP - MIN_LEAP)
}

impl Member {
    fn expires_at(&self, dead_after: Duration) -> Option<Instant> {
        let unanswered = self.unanswered_since.map_or(Instant::MAX, |since| since + dead_after);
        (self.up && !self.listed).then_some(self.next_hello_by.min(unanswered))
    }
}

#[cfg(test)]
mod tests;
