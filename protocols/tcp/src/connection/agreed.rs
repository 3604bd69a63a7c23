//! Options that both sides agreed on.
use super::Connection;
use crate::engine::RecoveryStyle;

/// Options that both sides agreed on.
#[derive(Debug, Default)]
pub(super) struct Agreed {
    pub(super) window_scaling: bool,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    /// The peer's SYN offers marks of the delivery order.
    pub(super) peer_marks_order: bool,
}

impl Connection {
    /// The segment size is known, and what is agreed on: engine and receive window follow.
    pub(super) fn fit_engine(&mut self, shift: u8) {
        let mut engine = self.config.engine.clone();
        engine.sack &= self.agreed.sack;
        if !engine.sack && engine.recovery == RecoveryStyle::Ns2Sack1 {
            engine.recovery = RecoveryStyle::Ns2NewReno;
        }
        self.engine.renew(&engine, self.sending.segment_bytes);
        self.receiving.window.negotiate(shift, self.sending.segment_bytes);
    }
}
