//! Members that call, leave, fall silent or are unknown.
use super::Proxy;
use super::challenged::Challenged;
use super::community::Turn;
use super::known::Known;
use super::members::Registration;
use super::recorder::CoreInput;
use crate::daemon;
use crate::tunnel::control::{self, Accept, Bye, ControlError, Hello, Message, Offer, Token};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::Frame;
use crate::tunnel::{Peer, Transport};
use prismux_endpoint::Endpoint;
use prismux_prism::{LinkConfig, LinkId};
use prismux_receipts::{Receipt, Refusal};
use prismux_sealed::{PeerId, SessionEvent};
use prismux_sharing::Carried;
use prismux_trace::event::{DropReason, Event};
use prismux_units::{Duration, Instant};
use prismux_wire::gre::SEQUENCE_BYTES;
use prismux_wire::{Ecn, GreHeader};

/// Members whose session is gone are challenged at most this often, so that nobody can use the proxy to flood one.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(50);

/// Those that call, whatever their community.
pub(super) struct Callers {
    /// What messages outside of sealed sessions are signed with.
    pub token: Option<Token>,
    /// Where members are, and were before a restart.
    pub known: Known,
    /// Members whose session is gone are challenged no earlier than this.
    next_challenge: Instant,
    /// Who has been challenged and has not answered yet.
    challenged: Challenged,
}

impl Callers {
    /// Nobody has called yet.
    pub fn new(token: Option<Token>, known: Known) -> Self {
        Self { token, known, next_challenge: Instant::ZERO, challenged: Challenged::default() }
    }
}

/// Counters begin with a member's time of day in microseconds and rise by one: clocks may be wrong by a year. A greater
/// one would leave its member's name without counters to come.
fn latest_counter() -> u64 {
    const YEAR_MICROS: u64 = 366 * 24 * 3600 * 1_000_000;
    daemon::time_of_day_micros() + YEAR_MICROS
}

impl Turn<'_> {
    /// Members that the configuration lists are there from the start.
    pub(super) fn join_listed(&mut self, now: Instant) {
        for member in self.config.members.clone() {
            if let Some(link) = self.links.members.add_listed(now, &member.name, member.peer, member.rate) {
                self.tell_joined(now, &member.name, member.peer);
                let config = LinkConfig { name: member.name, advertised_rate: member.rate, round_trip: None };
                self.join(now, link, config);
                self.drain(now);
            }
        }
    }

    /// Members that have been silent for too long leave.
    pub(super) fn expire_members(&mut self, now: Instant) {
        while let Some(member) = self.links.members.expire(now) {
            let (link, name) = (member.link, member.name.clone());
            let cause = Some("it fell silent".into());
            self.tell(now, &Event::MemberLeft { member: name.into(), cause });
            self.rank(now);
            self.leave(now, link);
            self.drain(now);
        }
    }

    pub(super) fn leave(&mut self, now: Instant, link: LinkId) {
        self.links.members.set_joined(link, false);
        self.links.record(|recorder| recorder.core_input(now, &CoreInput::Leave { link: link.0 }));
        self.striping.leave(now, link);
    }

    /// The core may use the link, from the beginning.
    pub(super) fn join(&mut self, now: Instant, link: LinkId, config: LinkConfig) {
        self.links.members.set_joined(link, true);
        self.record_join(now, link, &config);
        self.striping.join(now, link, config);
    }

    /// A control message.
    pub(super) fn control(&mut self, now: Instant, frame: &Frame<'_>) {
        let Some(token) = self.token_of(frame.peer) else {
            return self.refuse(now, frame.peer, DropReason::BadToken);
        };
        match Message::parse(frame.inner, &token) {
            Ok(
                Message::Hello(Hello { counter, .. })
                | Message::Bye(Bye { counter, .. })
                | Message::Offer(Offer { counter, .. }),
            ) if counter > latest_counter() => self.refuse(now, frame.peer, DropReason::MalformedControl),
            Ok(Message::Hello(Hello { name, .. }) | Message::Bye(Bye { name, .. }))
                if !self.may_speak_for(frame.peer, &name) =>
            {
                self.refuse(now, frame.peer, DropReason::ForeignName);
            }
            Ok(Message::Hello(hello)) => self.called(now, frame.peer, hello),
            Ok(Message::Bye(bye)) => {
                let registration = self.links.members.bye(now, &bye);
                self.registered(now, frame.peer, registration);
            }
            Ok(Message::Offer(offer)) => self.offered(now, frame.peer, &offer),
            Ok(Message::Receipt(receipt)) => self.receipt(now, frame.peer, &receipt),
            Ok(Message::Probe(probe) | Message::PathProbe(probe, _)) => self.probed(now, frame.peer, probe),
            Ok(Message::Echo(probe)) => self.echoed(now, frame.peer, probe),
            Ok(Message::Lost(lost)) => self.told_lost(now, frame.peer, &lost),
            Ok(Message::Welcome(_) | Message::Challenge(_) | Message::Accept(_) | Message::Settlement(_))
            | Err(ControlError::Malformed) => {
                self.refuse(now, frame.peer, DropReason::MalformedControl);
            }
            Err(ControlError::BadTag) => self.refuse(now, frame.peer, DropReason::BadToken),
        }
    }

    /// A hello of somebody who may send it.
    fn called(&mut self, now: Instant, peer: Peer, hello: Hello) {
        let (limit, registration) = (hello.limit, self.links.members.hello(now, peer, &hello));
        if let Registration::Moved { from, contested, .. } = registration {
            self.tell_moved(now, &hello.name, (from, peer), contested);
        }
        if let Registration::Joined(link, _) = registration {
            self.tell_joined(now, &hello.name, peer);
            // Listed members do not register, and are not called: they may know GRE alone.
            self.callers.known.note(&hello.name, peer);
            self.links.meters.joined(link, &hello.name);
            self.links.homes.end_silence(link);
            let round_trip = self.callers.challenged.answered(now, peer);
            let config = LinkConfig { name: hello.name, advertised_rate: hello.rate, round_trip };
            if self.is_in_use(link) {
                self.join(now, link, config);
            }
        }
        if let Registration::Joined(link, _)
        | Registration::Refreshed(link, _)
        | Registration::Moved { link, .. } = registration
        {
            self.links.limits.set(link, limit);
            // It may have another tier than before.
            self.rank(now);
        }
        self.registered(now, peer, registration);
    }

    /// A member can write receipts.
    fn offered(&mut self, now: Instant, peer: Peer, offer: &Offer) {
        let Some(link) = self.links.members.offer(now, peer, offer) else {
            return self.refuse(now, peer, DropReason::ReplayedControl);
        };
        if !self.config.tunnel.receipts {
            return;
        }
        if let Some(member) = self.links.members.get(link) {
            let fec = self.config.tunnel.fec && offer.repairs;
            self.links.meters.agree(link, &member.name, offer.epoch, fec);
        }
        let &Offer { session, counter, repairs, .. } = offer;
        let epoch = self.agree_return(now, link, peer, counter);
        self.reply(peer, &Message::Accept(Accept { session, counter, epoch, repairs }));
    }

    fn receipt(&mut self, now: Instant, peer: Peer, receipt: &Receipt) {
        let Some(link) = self.links.members.heard(now, peer, 0) else {
            return self.outlet.drops.count(DropReason::UnknownPeer);
        };
        match self.links.meters.receipt(now, link, receipt) {
            Ok(lost) => self.measured(now, link, lost),
            Err(Refusal::Repeated | Refusal::OtherEpoch) => {
                self.outlet.drops.count(DropReason::ReplayedControl)
            }
            Err(_) => self.outlet.drops.count(DropReason::MalformedControl),
        }
    }

    /// A receipt has told of a link: so is the core.
    fn measured(&mut self, now: Instant, link: LinkId, lost: Vec<u32>) {
        self.links.homes.heard(link);
        let overhead = self.links.members.get(link).map(|member| member.peer.overhead_bytes());
        let (Some(overhead), Some((estimate, _))) = (overhead, self.links.meters.estimate(now, link)) else {
            return;
        };
        if let Some(rtt) = estimate.rtt {
            self.links.homes.measured(link, rtt);
        }
        let tunnel_bytes = (overhead + SEQUENCE_BYTES) as u32;
        self.striping.measured(now, link, &estimate);
        self.tell_core(now, CoreInput::measured(link, tunnel_bytes, &estimate));
        self.tell_lost(now, lost.into_iter().map(|position| (link, position)).collect());
    }

    /// Packets of links did not come, by receipts.
    pub(super) fn tell_lost(&mut self, now: Instant, lost: Vec<(LinkId, u32)>) {
        for (link, position) in lost {
            self.tell_core(now, CoreInput::Lost { link: link.0, position });
        }
    }

    fn tell_core(&mut self, now: Instant, input: CoreInput) {
        if let Some(told) = input.of_receipts() {
            self.links.record(|recorder| recorder.core_input(now, &input));
            self.striping.core.handle_input(now, told);
            self.drain(now);
        }
    }

    fn registered(&mut self, now: Instant, peer: Peer, registration: Registration) {
        match registration {
            Registration::Joined(_, welcome)
            | Registration::Refreshed(_, welcome)
            | Registration::Moved { welcome, .. } => {
                self.reply(peer, &Message::Welcome(welcome));
            }
            Registration::Repeat(challenge) => {
                self.callers.challenged.note(now, peer);
                self.reply(peer, &Message::Challenge(challenge));
            }
            Registration::Left(link) => {
                let name = self.links.members.get(link).map(|member| member.name.clone());
                let member = name.unwrap_or_default();
                self.callers.known.forget(&member);
                let member = member.into();
                self.tell(now, &Event::MemberLeft { member, cause: None });
                self.links.homes.end_silence(link);
                self.rank(now);
                self.leave(now, link);
            }
            Registration::Gone => {}
            Registration::Ignored => self.refuse(now, peer, DropReason::ReplayedControl),
            Registration::Full => self.refuse(now, peer, DropReason::TooManyMembers),
        }
        self.drain(now);
    }

    /// Counts a control message that was refused, and tells of it now and then.
    pub(super) fn refuse(&mut self, now: Instant, peer: Peer, reason: DropReason) {
        self.outlet.drops.count(reason);
        if self.outlet.events.may_tell_refusal(now, reason) {
            let (node, peer) = (self.outlet.name.clone().into(), peer.to_string().into());
            self.tell(now, &Event::RegistrationRefused { node, peer, reason });
        }
    }

    fn tell_joined(&mut self, now: Instant, member: &str, peer: Peer) {
        let peer = Some(peer.to_string().into());
        self.tell(now, &Event::MemberJoined { member: member.into(), peer });
    }

    fn tell_moved(&mut self, now: Instant, member: &str, (from, to): (Peer, Peer), contested: bool) {
        self.callers.known.note(member, to);
        let (node, from, to) = (self.outlet.name.clone().into(), from.to_string(), to.to_string());
        let cause = contested.then(|| "it moves to and fro: have two members the same name?".into());
        let event = Event::PeerMoved { node, member: member.into(), from: from.into(), to: to.into(), cause };
        self.tell(now, &event);
    }

    /// Asks a member to register whose session is gone. Strangers are not answered: what is signed with the token would
    /// let them try tokens at leisure.
    pub(super) fn challenge_known(&mut self, now: Instant, peer: Peer) {
        let is_member = || peer.transport == Transport::Sealed || self.callers.known.knows(peer);
        if now >= self.callers.next_challenge && is_member() {
            self.callers.next_challenge = now + CHALLENGE_INTERVAL;
            let challenge = self.links.members.challenge();
            self.reply(peer, &Message::Challenge(challenge));
        }
    }

    /// What messages of a tunnel's end are signed with; in a sealed session its keys say who speaks.
    fn token_of(&self, peer: Peer) -> Option<Token> {
        match peer.transport {
            Transport::Sealed => Some(Token::inside_a_session()),
            Transport::Gre | Transport::Udp => self.callers.token.clone(),
        }
    }

    /// Whether a message from `peer` may be in the name of the member `name`: a member with a key speaks for itself,
    /// and nobody else does.
    fn may_speak_for(&self, peer: Peer, name: &str) -> bool {
        let owner = self.outlet.peers.iter().position(|known| known.name == name);
        match peer.transport {
            Transport::Sealed => owner == Some(usize::from(peer.number)),
            Transport::Gre | Transport::Udp => owner.is_none(),
        }
    }

    /// The sealed session of a member goes on from another address.
    fn session_moved(&mut self, now: Instant, to: Peer) {
        let moved = self.links.members.moved(now, to).map(|(name, from)| (name.to_owned(), from));
        if let Some((name, from)) = moved {
            self.tell_moved(now, &name, (from, to), false);
            if let Some(link) = self.links.members.link_of(to) {
                self.begin_path(now, link);
            }
        }
    }

    /// A member has new keys. One that the proxy does not know is asked to register, without waiting for it to call:
    /// after a restart of the proxy that saves a round trip.
    fn ask_unregistered(&mut self, peer: Peer) {
        if !self.links.members.iter().any(|member| member.up && member.peer.is_same_end(&peer)) {
            let challenge = self.links.members.challenge();
            self.reply(peer, &Message::Challenge(challenge));
        }
    }

    /// Records that a member offers its link.
    fn record_join(&mut self, now: Instant, link: LinkId, config: &LinkConfig) {
        self.links.record(|recorder| {
            let (name, rate) = (config.name.clone(), config.advertised_rate);
            let advertised_rate_bps = rate.map(prismux_units::Rate::as_bps);
            let round_trip_ns = config.round_trip.map(prismux_units::Duration::as_nanos);
            recorder
                .core_input(now, &CoreInput::Join { link: link.0, name, advertised_rate_bps, round_trip_ns })
        });
    }

    pub(super) fn reply(&mut self, peer: Peer, message: &Message) {
        let token = self.token_of(peer);
        let packet = token.and_then(|token| self.outlet.pool.copy_of(&message.emit(&token)));
        if let Some(packet) = packet {
            let bytes = peer.line_bytes(packet.len(), false, false);
            if let Some(link) = self.links.members.link_of(peer) {
                self.links.members.carry(link, Carried { forward_bytes: bytes, return_bytes: 0 });
            }
            self.outlet.push(peer, &GreHeader::plain(control::PROTOCOL_TYPE), Ecn::NotEct, packet);
        }
    }
}

impl Proxy {
    /// Asks members to register that were there before a restart.
    pub(super) fn call_known(&mut self, now: Instant) {
        for number in 0..self.config.peers.len() {
            if let Some(sealing) = self.outlet.sealing() {
                sealing.call(now, number as u16);
            }
        }
        let plain: Vec<Peer> =
            self.callers.known.peers().filter(|peer| peer.transport != Transport::Sealed).collect();
        for peer in plain {
            if let Some(mut turn) = self.turn(self.communities.of_peer(peer)) {
                let challenge = Message::Challenge(turn.links.members.challenge());
                turn.reply(peer, &challenge);
            }
        }
        self.outlet.flush();
    }

    /// News of the sealed sessions.
    pub(super) fn session_events(&mut self, now: Instant) {
        while let Some(event) = self.outlet.sealing().and_then(Sealing::poll_event) {
            let (SessionEvent::Moved { peer: PeerId(id), .. }
            | SessionEvent::Established { peer: PeerId(id) }) = event;
            let Some(at) = self.outlet.sealing().and_then(|sealing| sealing.address(id)) else { continue };
            let peer = Peer::sealed(at, id);
            let Some(mut turn) = self.turn(self.communities.of_peer(peer)) else { continue };
            match event {
                SessionEvent::Moved { .. } => turn.session_moved(now, peer),
                _ => turn.ask_unregistered(peer),
            }
        }
    }
}
