//! What the proxies of a run decided, counted over the whole run.
use prismux_trace::event::{DropReason, EventKind, Line, LossRule};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one proxy decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Decisions {
    /// Packets for which it chose a link.
    pub scheduled: u64,
    /// ACKs that it let go to the sender.
    pub released: u64,
    /// Of these, with other fields than they came with.
    pub rewritten: u64,
    /// Of these, with a loss report.
    pub reports: u64,
    /// Packets declared lost because later ones of the same link had arrived.
    pub lost_by_order: u64,
    /// Packets declared lost because they were overdue.
    pub lost_by_age: u64,
    /// Packets that it resent itself and that arrived.
    pub repaired: u64,
    /// Packets that it dropped, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Decisions {
    /// Counts an event of the proxy.
    pub(crate) fn take(&mut self, line: &Line<'_>) {
        match line.event {
            EventKind::PacketScheduled => self.scheduled += 1,
            EventKind::AckReleased => {
                self.released += 1;
                self.rewritten += u64::from(line.rewritten == Some(true));
                self.reports += u64::from(line.report == Some(true));
            }
            EventKind::LossDetected => match line.by {
                Some(LossRule::Age) => self.lost_by_age += 1,
                Some(LossRule::LinkOrder) | None => self.lost_by_order += 1,
            },
            EventKind::PacketRepaired => self.repaired += 1,
            EventKind::PacketDropped => {
                *self.dropped.entry(line.reason.map_or("unknown", DropReason::name)).or_default() += 1;
            }
            _ => {}
        }
    }
}
