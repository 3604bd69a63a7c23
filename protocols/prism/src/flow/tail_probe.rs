//! What is remembered of the tail loss probes of a flow.
use crate::micros::Micros;
use prismux_units::{Duration, Instant};

/// When the receiver's answer was missed and asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TailProbe {
    /// When the last probe went out, and how long to wait for an answer; `None` while the receiver answers.
    pub(crate) sent: Option<(Instant, Duration)>,
    /// When the receiver answered again, until a packet sent later arrives.
    silent_until: Option<Micros>,
}

impl TailProbe {
    /// The receiver was heard of.
    pub(crate) fn on_heard(&mut self, at: Micros) {
        let was_silent = self.sent.take().is_some();
        // Where one silence follows on the other, links have become slower: what a packet took since the first counts.
        if was_silent && self.silent_until.is_none() {
            self.silent_until = Some(at);
        }
    }

    /// A packet sent at this time has arrived: whether what it took says something of its link. While the receiver was
    /// silent, the packet may have waited for nothing but the way back.
    pub(crate) fn is_measure(&mut self, sent: Micros) -> bool {
        let measures = self.silent_until.is_none_or(|until| sent.after(until));
        if measures {
            self.silent_until = None;
        }
        measures
    }
}
