//! What a daemon tells: each event goes to its log, and the rare ones to its status page too.
use prismux_trace::event::{DropReason, Event, EventKind, EventSink, Line, LinkState};
use prismux_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;

/// Events on a status page: the newest.
const MAX_SHOWN: usize = 64;

/// Of control messages refused for one reason, or of one suspicion, one is told in this time: whoever sends many must
/// not fill the log.
const REFUSAL_INTERVAL: Duration = Duration::from_secs(10);

/// An event on a status page.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    /// Rises by one with each event; gaps are events that have left the page.
    number: u64,
    /// Nanoseconds from the start of the daemon.
    time_ns: u64,
    #[serde(flatten)]
    event: serde_json::Value,
}

/// The events of a daemon.
#[derive(Debug, Default)]
pub(crate) struct Events {
    shown: VecDeque<Shown>,
    count: u64,
    /// When a refusal for a reason was told last.
    refused: Vec<(DropReason, Instant)>,
}

impl Events {
    /// The newest rare events, oldest first.
    pub fn shown(&self) -> &VecDeque<Shown> {
        &self.shown
    }

    /// Whether a refusal for `reason` is to be told now, or was told a short time ago.
    pub fn may_tell_refusal(&mut self, now: Instant, reason: DropReason) -> bool {
        let told = self.refused.iter().position(|(other, _)| *other == reason);
        match told.and_then(|index| self.refused.get_mut(index)) {
            Some((_, at)) if now.saturating_since(*at) < REFUSAL_INTERVAL => false,
            Some((_, at)) => {
                *at = now;
                true
            }
            None => {
                self.refused.push((reason, now));
                true
            }
        }
    }

    fn show(&mut self, at: Instant, event: &Event<'_>) {
        // Plain structures of names and numbers always serialise.
        let Ok(event) = serde_json::to_value(event) else { return };
        if self.shown.len() >= MAX_SHOWN {
            self.shown.pop_front();
        }
        self.shown.push_back(Shown { number: self.count, time_ns: at.as_nanos(), event });
        self.count += 1;
    }
}

impl EventSink for Events {
    fn event(&mut self, at: Instant, event: &Event<'_>) {
        log(&Line::of(at.as_nanos(), event));
        if !event.kind().is_of_a_packet() {
            self.show(at, event);
        }
    }
}

/// Whether somebody reads events of single packets in the log, so that they are worth making.
pub(crate) fn packets_are_logged() -> bool {
    tracing::enabled!(tracing::Level::TRACE)
}

fn log(line: &Line<'_>) {
    let (event, member, peer, reason) =
        (line.event.name(), line.member.as_deref(), line.peer.as_deref(), line.reason.map(DropReason::name));
    if line.event.is_of_a_packet() {
        tracing::trace!(event, member, reason, "{line}");
    } else if is_trouble(line) {
        tracing::warn!(event, member, peer, reason, "{line}");
    } else {
        tracing::info!(event, member, peer, reason, "{line}");
    }
}

/// Events that a person should look at.
pub(crate) fn is_trouble(line: &Line<'_>) -> bool {
    match line.event {
        EventKind::RegistrationRefused => true,
        EventKind::RegistrationChanged => line.registered != Some(true) || line.cause.is_some(),
        EventKind::LinkStateChanged => line.state == Some(LinkState::Silent),
        EventKind::PeerMoved | EventKind::MemberLeft => line.cause.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(member: &str) -> Event<'_> {
        Event::MemberLeft { member: member.into(), cause: None }
    }

    #[test]
    fn the_page_shows_the_newest_rare_events_and_their_numbers() {
        let mut events = Events::default();
        for number in 0..MAX_SHOWN as u64 + 3 {
            events.event(Instant::from_nanos(number), &left("m1"));
            let lost = Event::PacketRepaired { node: "proxy".into(), member: "m1".into() };
            events.event(Instant::from_nanos(number), &lost);
        }
        assert_eq!(events.shown().len(), MAX_SHOWN);
        let first = serde_json::to_value(&events.shown()[0]).unwrap();
        assert_eq!(
            first,
            serde_json::json!({"number": 3, "time_ns": 3, "event": "member_left", "member": "m1"})
        );
    }

    #[test]
    fn a_flood_of_refusals_is_told_once_in_a_while() {
        let mut events = Events::default();
        let told = (0..100)
            .filter(|&second| events.may_tell_refusal(Instant::from_secs(second), DropReason::BadToken))
            .count();
        assert_eq!(told, 10);
        assert!(
            events.may_tell_refusal(Instant::from_secs(99), DropReason::ReplayedControl),
            "another reason"
        );
    }
}
