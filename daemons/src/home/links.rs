//! The uplinks of a home: when the gateway knows them, when they fall silent, and when they are used again.
use super::Home;
use super::paths::PATH_ASKER;
use super::uplink::Uplink;
use crate::member::registration::{Answer, RegistrationEvent};
use crate::tunnel::control::{Accept, ControlError, Message, Probe, Token};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::Frame;
use prismux_endpoint::{Endpoint, expire};
use prismux_prism::{LinkConfig, LinkId};
use prismux_receipts::{Receipt, Refusal};
use prismux_receipts::{STUCK, UNANSWERED};
use prismux_sealed::SessionEvent;
use prismux_sharing::Tier;
use prismux_trace::event::{DropReason, Event, EventSink, LinkState};
use prismux_units::Instant;

/// Who asks, in a probe of a home's.
const ASKER: u64 = 1;

impl Home {
    pub(super) fn uplink(&mut self, index: usize) -> Option<&mut Uplink> {
        self.outlet.uplinks.get_mut(index)
    }

    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.outlet.uplinks.len()
    }

    /// Does what is due at all uplinks.
    pub(super) fn expire_links(&mut self, now: Instant) {
        self.expire_shares(now);
        for index in self.numbers() {
            let config = &self.config;
            let Some(uplink) = self.outlet.uplinks.get_mut(index) else { continue };
            uplink.retry(now, config, index);
            expire(&mut uplink.registration, now);
            if let Some(sealing) = uplink.sealing() {
                sealing.expire(now);
            }
            self.drain_registration(now, index);
            self.session_events(now, index);
            self.expire_liveness(now, index);
            self.expire_path(now, index);
            self.outlet.serve(now, index);
        }
        for link in self.outlet.meters.to_repair(now) {
            self.outlet.push_repairs(now, link);
        }
        for (link, position) in self.outlet.meters.expire(now) {
            self.striping.core.handle_lost(now, link, position);
            self.drain(now);
        }
        self.write_receipts(now);
    }

    /// Carries out what a registration asks for: to be called after every mutation of it.
    pub(super) fn drain_registration(&mut self, now: Instant, index: usize) {
        while let Some(message) = self.uplink(index).and_then(|uplink| uplink.registration.poll_transmit(now))
        {
            self.send_control(now, index, &message);
            if let Some(uplink) = self.uplink(index) {
                uplink.call_if_unanswered(now);
            }
        }
        while let Some(event) = self.uplink(index).and_then(|uplink| uplink.registration.poll_event()) {
            self.registration_changed(now, index, event);
        }
    }

    fn registration_changed(&mut self, now: Instant, index: usize, event: RegistrationEvent) {
        let Some(uplink) = self.uplink(index) else { return };
        let registered = uplink.is_registered();
        let cause = match event {
            RegistrationEvent::ReceiptsOffered { epoch } => return uplink.receipts.offered(now, epoch),
            RegistrationEvent::Registered => {
                uplink.liveness.end_silence();
                uplink.path.begin(now);
                uplink.refused = None;
                None
            }
            RegistrationEvent::Unanswered { since } => Some(format!(
                "no answer for {:.0} s: is the gateway running, its address right, and this home listed there?",
                now.saturating_since(since).as_secs_f64()
            )),
            RegistrationEvent::NameContested => {
                Some("the gateway has heard from another home of this name: give each its own".to_owned())
            }
        };
        let device = uplink.config.device.clone();
        if registered {
            let session = uplink.registration.session();
            self.session.note(session);
        }
        self.rank(now);
        if !registered {
            self.leave(now, index);
        }
        self.tell_mtu();
        self.lead_traffic();
        let (member, proxy) = (device.into(), self.config.gateway.endpoint.to_string().into());
        let cause = cause.map(Into::into);
        self.outlet.events.event(now, &Event::RegistrationChanged { member, proxy, registered, cause });
    }

    /// The core may use the uplink.
    fn join(&mut self, now: Instant, index: usize) {
        let Some(uplink) = self.uplink(index).filter(|uplink| !uplink.joined) else { return };
        uplink.joined = true;
        let (name, round_trip) = (uplink.config.device.clone(), uplink.registration.rtt());
        let config = LinkConfig { name, advertised_rate: None, round_trip };
        self.striping.join(now, link(index), config);
        self.drain(now);
    }

    /// Has the core use the working uplinks of the best tier, and after that no longer those of others.
    pub(super) fn rank(&mut self, now: Instant) {
        let working = self.outlet.uplinks.iter().filter(|uplink| uplink.works());
        let in_use = Tier::in_use(working.map(|uplink| uplink.config.tier));
        let is_wanted = |uplink: &Uplink| uplink.works().then_some(Some(uplink.config.tier) == in_use);
        let wanted: Vec<_> = self.outlet.uplinks.iter().map(is_wanted).collect();
        for (index, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted == Some(true)) {
            self.join(now, index);
        }
        for (index, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted == Some(false)) {
            self.leave(now, index);
        }
    }

    pub(super) fn leave(&mut self, now: Instant, index: usize) {
        if self.uplink(index).is_some_and(|uplink| std::mem::replace(&mut uplink.joined, false)) {
            self.striping.leave(now, link(index));
            self.drain(now);
        }
    }

    /// Traffic flows: every uplink but those that stand by calls often enough to be known alive when it is needed.
    pub(super) fn note_traffic(&mut self, now: Instant) {
        for index in self.numbers() {
            // One that stands by is to cost little.
            if let Some(uplink) = self.uplink(index).filter(|uplink| uplink.joined || !uplink.works()) {
                uplink.registration.note_traffic(now);
            }
        }
    }

    /// Silence, and probes.
    fn expire_liveness(&mut self, now: Instant, index: usize) {
        let others = self.numbers().filter(|&other| other != index);
        let mut others = others.filter_map(|other| self.outlet.uplinks.get(other));
        let has_other = others.any(Uplink::works);
        let under_way = self.outlet.meters.under_way(link(index));
        let Some(uplink) = self.uplink(index) else { return };
        if uplink.works() && uplink.refused.is_some() {
            return self.fall_silent(now, index, UNANSWERED);
        }
        let is_stuck = uplink.liveness.is_stuck(now, under_way);
        if is_stuck && uplink.works() && has_other {
            return self.fall_silent(now, index, STUCK);
        }
        if uplink.liveness.is_overdue(now) && uplink.works() {
            if has_other {
                return self.fall_silent(now, index, UNANSWERED);
            }
            // Where there is no other way, this one is kept; its registration decides.
            uplink.liveness.heard();
        }
        if let Some(number) = uplink.liveness.poll_probe(now) {
            self.send_control(now, index, &Message::Probe(Probe { asker: ASKER, number }));
        }
    }

    /// The uplink's traffic takes the others, and the gateway is told by one of them.
    fn fall_silent(&mut self, now: Instant, index: usize, cause: &str) {
        let Some(uplink) = self.uplink(index).filter(|uplink| !uplink.liveness.is_silent()) else { return };
        uplink.liveness.fall_silent(now);
        let cause = uplink.refused.clone().unwrap_or_else(|| cause.to_owned());
        let (name, device) = (uplink.name.clone(), uplink.config.device.clone());
        self.tell_link(now, device, LinkState::Silent, Some(cause));
        // Whoever stands by is there before it is left.
        self.rank(now);
        if self.uplink(index).is_some_and(|uplink| uplink.joined) {
            self.leave(now, index);
            // What it has under way may still arrive; a new life gives it up, so that it goes out again at once.
            self.join(now, index);
            self.leave(now, index);
        }
        if let Some(other) = self.outlet.uplinks.iter().position(Uplink::works)
            && let Some(uplink) = self.uplink(other)
        {
            uplink.registration.tell_lost(&name);
            self.drain_registration(now, other);
        }
    }

    pub(super) fn tell_link(
        &mut self,
        now: Instant,
        device: String,
        state: LinkState,
        cause: Option<String>,
    ) {
        let (node, member) = (self.config.name.clone().into(), device.into());
        let event = Event::LinkStateChanged { node, member, state, cause: cause.map(Into::into) };
        self.outlet.events.event(now, &event);
    }

    /// A message of the gateway.
    pub(super) fn control(
        &mut self,
        now: Instant,
        index: usize,
        frame: &Frame<'_>,
    ) -> Result<(), DropReason> {
        if self.came_at_rest(now, index) {
            return Ok(());
        }
        match Message::parse(frame.inner, &Token::inside_a_session()) {
            Ok(Message::Welcome(welcome)) => self.answered(now, index, Answer::Welcome(welcome)),
            Ok(Message::Challenge(challenge)) => self.answered(now, index, Answer::Challenge(challenge)),
            Ok(Message::Accept(accept)) => self.accepted(now, index, accept),
            Ok(Message::Receipt(receipt)) => return self.receipt(now, index, &receipt),
            Ok(Message::Probe(probe)) if probe.asker != ASKER => {
                self.send_control(now, index, &Message::Echo(probe));
            }
            Ok(Message::PathProbe(probe, _)) => self.path_asked(now, index, probe),
            Ok(Message::Echo(probe)) if probe.asker == PATH_ASKER => self.path_answered(index, probe),
            Ok(Message::Echo(probe)) if probe.asker == ASKER => self.echoed(now, index, probe),
            Ok(_) | Err(ControlError::Malformed | ControlError::BadTag) => {
                return Err(DropReason::MalformedControl);
            }
        }
        Ok(())
    }

    fn answered(&mut self, now: Instant, index: usize, answer: Answer) {
        if let Some(uplink) = self.uplink(index) {
            uplink.registration.handle_input(now, answer);
            self.drain_registration(now, index);
        }
    }

    /// The gateway wants receipts, and writes some: what goes up has numbers from now on. A late answer to an earlier
    /// offer names an epoch that is over.
    fn accepted(&mut self, now: Instant, index: usize, accept: Accept) {
        if let Some(uplink) = self.outlet.uplinks.get_mut(index).filter(|u| u.accepted < accept.counter) {
            uplink.accepted = accept.counter;
            let fec = self.config.fec && accept.repairs;
            self.outlet.meters.agree(link(index), &uplink.name, accept.epoch, fec);
        }
        self.answered(now, index, Answer::Accept(accept));
    }

    fn receipt(&mut self, now: Instant, index: usize, receipt: &Receipt) -> Result<(), DropReason> {
        let id = link(index);
        let lost = self.outlet.meters.receipt(now, id, receipt).map_err(|refusal| match refusal {
            Refusal::Repeated | Refusal::OtherEpoch => DropReason::ReplayedControl,
            _ => DropReason::MalformedControl,
        })?;
        let Some((estimate, _)) = self.outlet.meters.estimate(now, id) else { return Ok(()) };
        let tunnel_bytes = self.config.overhead_bytes() as u32;
        if let (Some(uplink), Some(rtt)) = (self.uplink(index), estimate.rtt) {
            uplink.liveness.measured(rtt);
        }
        self.striping.measured(now, id, &estimate);
        self.striping.core.handle_estimate(now, id, &estimate, tunnel_bytes);
        self.drain(now);
        for position in lost {
            self.striping.core.handle_lost(now, id, position);
            self.drain(now);
        }
        Ok(())
    }

    /// A probe of this home's was answered.
    fn echoed(&mut self, now: Instant, index: usize, probe: Probe) {
        let Some(uplink) = self.uplink(index) else { return };
        if uplink.liveness.answered(probe.number) && uplink.is_registered() {
            uplink.refused = None;
            uplink.path.begin(now);
            let device = uplink.config.device.clone();
            self.tell_link(now, device, LinkState::Active, None);
            self.rank(now);
        }
    }

    /// Receipts that are due.
    pub(super) fn write_receipts(&mut self, now: Instant) {
        for index in self.numbers() {
            while let Some(receipt) = self.uplink(index).and_then(|uplink| uplink.receipts.poll(now)) {
                self.send_control(now, index, &Message::Receipt(receipt));
            }
        }
    }

    /// News of an uplink's session.
    pub(super) fn session_events(&mut self, now: Instant, index: usize) {
        while let Some(event) =
            self.uplink(index).and_then(|uplink| uplink.sealing().and_then(Sealing::poll_event))
        {
            if let (SessionEvent::Established { .. }, Some(uplink)) = (event, self.uplink(index)) {
                uplink.has_keys(now);
                self.drain_registration(now, index);
            }
        }
    }

    pub(super) fn send_control(&mut self, now: Instant, index: usize, message: &Message) {
        let device = (&self.outlet.tun, &self.outlet.pool);
        if let Some(uplink) = self.outlet.uplinks.get_mut(index) {
            uplink.send_control(now, message, device, &mut self.outlet.drops);
        }
    }

    /// Says goodbye over every uplink.
    pub(super) fn take_leave(&mut self, now: Instant) {
        for index in self.numbers() {
            if let Some(uplink) = self.uplink(index) {
                uplink.registration.bye();
                self.drain_registration(now, index);
            }
        }
        self.outlet.flush();
    }
}

/// The core's number of an uplink.
const fn link(index: usize) -> LinkId {
    LinkId(index as u8)
}
