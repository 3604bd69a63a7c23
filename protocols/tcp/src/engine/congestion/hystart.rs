//! HyStart: ways to end slow start before a loss does.
mod linux;
mod plus_plus;

use super::policy::{AckSample, Window};
use crate::engine::config::HyStartKind;
use alloc::boxed::Box;
use linux::LinuxHyStart;
use plus_plus::HyStartPlusPlus;

/// What watches for the end of slow start. Kept elsewhere: most of the time it is over.
#[derive(Debug, Clone)]
pub(crate) enum HyStart {
    PlusPlus(Box<HyStartPlusPlus>),
    Linux(Box<LinuxHyStart>),
}

impl HyStart {
    pub(crate) fn new(kind: HyStartKind) -> Self {
        match kind {
            HyStartKind::Rfc9406 => Self::PlusPlus(Box::new(HyStartPlusPlus::new())),
            HyStartKind::Linux => Self::Linux(Box::new(LinuxHyStart::new())),
        }
    }

    /// A congestion signal ended slow start.
    pub(crate) fn stop(&mut self) {
        match self {
            Self::PlusPlus(hystart) => hystart.stop(),
            Self::Linux(hystart) => hystart.stop(),
        }
    }

    /// Bytes of growth for an ACK, which alone would allow `bytes`; may lower the threshold.
    pub(crate) fn on_ack(&mut self, sample: &AckSample, bytes: u64, window: &mut Window) -> u64 {
        match self {
            Self::PlusPlus(hystart) => hystart.on_ack(sample, bytes, window),
            Self::Linux(hystart) => {
                hystart.on_ack(sample, window);
                bytes
            }
        }
    }
}
