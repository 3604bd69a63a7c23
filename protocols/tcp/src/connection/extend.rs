//! Extensions of the sender, and what a host says about its own links.
use super::{Connection, Control};
use crate::engine::LossNotice;
use crate::engine::congestion::{CoupledTerms, CustomControl};
use crate::extension::{SenderExtension, SenderView, Steering};
use alloc::boxed::Box;
use core::any::Any;
use prismux_units::{Instant, Rate};
use prismux_wire::{HandoffNotice, TcpHeader};

impl Connection {
    /// Lets `extension` look at every acknowledgement, for instance TCP-PRISM's report reader.
    pub fn set_extension(&mut self, extension: Box<dyn SenderExtension>) {
        (self.extension, self.extended) = (Some(extension), true);
    }

    /// Hands the congestion window to a policy from outside, in place of the one that the configuration names.
    pub fn set_congestion(&mut self, policy: Box<dyn CustomControl>) {
        self.engine.set_congestion(policy);
    }

    /// Tells the congestion control what other windows of its connection mean for it.
    pub fn set_coupling(&mut self, terms: &CoupledTerms) {
        self.engine.set_coupling(terms);
    }

    /// Halves the congestion window, for a reason of the host's: this path holds others up.
    pub fn penalise(&mut self) {
        self.engine.penalise();
    }

    /// The extension, if it is a `T`: for its counters.
    pub fn extension<T: SenderExtension>(&self) -> Option<&T> {
        let any: &dyn Any = self.extension.as_deref()?;
        any.downcast_ref()
    }

    /// Repeats our last acknowledgement at the next [`poll_transmit`](prismux_endpoint::Endpoint::poll_transmit) with a
    /// handoff notice in its options. Says whether it will: only a connection on which data may still arrive has
    /// something to say.
    pub fn announce_handoff(&mut self, notice: HandoffNotice) -> bool {
        let speaks = self.state.can_receive() && self.control.is_none();
        if speaks {
            self.control = Some(Control::Notice(notice));
        }
        speaks
    }

    /// Our own host has another link; its extension decides what that means for what we send.
    pub fn handle_own_handoff(&mut self, now: Instant, bandwidth: Option<Rate>) {
        if self.state.may_transmit_data() {
            self.let_steer(now, |extension, view| extension.on_own_handoff(bandwidth, view));
        }
    }

    pub(super) fn consult_extension(&mut self, now: Instant, header: &TcpHeader) -> Option<LossNotice> {
        let (extension, view) = self.extension_and_view(now)?;
        extension.on_ack(header, &view)
    }

    /// Does to the engine what the extension, if there is one, answers to `question`.
    pub(super) fn let_steer(
        &mut self,
        now: Instant,
        question: impl FnOnce(&mut dyn SenderExtension, &SenderView<'_>) -> Steering,
    ) {
        let Some((extension, view)) = self.extension_and_view(now) else { return };
        match question(extension, &view) {
            Steering::Keep => {}
            Steering::NewPath(change) => {
                self.engine.change_path(now, &change);
                self.progress_at = now;
            }
            Steering::Update(update) => self.engine.update_path(&update),
        }
    }

    #[inline]
    fn extension_and_view(&mut self, now: Instant) -> Option<(&mut dyn SenderExtension, SenderView<'_>)> {
        if !self.extended {
            return None;
        }
        let view = SenderView {
            now,
            initial_sequence: self.sending.initial,
            acknowledged: self.sending.acknowledged,
            sent_end: self.sending.sent_end,
            engine: &self.engine,
        };
        Some((self.extension.as_deref_mut()?, view))
    }
}
