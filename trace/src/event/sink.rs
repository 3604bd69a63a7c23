//! Where events go.
use super::vocabulary::Event;
use prismux_units::Instant;

/// Takes events as they happen: a log, a recording, a page.
pub trait EventSink {
    /// `event` happened at `at`. Times never go back.
    fn event(&mut self, at: Instant, event: &Event<'_>);
}

/// Takes no notice of any event.
impl EventSink for () {
    fn event(&mut self, _at: Instant, _event: &Event<'_>) {}
}
