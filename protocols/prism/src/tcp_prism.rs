//! TCP-PRISM: a sender that understands loss reports (section VI).
//!
//! The proxy tells which segment a link lost and which factor `p` of its window the sender should keep. The sender
//! resends that segment at once and shrinks its window to `p` times, once per link and window (AIPD: additive
//! increase and proportional decrease); the engine of `prismux_tcp` does both when it gets a [`LossNotice`]. What
//! remains here is to decide which reports to believe.
use alloc::vec::Vec;
use prismux_tcp::engine::LossNotice;
use prismux_tcp::extension::{SenderExtension, SenderView};
use prismux_wire::{KeepFactor, LossReport, SeqNumber, TcpHeader};

/// Most reports remembered so that repeats are recognised; only those above the cumulative ACK need be.
const MAX_REMEMBERED: usize = 4096;
/// Set in [`LossReport::flags`] when the same report went out before.
const REPEATED: u8 = 1;

/// Turns loss reports into notices for the engine.
#[derive(Debug, Clone, Default)]
pub struct TcpPrism {
    /// Lost segment and link of the reports acted upon, as far as they are not acknowledged.
    recent: Vec<(SeqNumber, u8)>,
    accepted: u64,
    refused: u64,
}

impl TcpPrism {
    /// A sender extension for one connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports acted upon.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Reports refused: not outstanding, or an impossible factor.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// True for a repeat of a report that was acted upon; a first copy lost on the way leaves its repeats valid.
    fn is_repeat(&self, report: &LossReport) -> bool {
        report.flags & REPEATED != 0 && self.recent.contains(&(report.lost, report.link))
    }

    fn remember(&mut self, report: &LossReport, acknowledged: SeqNumber) {
        if self.recent.len() == self.recent.capacity() {
            self.recent.retain(|&(lost, _)| !lost.before(acknowledged));
        }
        if self.recent.len() < MAX_REMEMBERED && !self.recent.contains(&(report.lost, report.link)) {
            self.recent.push((report.lost, report.link));
        }
    }
}

/// The factor of a report, if it is one that a proxy may state: a link's own share at most is given up, so at least
/// half remains.
fn keep_factor(report: &LossReport) -> Option<KeepFactor> {
    Some(report.keep).filter(|&keep| keep >= KeepFactor::HALF)
}

impl SenderExtension for TcpPrism {
    fn on_ack(&mut self, header: &TcpHeader, view: &SenderView<'_>) -> Option<LossNotice> {
        let report = header.options.loss_report?;
        if self.is_repeat(&report) {
            return None;
        }
        let checked = view.outstanding_position(report.lost).zip(keep_factor(&report));
        // The ACK that carries the report may itself say that the segment has arrived.
        let Some((position, keep)) =
            checked.filter(|_| report.lost.after(header.ack) || report.lost == header.ack)
        else {
            self.refused += 1;
            return None;
        };
        self.remember(&report, header.ack);
        self.accepted += 1;
        Some(LossNotice { position, path: report.link, keep: Some(keep) })
    }
}
