//! Which link's packets keep others from carrying more: what [`crate::link_table`]'s guard weighs.
use crate::flow::Flow;
use crate::shared::Shared;
use prismux_units::Instant;

/// Notes which link holds the flow up, and what that cost the others until now.
pub(crate) fn note_blocker<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if !(shared.config.standby && shared.links.has_receipts()) {
        return;
    }
    let blocker = match flow.held.is_empty() || !flow.acks.is_empty() {
        true => None,
        false => flow.history.lowest_in_flight().map(|record| record.link),
    };
    if let Some((link, since)) = flow.blocked_by {
        let time = now.saturating_since(since).as_secs_f64();
        let idle = shared.links.idle_rate_beside(link);
        if let Some(link) = shared.links.get_mut(link).filter(|link| link.model.has_receipts()) {
            link.on_harm(time * idle);
        }
    }
    flow.blocked_by = blocker.map(|link| (link, now));
}
