//! What a member and its proxy say to each other.
use super::Member;
use super::registration::{Answer, RegistrationEvent, State};
use crate::tunnel::control::{self, Message};
use crate::tunnel::socket::Frame;
use prismux_endpoint::{Drain, Endpoint, Output};
use prismux_trace::event::{DropReason, Event, EventSink};
use prismux_units::Instant;

impl Member {
    /// Carries out what the registration asks for: to be called after every mutation of it.
    pub(super) fn drain(&mut self, now: Instant) {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.registration, now) {
            match output {
                Output::Transmit(message) => {
                    self.send_control(&message);
                    self.call_if_unanswered(now);
                }
                Output::Event(event) => self.registration_changed(now, event),
            }
        }
    }

    fn registration_changed(&mut self, now: Instant, event: RegistrationEvent) {
        let registered = self.registration.state() == State::Registered;
        if self.departure.is_none() {
            // Neighbours take what receivers send while the proxy does not know this member.
            self.return_rules.set(&self.config, registered || self.neighbours.is_some());
        }
        if let (Some(neighbours), RegistrationEvent::Registered) = (&mut self.neighbours, event) {
            neighbours.way.registered(now);
            self.registration.rtt().into_iter().for_each(|rtt| neighbours.way.measured(rtt));
        }
        let cause = match event {
            RegistrationEvent::ReceiptsOffered { epoch } => return self.receipts.offered(now, epoch),
            RegistrationEvent::Registered => None,
            RegistrationEvent::Unanswered { since } => Some(format!(
                "no answer for {:.0} s: is the proxy running, its address right, and the token the same?",
                now.saturating_since(since).as_secs_f64()
            )),
            RegistrationEvent::NameContested => {
                if !self.events.may_tell_refusal(now, DropReason::ReplayedControl) {
                    return;
                }
                Some("the proxy has heard from another member of this name: give each its own".to_owned())
            }
        };
        let (member, proxy) = (self.config.name.as_str().into(), self.config.tunnel.proxy.to_string().into());
        let cause = cause.map(Into::into);
        self.events.event(now, &Event::RegistrationChanged { member, proxy, registered, cause });
    }

    /// A message that was not the proxy's, or not made with this member's token.
    fn refuse(&mut self, now: Instant, reason: DropReason) {
        if self.events.may_tell_refusal(now, reason) {
            let (node, peer) =
                (self.config.name.as_str().into(), self.config.tunnel.proxy.to_string().into());
            self.events.event(now, &Event::RegistrationRefused { node, peer, reason });
        }
    }

    pub(super) fn control(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        match Message::parse(frame.inner, &self.token) {
            Ok(Message::Settlement(message)) => self.settlement(now, &message),
            // Whoever has said goodbye is not called back.
            Ok(_) if self.departure.is_some() => {}
            Ok(Message::Welcome(welcome)) => self.answered(now, Answer::Welcome(welcome)),
            Ok(Message::Challenge(challenge)) => self.answered(now, Answer::Challenge(challenge)),
            Ok(Message::Echo(probe)) => return self.proxy_answered(now, probe),
            Ok(Message::Accept(accept)) => self.answered(now, Answer::Accept(accept)),
            Ok(
                Message::Hello(_)
                | Message::Bye(_)
                | Message::Offer(_)
                | Message::Receipt(_)
                | Message::Probe(_)
                | Message::PathProbe(..)
                | Message::Lost(_),
            )
            | Err(control::ControlError::Malformed) => {
                return Err(DropReason::MalformedControl);
            }
            Err(control::ControlError::BadTag) => {
                self.refuse(now, DropReason::BadToken);
                return Err(DropReason::BadToken);
            }
        }
        Ok(())
    }

    fn answered(&mut self, now: Instant, answer: Answer) {
        self.registration.handle_input(now, answer);
        self.drain(now);
    }
}
